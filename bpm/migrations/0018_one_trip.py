from __future__ import annotations

from django.db import migrations

from bpm.migrations.sql import statements

UNDONE = """
DROP FUNCTION bpm_settle(uuid, bigint, timestamptz, timestamptz, uuid, integer, text, jsonb);
"""


class Migration(migrations.Migration):
    """Steps that are decided beforehand and written in one round trip."""

    dependencies = [
        ("bpm", "0017_after_business_keys"),
    ]

    operations = [
        # A function that is replaced loses its settings.
        migrations.RunSQL("\n".join(statements(name) for name in ("flush", "generic_plans", "settle")), UNDONE),
    ]
