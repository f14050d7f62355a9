from __future__ import annotations

from django.db import migrations

from bpm.migrations.sql import statements


class Migration(migrations.Migration):
    """A fetch reads and gives the variables alone that a worker names. An older program names none, and has all; what
    it calls itself (bpm_sees of two arguments) is still there.
    """

    dependencies = [
        ("bpm", "0018_one_trip"),
    ]

    operations = [
        migrations.RunSQL("\n".join(statements(name) for name in ("sees", "fetch")), migrations.RunSQL.noop),
    ]
