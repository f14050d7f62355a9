"""What workers do outside: they leave a line in a ledger, which no crash of the engine takes back.

TOKENTRAIL_LEDGER names the file. Locks are short, so that the work of a killed worker is soon somebody else's.
"""

from __future__ import annotations

import os
from typing import Any

from bpm import TaskContext, TaskFailure, external_task

LOCK_SECONDS = 4.0


def note(task: TaskContext) -> None:
    """One line a call, in one write: lines of several processes do not mix."""
    file = os.open(os.environ["TOKENTRAIL_LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{task.id} {task.worker}\n".encode())
    os.close(file)


@external_task("storm.pay", lock_seconds=LOCK_SECONDS)
def pay(task: TaskContext) -> dict[str, Any]:
    """The first try fails."""
    note(task)
    if "tried" not in task.variables:
        raise TaskFailure("no answer", retry_after=0, variables={"tried": True})
    return {"paid": True}


@external_task("storm.ship", lock_seconds=LOCK_SECONDS)
def ship(task: TaskContext) -> None:
    """One of three parcels."""
    note(task)


@external_task("storm.pack", lock_seconds=LOCK_SECONDS)
def pack(task: TaskContext) -> dict[str, Any]:
    """In the called process; what it brings goes back to the caller."""
    note(task)
    return {"packed": task.business_key or "yes"}


@external_task("storm.note", lock_seconds=LOCK_SECONDS)
def write_down(task: TaskContext) -> None:
    """In the process that the message started."""
    note(task)
