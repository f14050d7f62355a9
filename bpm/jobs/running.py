"""One task with its handler: lock it, run the handler outside of any transaction, tell the engine what came of it.

A wake-up names a topic, not a task: which task is next is decided by the database (priority, then age), so a wake-up
that is lost, doubled or late does no harm. Is this process killed in the middle, the lock runs out, and the task is
done once more by somebody else; it is completed once, since completing asks for the lock.

A handler that is done quickly is followed at once by that of the next task of the same instance, where that is one of
this worker's own: the commit that completes the one locks the other, which spares a commit, a wake-up and a fetch. Not
for long: then the next task is left to the queue, where whoever else waits has its turn.
"""

from __future__ import annotations

import os
import socket
import time
import traceback
from collections.abc import Callable, Collection, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, connection

from bpm import engine
from bpm.engine import EngineError, Invalid, LockedTask, Topic
from bpm.expressions import typed
from bpm.jobs.handlers import BpmnError, Registered, TaskContext, TaskFailure, handler

log = structlog.get_logger(__name__)

# The answer to a task is tried again so many seconds later when the database could not be reached.
PATIENCE = (0.5, 2.0, 5.0)
# So many tasks of an instance a worker does in a row, and goes on with no other one after so many seconds: what takes
# longer has nothing to gain.
IN_A_ROW = 50
ROW_SECONDS = 1.0
# What history keeps of a traceback.
DETAILS_LIMIT = 10_000


def worker_name() -> str:
    """The name under which this process locks tasks."""
    return f"{socket.gethostname()}/{os.getpid()}"


def run_one(
    topic: str,
    *,
    beside: Collection[str] = (),
    until: float | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> int:
    """Take the next ready task of the topic and do it, and then those of the same instance that follow from it and are
    of the topics `beside` (which may hold the first one): for a while, or until that moment (of time.monotonic), and
    not once `stopped` says so. How many were done; 0 where none was ready, or there is no handler for it here.
    """
    registered = handler(topic)
    if registered is None:
        log.warning("no handler", topic=topic)
        return 0
    found = engine.fetch_and_lock({topic: _taken(registered)}, worker=worker_name(), max=1)
    following = found[0] if found else None
    done, last = 0, time.monotonic() + ROW_SECONDS if until is None else until

    def goes_on() -> bool:
        return done < IN_A_ROW and time.monotonic() < last and not stopped()

    while following is not None and registered is not None:
        done += 1
        answer = _run(registered, following, beside, goes_on)
        following = _say(following, answer)
        registered = None if following is None else handler(following.topic)
    return done


type Answer = Callable[[], object]


def _run(registered: Registered, task: LockedTask, beside: Collection[str], goes_on: Callable[[], bool]) -> Answer:
    """Run the handler; what it came to, as the call that tells the engine. `goes_on`: whether, now that it is done, the
    worker goes on with another one.
    """
    key = f"{task.id}/{task.version}"
    me: dict[str, Any] = {"worker": task.worker, "key": key, "cause": task.sequence}
    try:
        result = registered.run(_context(task))
    except BpmnError as error:
        return partial(
            engine.throw_task_error, task.id, code=error.code, message=error.message, variables=error.variables, **me
        )
    except TaskFailure as failure:
        pause = failure.retry_after if failure.retry_after is not None else _backoff(registered, task)
        return partial(
            engine.fail_task,
            task.id,
            message=failure.message,
            details=failure.details,
            retries=failure.retries,
            retry_after=pause,
            variables=failure.variables,
            **me,
        )
    except (Exception, SystemExit) as failure:
        if isinstance(failure, SystemExit) and _told_to_end(failure):
            raise
        log.exception("handler failed", topic=task.topic, task=str(task.id), instance=str(task.instance_id))
        message = f"{type(failure).__name__}: {failure}".replace("\x00", "")
        details = traceback.format_exc()[-DETAILS_LIMIT:].replace("\x00", "")
        return partial(
            engine.fail_task,
            task.id,
            message=message,
            details=details,
            retry_after=_backoff(registered, task),
            **me,
        )
    return partial(_complete, task, result, _next_topics(task, beside) if goes_on() else {}, me)


def _taken(registered: Registered) -> Topic:
    """How its tasks are taken."""
    return Topic(registered.lock_seconds, registered.variables)


def _next_topics(task: LockedTask, beside: Collection[str]) -> dict[str, Topic]:
    """Those topics of the task's process with which this worker may go on, and how it takes a task of each."""
    there = engine.topics_beside(task)
    known = {topic: handler(topic) for topic in sorted(beside) if there is None or topic in there}
    return {topic: _taken(registered) for topic, registered in known.items() if registered is not None}


def _complete(
    task: LockedTask, result: Any, next_topics: Mapping[str, Topic], me: Mapping[str, Any]
) -> LockedTask | None:
    """Complete the task; the one to go on with."""
    if not next_topics:
        engine.complete_task(task.id, variables=result, **me)
        return None
    return engine.complete_and_lock_next(task.id, next_topics, variables=result, **me)[1]


def _told_to_end(exit: SystemExit) -> bool:
    """Whether a signal ends this process: Celery's children then raise it with a negative code. A handler that calls
    sys.exit itself has failed; it would end one worker after the other.
    """
    return isinstance(exit.code, int) and exit.code < 0


def _backoff(registered: Registered, task: LockedTask) -> float | None:
    """The handler's pause after a failure; None leaves it to the model, or to the engine where that says nothing."""
    return None if registered.backoff is None else registered.backoff(task.retries - 1)


def _context(task: LockedTask) -> TaskContext:
    return TaskContext(
        id=task.id,
        topic=task.topic,
        node_id=task.node_id,
        instance_id=task.instance_id,
        definition_key=task.definition_key,
        business_key=task.business_key,
        variables=MappingProxyType(typed.for_python(task.variables)),
        retries=task.retries,
        headers=MappingProxyType(engine.task_headers(task)),
        worker=task.worker,
        _extend=lambda seconds: engine.extend_lock(task.id, worker=task.worker, seconds=seconds),
    )


def _say(task: LockedTask, answer: Answer) -> LockedTask | None:
    """Tell the engine; the task that it gives to go on with. A lost connection is met with patience: the key makes
    saying it twice harmless.
    """
    told = answer
    for pause in (*PATIENCE, None):
        try:
            said = told()
            return said if isinstance(said, LockedTask) else None
        except (OperationalError, InterfaceError) as trouble:
            connection.close()
            if pause is None:
                raise
            log.warning("answer delayed", topic=task.topic, task=str(task.id), trouble=str(trouble))
            time.sleep(pause)
        except EngineError as refusal:
            if isinstance(refusal, Invalid) and told is answer:
                # No later try would be taken either: left at that, the task would run again after each lock, for ever.
                message = f"what the handler of {task.topic} came to cannot be taken: {refusal}"
                told = partial(engine.fail_task, task.id, worker=task.worker, message=message)
                continue
            # Somebody else has the task now, or the instance is over: what was done here counts for nothing.
            log.warning("answer refused", topic=task.topic, task=str(task.id), code=refusal.code, why=refusal.message)
            return None
    return None
