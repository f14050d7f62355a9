from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

from bpm.migrations.sql import AS_BEFORE, UNHURRIED

DROP = "DROP INDEX CONCURRENTLY IF EXISTS variables_instance_id_ff8349d2"
MAKE = "CREATE INDEX CONCURRENTLY variables_instance_id_ff8349d2 ON variables (instance_id)"


class Migration(migrations.Migration):
    """The index by instance alone, which the unique one by instance, scope and name begins with: plans took it for a
    scope's variables, and went through those of every round of a loop.
    """

    atomic = False
    dependencies = [
        ("bpm", "0022_scope_by_scope"),
    ]

    operations = [
        migrations.RunSQL(UNHURRIED, migrations.RunSQL.noop),
        migrations.RunSQL(
            DROP,
            MAKE,
            state_operations=[
                migrations.AlterField(
                    "variable",
                    "instance",
                    models.ForeignKey(
                        db_index=False,
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="variables",
                        to="bpm.processinstance",
                        verbose_name="instance",
                    ),
                )
            ],
        ),
        migrations.RunSQL(AS_BEFORE, migrations.RunSQL.noop),
    ]
