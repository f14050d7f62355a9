"""What starts a process without anybody naming it: its start events with a message, a signal, a time or a condition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from bpm.expressions import ExpressionError, compile_text
from bpm.expressions.timers import Kind, first
from bpm.graph import Formula, Node, Process, Trigger
from bpm.store.definitions import Subscription

KINDS = {"message": "MESSAGE", "signal": "SIGNAL", "timer": "TIMER", "conditional": "CONDITION"}
TIMER_KINDS: dict[str | None, Kind] = {"date": "date", "cycle": "cycle"}


def subscriptions(process: Process, now: datetime) -> list[Subscription]:
    """What waits to start the process from now on. A timer that is never due (again) waits for nothing."""
    found: dict[tuple[str, str, str], Subscription] = {}
    for node in _starts(process):
        for trigger in _triggers(node):
            one = _subscription(node, trigger, now)
            if one is not None and one.kind == "TIMER":
                # An event may wait for several times: the second has a number for a name.
                number = sum(kind == "TIMER" and id == node.id for id, kind, _ in found) + 1
                one = replace(one, name=str(number) if number > 1 else one.name)
            if one is not None:
                # What waits for several conditions is asked for all of them at once.
                found.setdefault((one.node, one.kind, one.name), one)
    return list(found.values())


def _starts(process: Process) -> Iterator[Node]:
    """Start events of the process level, and the receive tasks and gateways that start it."""
    top = process.scopes[process.id]
    return (node for node in (process.nodes[id] for id in top.nodes) if node.id in top.starts or node.instantiate)


def _triggers(node: Node) -> Sequence[Trigger]:
    if node.trigger is None:
        return ()
    return node.trigger.parts if node.trigger.kind == "multiple" else (node.trigger,)


def _subscription(node: Node, trigger: Trigger, now: datetime) -> Subscription | None:
    kind = KINDS.get(trigger.kind)
    if kind is None:
        return None
    if kind != "TIMER":
        return Subscription(node=node.id, kind=kind, name=_constant(trigger.name))
    text = _constant(trigger.timer)
    try:
        schedule = first(TIMER_KINDS.get(trigger.timer_kind, "duration"), text, now, quartz=trigger.quartz)
    except ExpressionError:
        return None
    if schedule is None:
        return None
    return Subscription(node=node.id, kind=kind, fire_at=schedule.fire_at, schedule=schedule.to_json())


def _constant(formula: Formula | None) -> str:
    """The text of a formula that no instance is there to evaluate for."""
    if formula is None:
        return ""
    value = compile_text(formula.text, language=formula.language).evaluate({})  # type: ignore[arg-type]
    return "" if value is None else str(value)
