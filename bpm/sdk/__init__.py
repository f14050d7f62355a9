"""The worker library: fetch, lock, extend, complete or fail external tasks over HTTP.

It stands alone: standard library only, nothing of the rest of this package, so that a worker can be shipped with just
this folder.

    from bpm.sdk import BpmnError, Client, Worker

    worker = Worker(Client("https://processes.example", token="..."))

    @worker.task("payments.charge", lock_seconds=60, variables=["amount"])
    def charge(task):
        return {"payment": book(task.variables["amount"], key=task.business_key)}

    worker.run()        # until SIGTERM or SIGINT; what runs then is finished first

- `client`  one call a verb of the API; frozen tasks; refusals as exceptions
- `typed`   dates, times and durations, which are Python's in a handler
- `worker`  the loop: fetch, run on threads, answer, hold locks while a handler takes long

A network that fails is met with patience: a call is repeated, with the same idempotency key, so that an answer that was
lost is not given twice. A handler can run twice all the same, when a worker dies in the middle or loses its lock.
"""

from __future__ import annotations

from .client import ApiError, Client, Refused, Task, Topic, Unreachable
from .worker import BpmnError, TaskFailure, Worker

__all__ = ["ApiError", "BpmnError", "Client", "Refused", "Task", "TaskFailure", "Topic", "Unreachable", "Worker"]
