from __future__ import annotations

from django.db import migrations

from bpm.migrations.sql import AS_BEFORE, UNHURRIED, statements


class Migration(migrations.Migration):
    """Only the typed values of the engine's own are found by their text, not each object that looks like one."""

    atomic = False
    dependencies = [
        ("bpm", "0013_flush"),
    ]

    operations = [
        migrations.RunSQL(statements("variable_search"), migrations.RunSQL.noop),
        # What lies in the index was put there by the function as it was.
        migrations.RunSQL(UNHURRIED, migrations.RunSQL.noop),
        migrations.RunSQL("REINDEX INDEX CONCURRENTLY variables_by_value", migrations.RunSQL.noop),
        migrations.RunSQL(AS_BEFORE, migrations.RunSQL.noop),
    ]
