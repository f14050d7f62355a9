from __future__ import annotations

from django.db import migrations

from bpm.migrations.sql import AS_BEFORE, UNHURRIED, statements

# By the side of running instances, which a plain CREATE INDEX would hold up; what an interrupted one left goes first.
INDEX = """
CREATE INDEX CONCURRENTLY variables_by_value ON variables (name, (bpm_searchable(value)), instance_id)
    WHERE present AND scope = 0
"""


class Migration(migrations.Migration):
    atomic = False
    dependencies = [
        ("bpm", "0008_new_runs"),
    ]

    operations = [
        migrations.RunSQL(statements("variable_search"), "DROP FUNCTION bpm_searchable(jsonb)"),
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS variables_by_value", migrations.RunSQL.noop),
        migrations.RunSQL(UNHURRIED, migrations.RunSQL.noop),
        migrations.RunSQL(INDEX, "DROP INDEX CONCURRENTLY IF EXISTS variables_by_value"),
        migrations.RunSQL(AS_BEFORE, migrations.RunSQL.noop),
    ]
