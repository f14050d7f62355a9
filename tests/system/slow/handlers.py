"""Handlers that say when they begin and wait to be let go on."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from django.db import connection

from bpm import TaskContext, external_task


@external_task("slow", lock_seconds=3)
def slow(task: TaskContext) -> dict[str, Any]:
    """Note the process id in the folder named by the variable, then wait for the file `go`."""
    folder = Path(task.variables["folder"])
    with (folder / "calls").open("a") as calls:
        calls.write(f"{os.getpid()}\n")
    deadline = time.monotonic() + 60
    while not (folder / "go").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return {"done_by": os.getpid()}


@external_task("nonsense")
def nonsense(task: TaskContext) -> dict[str, Any]:
    """Bring back what cannot be stored."""
    return {"x": float("nan")}


@external_task("quick")
def quick(task: TaskContext) -> dict[str, Any]:
    """Count, to see that nothing is done twice."""
    return {"n": task.variables.get("n", 0) + 1}


@external_task("session")
def session(task: TaskContext) -> dict[str, Any]:
    """Which session of the database the worker is on."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return {"session": cursor.fetchone()[0]}
