from __future__ import annotations

from django.db import migrations

from bpm.migrations.sql import statements

IN_ORDER = ("clock", "partitions", "owner", "load", "flush", "view")


class Migration(migrations.Migration):
    dependencies = [
        ("bpm", "0001_tables"),
    ]

    operations = [
        migrations.RunSQL("\n".join(statements(name) for name in IN_ORDER), statements("functions_undone")),
    ]
