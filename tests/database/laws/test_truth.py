"""The database is the only source of truth: an order runs although every step is made by a process that knows nothing.

Each process does one thing and ends; nobody is woken, since there is no broker; nothing is left but the rows.
"""

from __future__ import annotations

import os
import subprocess
import sys

from django.db import connection

from config.local import ROOT, socket_url

# What there is to do next is asked of the database; one thing is done.
ONE_THING = """
import django
django.setup()
from bpm import engine
from bpm.jobs.handlers import topics
from bpm.jobs.running import run_one
from bpm.queries import work

task = next(iter(work.list_user_tasks().items), None)
if not any(run_one(topic) for topic in topics()) and task is not None:
    engine.complete_user_task(task.id, actor="anna")
"""
# Two looks at the stock, a crate, the card, the parcel packed and shipped; one more has nothing to do.
PROCESSES = 7


def test_every_step_by_a_process_that_remembers_nothing(world, postgres):
    world.deploy((ROOT / "examples" / "orders" / "order.bpmn").read_bytes())
    instance = world.start("order", variables={"quantity": 15})
    database = socket_url(postgres.sockets, str(connection.settings_dict["NAME"]))
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": database,
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }
    for _ in range(PROCESSES):
        subprocess.run([sys.executable, "-c", ONE_THING], check=True, env=environment, cwd=ROOT)
    assert world.state(instance) == "COMPLETED"
    assert world.events(instance, "TOKEN_JOINED") == ["TOKEN_JOINED"]
    assert len(world.events(instance, "TASK_COMPLETED", "USER_TASK_COMPLETED")) == PROCESSES - 1
