"""Timers: what is due fires, whoever asks first; nothing is locked before the instance's own version row.

A timer whose step was refused has fired or is gone. One whose step raises gets an incident (`trying`), so that it
blocks nothing behind it; where not even that can be written, it is passed over for a while.
"""

from __future__ import annotations

import random
import time
from uuid import UUID

import structlog

from bpm.engine.follow import Round
from bpm.engine.step import DETERMINISTIC, Refused, step
from bpm.engine.trying import ENGINE, given_up, in_words, report, too_often
from bpm.expressions.timers import Schedule, following
from bpm.semantics.commands import FireTimer, StartInstance
from bpm.store import ids, schedule
from bpm.store.records import CommitRecord
from bpm.store.schedule import Due, DueStart

log = structlog.get_logger(__name__)

# How many one round fires; it ends after a while, too (`follow.Round`).
AT_ONCE = 1_000
# Seconds for which a timer that can neither be fired nor reported is left alone by this process.
REST = 60.0

_RESTING: dict[UUID, float] = {}


def fire_due_timers(limit: int = AT_ONCE) -> dict[str, int]:
    """Fire the timers of instances whose moment has come; how many."""
    now = time.monotonic()
    for timer_id in [timer_id for timer_id, until in _RESTING.items() if until <= now]:
        del _RESTING[timer_id]
    turn = Round()
    fired: list[CommitRecord] = []
    for timer in _from_anywhere(schedule.due_timers(limit + len(_RESTING)), limit):
        if not turn:
            break
        if timer.id not in _RESTING and not _given_up(timer):
            record = fire_timer(timer)
            if record is not None:
                fired.append(record)
    turn.go_on(*fired)
    return {"timers": len(fired)}


def _from_anywhere(due: list[Due], limit: int) -> list[Due]:
    """The timers, oldest first. Of more than a round takes each scheduler begins at another place and goes round: else
    several would try the same ones, of which but one fires each.
    """
    if len(due) < limit:
        return due
    first = random.randrange(len(due))  # noqa: S311
    return due[first:] + due[:first]


def fire_timer(timer: Due) -> CommitRecord | None:
    """Fire one timer; None where it has fired already, is not due, or cannot be fired."""
    try:
        return step(timer.instance_id, lambda at: FireTimer(at=at, timer=timer.ordinal), actor=ENGINE)
    except Refused:
        return None
    except DETERMINISTIC as fault:
        log.exception("timer cannot be fired", instance=str(timer.instance_id), timer=timer.ordinal)
        _report(timer, in_words(fault))
        return None


def _given_up(timer: Due) -> bool:
    """Whether an overdue timer has been tried too often; then it has an incident."""
    if not timer.overdue:
        return False
    if not given_up("timer", timer.id, instance=timer.instance_id, token=timer.token, since=timer.since):
        return False
    _report(timer, too_often("the timer could not be fired"))
    return True


def _report(timer: Due, text: str) -> None:
    if report(timer.instance_id, timer.token, text, beside=timer.node) is None:
        _RESTING[timer.id] = time.monotonic() + REST


def fire_start_timers(limit: int = AT_ONCE) -> dict[str, int]:
    """Start the processes whose start timer is due; how many instances.

    The instance has an id made of the timer and its moment, so that two schedulers start one; then the timer goes on.
    """
    turn = Round()
    started: list[CommitRecord] = []
    for due in schedule.due_starts(limit):
        if not turn:
            break
        try:
            record = _start(due)
        except Refused as busy:
            log.debug("start timer left to the next round", process=due.key, why=busy.message)
            continue
        after = following(Schedule.from_json(due.schedule), schedule.now())
        fire_at, plan = (None, None) if after is None else (after.fire_at, after.to_json())
        moved = schedule.advance_start(due, fire_at, plan, actor=ENGINE)
        if record is not None and not record.repeated:
            started.append(record)
        if not moved:
            log.debug("start timer moved by another scheduler", process=due.key)
    turn.go_on(*started)
    return {"started": len(started)}


def _start(due: DueStart) -> CommitRecord | None:
    """Start the instance; None where it has been started, or cannot be: then history says so, since there is no
    instance that could have an incident. Raises Refused where it is to be tried again.
    """
    moment = due.fire_at.isoformat()
    try:
        return step(
            ids.derived_instance("start timer", due.id, moment),
            lambda at: StartInstance(at=at, node=due.node, trigger="timer"),
            actor=ENGINE,
            key=f"start timer/{due.id}/{moment}",
            definition=due.definition_id,
        )
    except Refused as refused:
        if refused.code in ("busy", "suspended"):
            raise
        if refused.code == "duplicate":
            return None
        why = refused.message
    except DETERMINISTIC as fault:
        log.exception("start timer cannot be fired", process=due.key, node=due.node)
        why = in_words(fault)
    log.warning("start timer refused", process=due.key, node=due.node, why=why)
    about = {"process": due.key, "node": due.node, "due": moment, "why": why}
    schedule.engine_event("ENGINE_RECOVERY", {"found": {"start_timers": 1}, **about}, reason="refused")
    return None
