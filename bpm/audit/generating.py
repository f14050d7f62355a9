"""History in large amounts, for tests of size: a real instance that has ended is copied as often as wanted.

Copies differ in ids, numbers and times, and are otherwise what the engine wrote, so that they replay, seal, trace,
export and archive as others do. Only in a database that a superuser has marked as one for tests.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

import psycopg
from psycopg import sql as compose

from bpm.audit.statements import ask, sql
from bpm.store import schedule
from bpm.store.channel import django_channel

BATCH = 500
STEPS = (
    "generate_commits",
    "generate_token_events",
    "generate_task_events",
    "generate_timer_events",
    "generate_work_events",
    "generate_engine_events",
    "generate_state_commands",
    "generate_threads",
)


class NotForTests(Exception):
    """The database is not marked as one for tests."""


def multiply(
    instance: UUID, copies: int, since: datetime, *, advance: Callable[[int], None] = lambda copies: None
) -> None:
    """Make so many copies of an ended instance, which begin evenly between `since` and now. Raises NotForTests."""
    channel = django_channel()
    if not ask("marked_for_tests", channel=channel)[0][0]:
        raise NotForTests("copies are made in databases for tests only: a superuser must own tokentrail_test_database")
    now = schedule.now()
    months = (now.year - since.year) * 12 + now.month - since.month
    ask("generate_months", {"from": since, "months": months}, channel=channel)
    about: dict[str, object] = {"instance": instance}
    ask("generate_pattern", about, channel=channel)
    first, span, _ = ask("generate_numbers", {"copies": copies}, channel=channel)[0]
    began = ask("start_of_pattern", about, channel=channel)[0][0]
    about |= {"first": first, "span": span, "pattern_at": began, "from": since, "seed": str(instance)}
    about["step"] = (now - since).total_seconds() / copies
    for lowest in range(0, copies, BATCH):
        highest = min(lowest + BATCH, copies) - 1
        channel.raw.execute("BEGIN")
        channel.raw.execute("SET LOCAL session_replication_role = replica")
        for name in ("generate_copies", *STEPS):
            # Utility statements take no parameters from the server's side.
            psycopg.ClientCursor(channel.raw).execute(sql(name), about | {"lowest": lowest, "highest": highest})
        channel.raw.execute("COMMIT")
        advance(highest + 1 - lowest)
    ask("generate_over", channel=channel)
    for (name,) in ask("history_partitions", channel=channel):
        channel.raw.execute(compose.SQL("ANALYZE {}").format(compose.Identifier(name)))
