"""What must be true of instances, whatever happened to the machine below them.

The history of each has no gap and nothing twice, replays to the rows that are stored and decides the same again; and
what was done outside is accounted for: each call of a worker stands in history as a lock, each completed task was
worked on. `footprint` is what a story came to, without times and locks: equal for a disturbed and an undisturbed one.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import connection

from bpm.audit.replaying import replay_stored
from bpm.store import django_channel

# Taking a task leaves its traces in history each time; that it is done once more after a crash is what is promised.
LOCKS = ("TASK_LOCKED", "TASK_TIMED_OUT", "TASK_UNLOCKED", "TASK_EXTENDED")


def ask(statement: str, *arguments: Any) -> list[tuple[Any, ...]]:
    """Rows of a statement; on a new connection where the old one broke."""
    django_channel()
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        return cursor.fetchall() if cursor.description else []


def of_story(prefix: str, ledger: Path) -> dict[str, Any]:
    """The proof of all instances of a story."""
    found = instances(prefix)
    return {
        "instances": len(found),
        "footprint": [footprint(instance, prefix) for instance in found],
        "problems": problems(found) + effects(found, ledger),
    }


def instances(prefix: str) -> list[UUID]:
    """The instances of a story, and those they called and spoke to."""
    rows = ask(
        """WITH RECURSIVE told AS (
            SELECT id FROM process_instances WHERE business_key = %s OR starts_with(definition_key, %s)
            UNION SELECT n.id FROM told t CROSS JOIN LATERAL (
                SELECT id FROM process_instances p WHERE p.parent_instance_id = t.id
                UNION ALL SELECT m.instance_id FROM runtime_message m WHERE m.box = 'IN' AND m.sender = t.id
            ) n
        ) SELECT id FROM told JOIN process_instances USING (id) ORDER BY definition_key, id""",
        prefix, prefix,
    )  # fmt: skip
    return [row[0] for row in rows]


def footprint(instance: UUID, prefix: str) -> dict[str, Any]:
    """What an instance came to."""
    ((key, state),) = ask("SELECT definition_key, state FROM process_instances WHERE id = %s", instance)
    events = ask(
        """SELECT event_type, node_id, from_state, to_state, reason FROM runtime_event
        WHERE thread_id = %s AND event_type <> ALL (%s)""",
        instance, list(LOCKS),
    )  # fmt: skip
    variables = ask("SELECT name, value::text FROM variables WHERE instance_id = %s AND present", instance)
    return {
        "process": key.replace(prefix, ""),
        "state": state,
        "events": {" ".join(map(str, event)): count for event, count in sorted(Counter(events).items(), key=str)},
        "variables": sorted(map(str, variables)),
    }


def problems(found: list[UUID]) -> list[str]:
    """What is wrong with instances: gaps, doubles, rows that differ from history, decisions that differ."""
    replayed = [
        f"{outcome.instance}: {problem}" for outcome in replay_stored(found, again=True) for problem in outcome.problems
    ]
    versions = ask(
        """SELECT v.thread_id, v.version, count(c.version), max(c.version) FROM runtime_thread_version v
        LEFT JOIN runtime_commit c USING (thread_id) WHERE v.thread_id = ANY (%s) GROUP BY 1, 2
        HAVING (count(DISTINCT c.version), count(c.version), min(c.version), max(c.version))
               <> (v.version, v.version, 1, v.version)""",
        found,
    )  # fmt: skip
    ordinals = ask(
        """SELECT c.sequence, c.events, array_agg(e.ordinal ORDER BY e.ordinal) FROM runtime_commit c
        JOIN runtime_event e ON e.commit_sequence = c.sequence AND e.thread_id = c.thread_id
        WHERE c.thread_id = ANY (%s) GROUP BY 1, 2
        HAVING array_agg(e.ordinal ORDER BY e.ordinal) <> ARRAY(SELECT generate_series(0, c.events - 1))""",
        found,
    )  # fmt: skip
    waiting = ask(
        "SELECT sender, name FROM runtime_message WHERE box = 'OUT' AND state = 'PENDING' AND sender = ANY (%s)", found
    )
    return [
        *replayed,
        *(f"{id}: {count} commits up to {last}, the version is {version}" for id, version, count, last in versions),
        *(f"{sender}: the message {name} still waits" for sender, name in waiting),
        *(f"commit {sequence} has the events {there} of {count}" for sequence, count, there in ordinals),
    ]


def effects(found: list[UUID], ledger: Path) -> list[str]:
    """What was done outside and is not accounted for."""
    calls = Counter(tuple(line.split()) for line in ledger.read_text().splitlines()) if ledger.exists() else Counter()
    rows = ask(
        "SELECT task_id, event_type, row_version FROM external_task_events WHERE instance_id = ANY (%s)", list(found)
    )
    locks = {(str(task), str(version)) for task, type, version in rows if type == "TASK_LOCKED"}
    completed = Counter(str(task) for task, type, _ in rows if type == "TASK_COMPLETED")
    worked = {task for task, _ in calls}
    return [
        *(f"call {call} of a worker has no lock in history" for call in calls if call not in locks),
        *(f"lock {call} was worked on {count} times" for call, count in calls.items() if count > 1),
        *(f"task {task} was completed {count} times" for task, count in completed.items() if count > 1),
        *(f"task {task} was completed and never worked on" for task in completed if task not in worked),
    ]
