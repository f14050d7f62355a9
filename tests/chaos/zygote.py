"""A process that has loaded the engine, touches nothing, and forks others that do.

    python -m tests.chaos.zygote NAME < lines of JSON > lines of JSON

{"function": "module:name", "said": {...}, "times": 1, "environment": {...}} forks `times` processes, each of which
calls the function, and answers with how each ended: [{"signal": 0, "said": {"returned": ...}}].
"""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from importlib import import_module
from typing import Any


def main() -> None:
    """Load, say so, and fork as told until the pipe ends."""
    import django

    django.setup()
    from bpm.engine.announcing import unregister

    # Nobody is woken here: what is not done at once is left to the schedulers, which the tests play.
    unregister("celery")
    for name in ("tests.chaos.stories", "tests.chaos.proof", "bpm.jobs.schedule", "bpm.audit.replaying"):
        import_module(name)
    gc.freeze()
    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        children = [fork(order, number) for number in range(order["times"])]
        print(json.dumps([ended(*child) for child in children]), flush=True)


def fork(order: dict[str, Any], number: int) -> tuple[int, int]:
    """A new process that does what the order says: its id, and where it will say what came of it."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    os.close(reading)
    try:
        said = {"returned": obey(order, number)}
    except BaseException:
        said = {"raised": traceback.format_exc()}
    with os.fdopen(writing, "w") as pipe:
        json.dump(said, pipe, default=str)
    os._exit(0)


def obey(order: dict[str, Any], number: int) -> Any:
    """Call the function. `number` tells the processes of one order apart, for a function that asks for it."""
    os.environ.update(order["environment"])
    module, _, name = order["function"].partition(":")
    function = getattr(import_module(module), name)
    said = order["said"] | ({"number": number} if order["times"] > 1 else {})
    return function(**said)


def ended(pid: int, reading: int) -> dict[str, Any]:
    """Wait for a process: the signal that ended it, and what it said before."""
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, status = os.waitpid(pid, 0)
    return {"signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, "said": json.loads(text) if text else None}


if __name__ == "__main__":
    main()
