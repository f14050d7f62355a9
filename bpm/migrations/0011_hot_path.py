from __future__ import annotations

from django.db import migrations

from bpm.migrations.sql import statements

NEW = ("flush", "take_up", "fetch", "generic_plans")
UNDONE = """
DROP FUNCTION bpm_take_up(uuid, bigint, timestamptz, uuid[], text);
DROP FUNCTION bpm_fetch_and_lock(jsonb, jsonb, integer, text, text, text, smallint);
"""


class Migration(migrations.Migration):
    dependencies = [
        ("bpm", "0010_variable_files"),
    ]

    operations = [
        migrations.RunSQL("\n".join(statements(name) for name in NEW), UNDONE),
    ]
