"""External tasks and their workers: taking a task, holding it, failing at it."""

from __future__ import annotations

from datetime import datetime, timedelta

from bpm.expressions import ExpressionError, HostObject
from bpm.expressions.timers import first
from bpm.semantics import commands as c
from bpm.semantics import view
from bpm.semantics.formulas import holds, sees
from bpm.semantics.state import Task
from bpm.semantics.work import Refused, Work


def lock(work: Work, command: c.LockTask) -> None:
    """Give the task to the worker. Refused unless it is READY and its retry time has come."""
    task = _task(work, command.task)
    if task.state != "READY":
        raise Refused("wrong_state", f"the task is {task.state}, not READY")
    if task.retry_at is not None and not work.has_come(task.retry_at):
        raise Refused("wrong_state", f"the task may be tried again at {task.retry_at.isoformat()}")
    _give(work, task, command.worker, command.until)


def lock_next(work: Work, command: c.CompleteExternalTask) -> None:
    """Give the worker that has completed a task the one to go on with: of those that this step made and that are ready
    now that it has come to rest, the one that a fetch of `next_topics` would give first. Where there is none, none is
    locked: what only a later commit brings is left to a fetch.

    What its worker sees is loaded with it, so that the state after the step tells all that a fetch would.
    """
    made = (work.state.tasks[event.id] for event in work.events if event.type == "TASK_CREATED")
    ready = [task for task in made if task.state == "READY" and task.topic in command.next_topics]
    if ready:
        task = min(ready, key=lambda one: (-one.priority, one.id))
        sees(work.state, task.token)
        _give(work, task, command.worker, work.ahead(command.next_topics[task.topic]))


def _give(work: Work, task: Task, worker: str, until: datetime) -> None:
    work.change("TASK_LOCKED", "task", task, "LOCKED", reason="work", worker=worker, until=until.isoformat())


def held(work: Work, id: int, worker: str) -> Task:
    """The task, if that worker holds it now; refused with the reason otherwise."""
    task = _task(work, id)
    if task.state != "LOCKED":
        raise Refused(
            "wrong_state" if task.state != "READY" else "not_locked",
            f"the task is {task.state}, not LOCKED by {worker}",
        )
    if task.lock_owner != worker:
        raise Refused("wrong_worker", f"the task is locked by {task.lock_owner}, not by {worker}")
    if task.lock_expire_at is not None and work.has_come(task.lock_expire_at):
        raise Refused("lock_expired", f"the lock of {worker} ran out at {task.lock_expire_at.isoformat()}")
    return task


def error_of(work: Work, task: Task, *, message: str = "", details: str = "") -> str | None:
    """The code of the BPMN error that the model makes of what the worker reports (camunda:errorEventDefinition of an
    external task: the first whose expression holds), None where it makes none. Raises Stuck.

    The expressions see the task as `externalTask`, as in Camunda 7.
    """
    spec = work.graph.node(task.node).work
    if spec is None or not spec.errors:
        return None
    seen = {"externalTask": _as_seen(work, task, message, details)}
    return next((code for code, formula in spec.errors if holds(work, task.token, formula, seen)), None)


def _as_seen(work: Work, task: Task, message: str, details: str) -> HostObject:
    instance = work.state.instance
    members = {
        "id": str(task.id),
        "activityId": task.node,
        "topicName": task.topic,
        "workerId": task.lock_owner,
        "retries": task.retries,
        "priority": task.priority,
        "errorMessage": message or None,
        "errorDetails": details or None,
        "processDefinitionKey": work.graph.id,
        "processInstanceId": work.state.thread,
        "businessKey": instance.business_key if instance else None,
    }
    return HostObject("externalTask", members)


def fail(work: Work, command: c.FailExternalTask, task: Task) -> None:
    """Count down; with retries left the task is ready again after its pause, else it waits for an operator."""
    # A model may give no retries at all: then the first failure is the last.
    left = max(task.retries - 1, 0) if command.retries is None else command.retries
    if left < 0:
        raise Refused("invalid", f"retries must not be negative, {left} given")
    details = {"details": command.details} if command.details else {}
    work.change("TASK_FAILED", "task", task, "FAILED", reason="work", worker=command.worker, error=command.message,
                retries=left, **details)  # fmt: skip
    if left:
        pause = _pause(work, task, left) if command.retry_after is None else timedelta(seconds=command.retry_after)
        said = {"retry_at": (work.at + pause).isoformat()} if pause else {}
        work.change("TASK_RETRIED", "task", work.state.tasks[task.id], "READY", reason="retry", retries=left, **said)
    else:
        work.emit("INCIDENT_OPENED", work.new_id(), token=task.token, node=task.node, after="OPEN", reason="work",
                  kind="task", message=command.message, task=task.id)  # fmt: skip


def set_retries(work: Work, command: c.SetRetries) -> None:
    """So many tries are left. A task that has failed for good is ready again, and its incident is resolved."""
    task = _task(work, command.task)
    if command.retries < 1:
        raise Refused("invalid", f"retries must be at least 1, {command.retries} given")
    if task.state == "FAILED":
        for kind, one in view.attached(work.state, task.token):
            if kind == "incident" and one.task == task.id:
                work.change("INCIDENT_RESOLVED", "incident", one, "RESOLVED", reason="operator")
        work.change("TASK_RETRIED", "task", task, "READY", reason="operator", retries=command.retries)
    elif view.is_open("task", task):
        work.change("TASK_RETRIES_SET", "task", task, task.state, reason="operator", retries=command.retries)
    else:
        raise Refused("wrong_state", f"the task is {task.state}")


def give_up(work: Work, command: c.GiveUpTask) -> None:
    """The task waits for an operator. Refused where somebody has it again."""
    task = _task(work, command.task)
    if task.state != "READY":
        raise Refused("wrong_state", f"the task is {task.state}, not READY")
    work.change("TASK_FAILED", "task", task, "FAILED", reason="timeout", worker=command.worker, error=command.text,
                retries=0)  # fmt: skip
    work.emit("INCIDENT_OPENED", work.new_id(), token=task.token, node=task.node, after="OPEN", reason="timeout",
              kind="task", message=command.text, task=task.id)  # fmt: skip


def _pause(work: Work, task: Task, left: int) -> timedelta:
    """The pause before the next try that the model's retry cycle gives ("R3/PT10S", "PT1M,PT5M"), else none."""
    spec = work.graph.node(task.node).work
    cycle = spec.retry_cycle if spec else None
    if not cycle:
        return timedelta()
    pauses = [part.strip() for part in cycle.split(",")]
    total = len(pauses) if len(pauses) > 1 else left
    text = pauses[min(max(total - left, 0), len(pauses) - 1)]
    try:
        schedule = first("duration", text.rsplit("/", 1)[-1], work.at)
    except ExpressionError:
        return timedelta()
    return schedule.fire_at - work.at if schedule else timedelta()


def _task(work: Work, id: int) -> Task:
    task: Task | None = view.entity(work.state, "task", id)
    if task is None:
        raise Refused("not_found", f"there is no external task {id}")
    return task
