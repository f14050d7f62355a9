from __future__ import annotations

from django.db import migrations

from bpm.migrations.sql import AS_BEFORE, UNHURRIED

DROP = "DROP INDEX CONCURRENTLY IF EXISTS process_instances_business_key"
MAKE = """
CREATE INDEX CONCURRENTLY process_instances_business_key ON process_instances (business_key)
    WHERE business_key IS NOT NULL
"""


class Migration(migrations.Migration):
    """The index that another one has taken the place of, which also finds business keys by their beginning."""

    atomic = False
    dependencies = [
        ("bpm", "0016_business_keys"),
    ]

    operations = [
        migrations.RunSQL(UNHURRIED, migrations.RunSQL.noop),
        migrations.RunSQL(
            DROP,
            MAKE,
            state_operations=[migrations.RemoveIndex("processinstance", "process_instances_business_key")],
        ),
        migrations.RunSQL(AS_BEFORE, migrations.RunSQL.noop),
    ]
