"""What the engine's tests share: a database, what was announced, and questions to the tables by raw SQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from bpm import engine
from bpm.engine.announcing import Announcement, register, unregister
from bpm.jobs.starting import tell_celery


@dataclass
class World:
    """Deploys, starts and looks; `announced` is what was announced since the test began."""

    announced: list[Announcement] = field(default_factory=list)

    def deploy(self, *files: bytes) -> None:
        engine.deploy({f"model{number}.bpmn": file for number, file in enumerate(files)}, actor="tester")

    def start(self, process: str = "p", **said: Any) -> UUID:
        return engine.start(process, actor="tester", **said).thread_id

    def ask(self, statement: str, *arguments: Any) -> list[tuple]:
        with connection.cursor() as cursor:
            cursor.execute(statement, arguments)
            return cursor.fetchall()

    def state(self, instance: UUID) -> str:
        return self.ask("SELECT state FROM process_instances WHERE id = %s", instance)[0][0]

    def where(self, instance: UUID) -> list[str]:
        """The nodes at which tokens of the instance wait for something."""
        statement = (
            "SELECT node_id FROM tokens WHERE instance_id = %s AND state IN ('ACTIVE', 'WAITING') ORDER BY ordinal"
        )
        return [node for (node,) in self.ask(statement, instance)]

    def events(self, instance: UUID, *types: str) -> list[str]:
        statement = "SELECT event_type FROM runtime_event WHERE thread_id = %s ORDER BY commit_sequence, ordinal"
        found = [type for (type,) in self.ask(statement, instance)]
        return [type for type in found if type in types] if types else found

    def variables(self, instance: UUID) -> dict[str, Any]:
        statement = """SELECT coalesce(jsonb_object_agg(name, value), '{}')::text FROM variables
                       WHERE instance_id = %s AND scope = 0 AND present"""
        return engine.loads(self.ask(statement, instance)[0][0])

    def only(self, table: str, instance: UUID, **conditions: Any) -> UUID:
        """The id of the one row of a runtime table."""
        asked = "".join(f" AND {column} = %s" for column in conditions)
        (found,) = self.ask(f"SELECT id FROM {table} WHERE instance_id = %s{asked}", instance, *conditions.values())
        return found[0]

    def work(self, *topics: str, worker: str = "w", **variables: Any) -> int:
        """Fetch what is ready of the topics and complete it; how many there were."""
        found = engine.fetch_and_lock(topics, worker=worker, max=100)
        for task in found:
            engine.complete_task(task.id, worker=worker, variables=variables)
        return len(found)

    def move_clock(self, seconds: float) -> None:
        self.ask("SELECT bpm_move_clock(make_interval(secs => %s))", seconds)


@pytest.fixture
def world(transactional_db: None) -> Iterator[World]:
    world = World()
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS tokentrail_test_database ()")
    unregister("celery")
    register("test", world.announced.append)
    yield world
    unregister("test")
    register("celery", tell_celery)
    with connection.cursor() as cursor:
        cursor.execute("SELECT bpm_move_clock(NULL)")
