"""Recovery is nothing special: whoever is killed, wherever, the schedulers' ordinary rounds end the instance well.

A process ends itself by kill -9 at each point of the commit protocol.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from django.db import connection

from bpm.jobs import schedule
from bpm.replay import ReplayEngine, compare, verify
from bpm.store import definitions, reading
from config.local import ROOT, socket_url
from tests.database.engine.drawing import end, flows, model, parallel, service, start

FORK = model(
    start(), service("first"), parallel("fork"), parallel("join"), service("a"), service("b"), end(),
    flows("start -> first -> fork", "fork -> a -> join", "fork -> b -> join", "join -> end"),
)  # fmt: skip

BEGINNING = """
import os, signal
import django
django.setup()
from django.db import transaction
from bpm import engine
from bpm.engine import follow
from bpm.store.unit import Unit

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def complete():
    engine.complete_task(task.id, worker="doomed")

(task,) = engine.fetch_and_lock(["first"], worker="doomed")
"""
# Where it dies -> how it gets there.
POINTS = {
    "after the lock": "die()",
    "after the load, which holds the instance's row": """
load = Unit.load
Unit.load = lambda *given, **said: (load(*given, **said), die())
complete()
""",
    "after the flush, before the commit": """
with transaction.atomic():
    complete()
    die()
""",
    "after the commit, before anything follows": """
follow.Following.run = die
complete()
""",
}


def kill_one_worker(database: str, point: str) -> None:
    """A worker that takes the task and dies at the point."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "DATABASE_URL": database}
    done = subprocess.run([sys.executable, "-c", BEGINNING + POINTS[point]], env=environment, cwd=ROOT)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.parametrize("point", POINTS)
def test_killed_anywhere_the_instance_comes_to_its_end(world, postgres, point):
    world.deploy(FORK)
    instance = world.start()
    kill_one_worker(socket_url(postgres.sockets, str(connection.settings_dict["NAME"])), point)
    # Locks have run out, and what was left ACTIVE is old enough to be found.
    world.move_clock(120)
    for _ in range(4):
        for job in schedule.JOBS:
            schedule.run_job(job)
        world.work("first", "a", "b")
    assert world.state(instance) == "COMPLETED"
    assert len(world.events(instance, "TASK_COMPLETED")) == 3
    assert world.events(instance, "TOKEN_FORKED", "TOKEN_JOINED") == ["TOKEN_FORKED", "TOKEN_JOINED"]
    ((definition,),) = world.ask("SELECT process_def_id FROM process_instances WHERE id = %s", instance)
    graph, history = definitions.load(definition).graph, reading.history(instance)
    replayed = ReplayEngine(graph).replay(history, thread=str(instance))
    assert replayed.violations == ()
    assert verify(graph, history, thread=str(instance)) is None
    assert compare(replayed.state, replayed.state, reading.stored_state(instance)) == ()
