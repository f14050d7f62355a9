"""The storm: servers and workers go down again and again while instances run, and a supervisor brings them back.

What runs is what runs on a site: Celery workers with their broker, beat, and workers without Celery. The client of the
instances is a program, too, that asks again with its key when it got no answer.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from django.db import Error

from bpm import engine
from config.processes import Process, Warden
from config.valkey import Valkey, free_port
from tests.chaos import models, proof
from tests.chaos.ground import Ground

CELERY = ("-m", "celery", "-A", "config")
# Root processes of the storm, and what each brings about.
KINDS = ("storm", "storm_pack", "storm_note")
# A round of faults, in any order.
FAULTS = ("postgres", "postgres", "postgres", "redis", "worker", "worker", "worker", "beat")


class Site:
    """Holds the processes of a site that suffers."""

    def __init__(self, ground: Ground, ledger: Path, warden: Warden, *, celery: int, plain: int) -> None:
        self.ground = ground
        self.faults: Counter[str] = Counter()
        self.cards: list[str] = []
        self.valkey = Valkey(ground.folder / "valkey", free_port(), warden)
        environment = {"REDIS_URL": self.valkey.url, "TOKENTRAIL_LEDGER": str(ledger), "LOG_LEVEL": "ERROR"}
        quiet = ("--without-mingle", "--without-gossip", "--concurrency=2", "--loglevel=ERROR")
        schedule = ground.folder / "beat-schedule"
        self.beat = ground.process("beat", *CELERY, "beat", "--pidfile=", f"--schedule={schedule}", **environment)
        self.workers: list[Process] = [
            ground.process(f"celery{n}", *CELERY, "worker", f"--hostname=w{n}@localhost", *quiet, **environment)
            for n in range(celery)
        ] + [ground.process(f"plain{n}", "manage.py", "bpm", "worker", **environment) for n in range(plain)]

    def __enter__(self) -> Site:
        self.valkey.start()
        for process in (self.beat, *self.workers):
            process.start()
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self.beat):
            process.kill()
        self.valkey.stop()

    def strike(self, chance: random.Random) -> None:
        """One fault, and what went down is started again."""
        if not self.cards:
            self.cards = list(FAULTS)
            chance.shuffle(self.cards)
        fault = self.cards.pop()
        self.faults[fault] += 1
        if fault == "postgres":
            self.ground.stop_at_once()
            self.ground.server.start()
        elif fault == "redis":
            self.valkey.process.kill()
            self.valkey.start()
        else:
            process = self.beat if fault == "beat" else chance.choice(self.workers)
            process.kill()
            process.start()

    def look_after(self) -> None:
        """Start again what ended by itself, as a supervisor does."""
        for process in (self.beat, *self.workers):
            if process.exit_code() is not None:
                process.start()


def ended(ground: Ground) -> int:
    """How many instances have ended; -1 while the database cannot be asked."""
    try:
        return int(ground.execute(
            "SELECT count(*) FROM process_instances WHERE definition_key = ANY (%s) AND ended_at IS NOT NULL",
            [list(KINDS)],
        )[0][0])  # fmt: skip
    except psycopg.Error:
        return -1


def begin(number: int, patience: float) -> int:
    """The client: start so many instances, each once; how often it had to ask again."""
    again = 0
    until = time.monotonic() + patience
    for one in range(number):
        while True:
            try:
                engine.start("storm", actor="client", business_key=f"S-{one}", key=f"S-{one}")
                break
            except (Error, engine.EngineError):
                again += 1
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)
    return again


def deploy() -> None:
    """Deploy what the storm runs."""
    engine.deploy(models.STORMY, actor="dora")


def judge(ledger: str, number: int) -> dict[str, Any]:
    """What it came to: what was lost, what was doubled, and what is wrong."""
    instances = proof.ask("SELECT id, definition_key, state FROM process_instances WHERE definition_key = ANY (%s)",
                          list(KINDS))  # fmt: skip
    kinds = Counter(key for _, key, _ in instances)
    ids = [id for id, _, _ in instances]
    shapes = [proof.footprint(id, "") for id, key, _ in instances if key == "storm"]
    return {
        "instances": len(instances),
        "lost": sum(max(0, number - kinds[kind]) for kind in KINDS) + sum(s != "COMPLETED" for _, _, s in instances),
        "doubled": sum(max(0, kinds[kind] - number) for kind in KINDS) + len(completed_twice(ids)),
        "shapes": [shape for number, shape in enumerate(shapes) if shape not in shapes[:number]],
        "calls": len(Path(ledger).read_text().splitlines()),
        "problems": proof.problems(ids) + unaccounted(ids, Path(ledger)),
    }


def completed_twice(ids: list[UUID]) -> list[Any]:
    """Tasks with more than one completion."""
    return proof.ask(
        """SELECT task_id FROM external_task_events WHERE instance_id = ANY (%s) AND event_type = 'TASK_COMPLETED'
        GROUP BY 1 HAVING count(*) > 1""",
        ids,
    )  # fmt: skip


def unaccounted(ids: list[UUID], ledger: Path) -> list[str]:
    """Calls of handlers that history does not show as locks, and completed tasks that no handler was called for."""
    calls = Counter(line.split()[0] for line in ledger.read_text().splitlines())
    rows = proof.ask(
        "SELECT task_id::text, event_type FROM external_task_events WHERE instance_id = ANY (%s)", ids
    )  # fmt: skip
    locks = Counter(task for task, type in rows if type == "TASK_LOCKED")
    done = {task for task, type in rows if type == "TASK_COMPLETED"}
    return [
        *(f"task {task}: {count} calls, {locks[task]} locks" for task, count in calls.items() if count > locks[task]),
        *(f"task {task} was completed and never worked on" for task in done - set(calls)),
    ]
