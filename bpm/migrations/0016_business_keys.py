from __future__ import annotations

from django.db import migrations, models

from bpm.migrations.sql import AS_BEFORE, UNHURRIED

DROP = "DROP INDEX CONCURRENTLY IF EXISTS process_instances_by_business"
MAKE = """
CREATE INDEX CONCURRENTLY process_instances_by_business ON process_instances (business_key varchar_pattern_ops)
    WHERE business_key IS NOT NULL
"""


class Migration(migrations.Migration):
    """Business keys are found by their beginning in a database of any collation. The index that was there before goes
    when no older program runs any more.
    """

    atomic = False
    dependencies = [
        ("bpm", "0015_pages"),
    ]

    operations = [
        migrations.RunSQL(UNHURRIED, migrations.RunSQL.noop),
        migrations.RunSQL(DROP, migrations.RunSQL.noop),
        migrations.RunSQL(
            MAKE,
            DROP,
            state_operations=[
                migrations.AddIndex(
                    "processinstance",
                    models.Index(
                        fields=["business_key"],
                        opclasses=["varchar_pattern_ops"],
                        condition=models.Q(business_key__isnull=False),
                        name="process_instances_by_business",
                    ),
                )
            ],
        ),
        migrations.RunSQL(AS_BEFORE, migrations.RunSQL.noop),
    ]
