"""What a token waits for: timers and tickets, set for an event of the model."""

from __future__ import annotations

from typing import Any

from bpm.expressions import ExpressionError
from bpm.expressions.timers import Kind, Schedule, first, following
from bpm.expressions.typed import text_of
from bpm.graph import Node, Trigger
from bpm.semantics.attempts import Attempt
from bpm.semantics.formulas import text, value
from bpm.semantics.mappings import first_values, keep_beside
from bpm.semantics.work import Stuck, Work


def wait_for(work: Work, token: int, node: Node, parts: tuple[Trigger, ...] | None = None) -> None:
    """Set what the event `node` waits for, on the token (0: the instance): all of it, or these parts. Raises Stuck."""
    trigger = node.trigger or Trigger()
    for part in (trigger.parts or (trigger,)) if parts is None else parts:
        rule = SET.get(part.kind)
        if rule is not None:
            rule(work, token, node, part)


def open_scope(work: Work, token: int, scope: str) -> None:
    """Begin a scope on its token (0: the instance): the first values of its data objects (a process has them from its
    start), and what its event subprocesses wait for. Raises Stuck; an event of the process itself that cannot be waited
    for is an incident of that event.
    """
    starts = [work.graph.node(work.graph.scopes[id].starts[0]) for id in work.graph.scopes[scope].event_subprocesses]
    if token:
        keep_beside(work, token, first_values(work.graph.scopes[scope]))
    for start in starts:
        if token:
            wait_for(work, token, start)
        else:
            with Attempt(work, token, start.id):
                wait_for(work, token, start)


def set_following(work: Work, token: int, node: Node, schedule: dict[str, Any]) -> None:
    """Set a repeating timer's next moment, if it has one."""
    after = following(Schedule.from_json(schedule), work.at)
    if after is not None:
        _schedule(work, token, node.id, after)


def _set_timer(work: Work, token: int, node: Node, trigger: Trigger) -> None:
    assert trigger.timer is not None
    kind: Kind = "date" if trigger.timer_kind == "date" else "cycle" if trigger.timer_kind == "cycle" else "duration"
    found = value(work, token, trigger.timer)
    content = text_of(found) or found
    if not isinstance(content, str):
        raise Stuck("timer", f"the timer {node.id} gives {content!r}, not a date, duration or cycle")
    try:
        schedule = first(kind, content, work.at, quartz=trigger.quartz)
    except ExpressionError as fault:
        raise Stuck("timer", f"the timer {node.id} cannot be set: {fault}") from None
    if schedule is not None:
        _schedule(work, token, node.id, schedule)


def _schedule(work: Work, token: int, node: str, schedule: Schedule) -> None:
    work.emit("TIMER_SCHEDULED", work.new_id(), token=token, node=node, after="SCHEDULED", reason="timer",
              fire_at=schedule.fire_at.isoformat(), schedule=schedule.to_json())  # fmt: skip


def _open_message(work: Work, token: int, node: Node, trigger: Trigger) -> None:
    _open(work, token, node, "MESSAGE", text(work, token, trigger.name), text(work, token, trigger.correlation))


def _open_signal(work: Work, token: int, node: Node, trigger: Trigger) -> None:
    _open(work, token, node, "SIGNAL", text(work, token, trigger.name), None)


def _open_condition(work: Work, token: int, node: Node, trigger: Trigger) -> None:
    parts = node.trigger.parts if node.trigger else ()
    _open(work, token, node, "CONDITION", None, None, {"part": parts.index(trigger)} if parts else None)


def _open(
    work: Work,
    token: int,
    node: Node,
    kind: str,
    name: str | None,
    correlation: str | None,
    data: dict[str, Any] | None = None,
) -> None:
    said: dict[str, Any] = {"name": name, "correlation": correlation, "data": data}
    work.emit("TICKET_OPENED", work.new_id(), token=token, node=node.id, after="OPEN", reason=kind.lower(),
              kind=kind, **{key: content for key, content in said.items() if content})  # fmt: skip


# trigger kind -> how it is waited for. Kinds that are thrown at a token (error, escalation) set nothing.
SET = {"timer": _set_timer, "message": _open_message, "signal": _open_signal, "conditional": _open_condition}
