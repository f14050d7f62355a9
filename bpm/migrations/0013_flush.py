from __future__ import annotations

from django.db import migrations

from bpm.migrations.sql import statements


class Migration(migrations.Migration):
    dependencies = [
        ("bpm", "0012_suspended_definitions"),
    ]

    operations = [
        # A function that is replaced loses its settings.
        migrations.RunSQL("\n".join(statements(name) for name in ("flush", "generic_plans")), migrations.RunSQL.noop),
    ]
