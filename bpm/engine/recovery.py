"""What schedulers ask again and again. Recovery is nothing special: after any crash these simply run.

Each does a bounded share of what is due and returns what it did as counts. Several at once do no harm: what is claimed
is passed over (SKIP LOCKED), what somebody else did is refused by the step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import structlog
from django.conf import settings

from bpm.engine import relay
from bpm.engine.announcing import Announcement, announce
from bpm.engine.follow import Active, Round
from bpm.engine.step import DETERMINISTIC, Refused, step
from bpm.engine.trying import ENGINE, given_up, report, too_often
from bpm.semantics.commands import GiveUpTask
from bpm.semantics.events import FORMAT
from bpm.store import claims, ids, outbox, schedule, schema
from bpm.store.outbox import Pending
from bpm.store.outside import query
from bpm.store.records import CommitRecord
from bpm.store.schedule import Due
from bpm.store.values import dumps
from bpm.store.version import ENGINE as VERSION

log = structlog.get_logger(__name__)

type Counts = dict[str, int]

AT_ONCE = 200
# Tokens that are ACTIVE so long were left behind by whoever made them so.
LEFT_BEHIND = 5.0
# One more than a start asks for: the first of a month is no alarm.
MONTHS_AHEAD = schema.MONTHS + 1
DAY = 86_400.0
# So many locks of a task may run out in a row. Setting: BPM_MOST_TIMEOUTS.
MOST_TIMEOUTS = 10
# Settings: BPM_KEEP_ENDED_DAYS, BPM_KEEP_RECEIPTS_DAYS, BPM_MESSAGES_LIVE_DAYS.
KEEP_ENDED_DAYS = 7
KEEP_RECEIPTS_DAYS = 7
MESSAGES_LIVE_DAYS = 30


def release_expired_locks(limit: int = AT_ONCE) -> Counts:
    """Make tasks READY again whose workers did not answer in time; they are announced. One that nobody finishes within
    its lock, so many times in a row, waits with an incident instead. (A lock's end is no step of the instance; giving
    up is one, after it. Should this process die between the two, the next lock that runs out comes here again.)
    """
    released = claims.release_expired(actor=ENGINE, limit=limit)
    most = int(getattr(settings, "BPM_MOST_TIMEOUTS", MOST_TIMEOUTS))
    number = schedule.timeouts([one.id for one in released])
    hopeless = [one for one in released if number.get(one.id, 0) >= most]
    for one in hopeless:
        _give_up(one, number[one.id])
    released = [one for one in released if one not in hopeless]
    announce(Announcement(topics=tuple(one.topic for one in released)))
    return {"locks": len(released), "given_up": len(hopeless)} if hopeless else {"locks": len(released)}


def _give_up(task: claims.Released, times: int) -> None:
    said = f"the lock of whoever took it ran out {times} times in a row, last that of {task.worker}"
    ordinal = ids.ordinal(task.id)
    try:
        step(
            ids.instance_of(task.id),
            lambda at: GiveUpTask(at=at, task=ordinal, worker=task.worker, text=said),
            actor=ENGINE,
            cause=task.sequence,
        )
    except Refused as refused:
        log.debug("not given up", task=str(task.id), why=refused.message)


def advance_left_behind(limit: int = AT_ONCE, *, older_than: float = LEFT_BEHIND) -> Counts:
    """Advance tokens that are ACTIVE for a while. One that is so for long is tried by itself, and given up after some
    tries (`trying`).
    """
    found = _TOKENS.next(lambda after: schedule.active_tokens(older_than=older_than, limit=limit, after=after), limit)
    turn = Round()
    turn.go_on(active=[Active(token.instance_id, token.ordinal, None) for token in found if not token.overdue])
    for token in found:
        if not turn:
            break
        if token.overdue and not _given_up(token):
            turn.go_on(active=[Active(token.instance_id, token.ordinal, None)])
    return {"tokens": len(found)}


def _given_up(token: Due) -> bool:
    """Whether an overdue token has been tried too often; then it waits with an incident."""
    if not given_up("token", token.id, instance=token.instance_id, token=token.ordinal, since=token.since):
        return False
    report(token.instance_id, token.ordinal, too_often("the token could not be advanced"))
    return True


class Walk[Item]:
    """Holds where the last round ended, so that what cannot be done and stays does not hide the rest."""

    def __init__(self) -> None:
        self.after: Item | None = None

    def next(self, ask: Callable[[Item | None], list[Item]], limit: int) -> list[Item]:
        """The next ones, from the beginning again after the last."""
        found = ask(self.after)
        if not found and self.after is not None:
            found = ask(None)
        self.after = found[-1] if len(found) == limit else None
        return found


_TOKENS: Walk[Due] = Walk()
_WALK: Walk[Pending] = Walk()


def deliver_pending(limit: int = AT_ONCE) -> Counts:
    """Deliver messages that wait, and let their receivers go on; how many commits that made."""
    turn = Round()
    records: list[CommitRecord] = []
    tried: Pending | None = None
    for message in _WALK.next(lambda after: outbox.pending(after=after, limit=limit), limit):
        if not turn:
            _WALK.after = tried
            break
        tried = message
        try:
            records += relay.deliver(message)
        except DETERMINISTIC:
            log.exception("message cannot be delivered", message=str(message.id), kind=message.kind)
    turn.go_on(*records)
    return {"messages": len(records)}


def expire_messages(limit: int = AT_ONCE) -> Counts:
    """Let messages expire that nobody took within their time to live: their own, or where the model gives none (what
    instances throw at each other, signals) that of the site.
    """
    days = float(getattr(settings, "BPM_MESSAGES_LIVE_DAYS", MESSAGES_LIVE_DAYS))
    return {"expired": len(outbox.expire(actor=ENGINE, limit=limit, without_life=days * DAY))}


def forgotten_tasks(topics: Sequence[str], *, older_than: float, limit: int) -> Mapping[str, int]:
    """Of these topics, how many ready tasks nobody has taken for so many seconds (at most `limit` each)."""
    if not topics:
        return {}
    asked = {"topics": list(topics), "seconds": older_than, "limit": limit}
    return {topic: number for topic, number in query(None, "forgotten_tasks", asked) if number}


def ensure_partitions() -> Counts:
    """Have the months of history ahead."""
    return {"partitions": len(schedule.ensure_partitions(MONTHS_AHEAD))}


def sweep_ended(limit: int = AT_ONCE) -> Counts:
    """Remove the runtime rows of instances that ended days ago; history can rebuild them."""
    days = float(getattr(settings, "BPM_KEEP_ENDED_DAYS", KEEP_ENDED_DAYS))
    return {"swept": len(schedule.sweep_ended(older_than=days * DAY, limit=limit))}


def sweep_receipts() -> Counts:
    """Forget receipts that are older than anybody asks again."""
    days = float(getattr(settings, "BPM_KEEP_RECEIPTS_DAYS", KEEP_RECEIPTS_DAYS))
    return {"receipts": schedule.sweep_receipts(older_than=days * DAY)}


def sweep_messages() -> Counts:
    """Remove messages from outside that were delivered or expired days ago; history has them."""
    days = float(getattr(settings, "BPM_KEEP_ENDED_DAYS", KEEP_ENDED_DAYS))
    return {"swept_messages": schedule.sweep_messages(older_than=days * DAY)}


def tick(job: str, counts: Mapping[str, int]) -> None:
    """Note that a scheduler did something; that it is alive, once a minute."""
    did = {name: number for name, number in counts.items() if number}
    payload = {"job": job, "counts": did}
    if did:
        schedule.engine_event("ENGINE_TICK", payload)
    else:
        query(None, "quiet_tick", {"payload": dumps(payload), "engine": VERSION, "format": FORMAT})


# What a process that starts looks for.
RECOVERY = (release_expired_locks, advance_left_behind, deliver_pending)


def recover() -> Counts:
    """Look for what was left behind, once and at once; ENGINE_RECOVERY says what was found.

    An engine of another version than the last one says so, too (ENGINE_VERSION).
    """
    last = query(None, "last_engine_version", {})
    if not last or last[0][0] != VERSION:
        schedule.engine_event("ENGINE_VERSION", {"version": VERSION})
    found: Counts = {}
    for look in RECOVERY:
        found |= look()
    schedule.engine_event("ENGINE_RECOVERY", {"found": found})
    log.info("recovered", **found)
    return found
