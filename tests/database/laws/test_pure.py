"""Deciding is pure: an order is decided from start to end where clock, chance, files and frameworks fail."""

from __future__ import annotations

import subprocess
import sys

from config.local import ROOT

DECIDE = """
import sys
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from bpm.compiler import compile_bpmn
from bpm.replay import compare
from bpm.semantics import Decided, State, decide, evolve
from bpm.semantics import commands as c

frameworks = {"django", "celery", "psycopg", "pydantic", "redis", "ninja"} & set(sys.modules)
assert not frameworks, frameworks
source = Path(sys.argv[1], "examples", "orders", "order.bpmn").read_bytes()
(order,) = compile_bpmn(source, file="order.bpmn").processes

def forbidden(*_, **__):
    raise AssertionError("a clock or chance was asked")

import os, random, secrets, time, uuid
for module, names in {
    time: ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "sleep"),
    random: ("random", "randint", "choice", "getrandbits"),
    secrets: ("token_bytes", "token_hex", "randbelow"),
    uuid: ("uuid1", "uuid4"),
    os: ("urandom", "getpid"),
}.items():
    for name in names:
        setattr(module, name, forbidden)

# Every event of the interpreter that reaches out of the process.
OUTSIDE = ("open", "os.", "socket.", "subprocess.", "shutil.", "tempfile.", "import", "ctypes.", "urllib.")
deciding = False

def watch(event, arguments):
    if deciding and event.startswith(OUTSIDE):
        raise AssertionError(f"deciding reached out: {event} {arguments}")

sys.addaudithook(watch)

NOW = datetime(2030, 1, 1, tzinfo=UTC)
state = State(thread="order")

def do(command):
    global state, deciding
    deciding = True
    try:
        first, second = decide(order, state, command), decide(order, state, command)
        assert isinstance(first, Decided), first
        assert first.events == second.events
        state = evolve(state, first.events)
        assert compare(state, first.state) == ()
        state = state.sealed()
    finally:
        deciding = False

def advance():
    while active := [token.id for token in state.tokens.values() if token.state == "ACTIVE"]:
        do(c.AdvanceToken(at=NOW, token=active[0]))

def work(**variables):
    (task,) = [task for task in state.tasks.values() if task.state == "READY"][:1]
    do(c.LockTask(at=NOW, task=task.id, worker="w", until=NOW.replace(hour=1)))
    do(c.CompleteExternalTask(at=NOW, task=task.id, worker="w", variables=variables))
    advance()

do(c.StartInstance(at=NOW, variables={"quantity": 1}))
advance()
work(in_stock=True)
work(payment="paid")
(person,) = [task for task in state.user_tasks.values() if task.state == "READY"]
do(c.CompleteUserTask(at=NOW, user_task=person.id, user="anna"))
advance()
work(tracking="parcel")
print(state.instances[0].state)
"""


def test_an_order_is_decided_without_clock_chance_or_the_world():
    command = [sys.executable, "-I", "-c", DECIDE, str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "COMPLETED\n", done.stderr
