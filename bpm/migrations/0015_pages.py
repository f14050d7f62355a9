from __future__ import annotations

from django.db import migrations, models

from bpm.migrations.sql import AS_BEFORE, UNHURRIED

# By the side of running instances, which a plain CREATE INDEX would hold up; what an interrupted one left goes first.
OPEN = """
CREATE INDEX CONCURRENTLY process_instances_open ON process_instances (process_def_id, state, started_at DESC)
    WHERE ended_at IS NULL
"""
NEWEST = """
CREATE INDEX CONCURRENTLY external_tasks_newest ON external_tasks (created_at DESC, id)
    WHERE state IN ('READY', 'LOCKED', 'FAILED')
"""
DROPPED = "DROP INDEX CONCURRENTLY IF EXISTS {}"


def _made(model: str, index: models.Index, statement: str) -> list[migrations.RunSQL]:
    gone = DROPPED.format(index.name)
    return [
        migrations.RunSQL(gone, migrations.RunSQL.noop),
        migrations.RunSQL(statement, gone, state_operations=[migrations.AddIndex(model, index)]),
    ]


class Migration(migrations.Migration):
    """What the pages of many instances look for: the open ones of a definition, and the newest open tasks."""

    atomic = False
    dependencies = [
        ("bpm", "0014_searchable"),
    ]

    operations = [
        migrations.RunSQL(UNHURRIED, migrations.RunSQL.noop),
        *_made(
            "processinstance",
            models.Index(
                fields=["definition", "state", "-started_at"],
                condition=models.Q(ended_at__isnull=True),
                name="process_instances_open",
            ),
            OPEN,
        ),
        *_made(
            "externaltask",
            models.Index(
                fields=["-created_at", "id"],
                condition=models.Q(state__in=["READY", "LOCKED", "FAILED"]),
                name="external_tasks_newest",
            ),
            NEWEST,
        ),
        migrations.RunSQL(AS_BEFORE, migrations.RunSQL.noop),
    ]
