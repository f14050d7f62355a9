"""What comes after a commit: its ACTIVE tokens go on, what it sent is delivered, tasks that became ready are announced.

Each of these is a commit of its own, and each may leave more to do. So there is one queue, worked off to a bounded
length by the process that made the first commit; what is left is announced for Celery. Nothing here is needed for
anything to be right: whatever is not done here stands in the tables, and the schedulers (`recovery`, `relay`) find it.
So a failure here is logged and never reaches the caller, whose own commit stands.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from bpm.engine import relay
from bpm.engine.announcing import Announcement, announce
from bpm.engine.step import DETERMINISTIC, Refused, step
from bpm.engine.trying import ENGINE, in_words, report
from bpm.semantics.commands import AdvanceToken
from bpm.store import outbox, schedule
from bpm.store.channel import Channel, django_channel
from bpm.store.outbox import Pending
from bpm.store.records import CommitRecord

log = structlog.get_logger(__name__)

# Commits that a process makes after the one that somebody asked for, and seconds after which it begins no other one:
# whoever asked waits for them.
BUDGET = 100
SECONDS = 5.0
# What one round of a schedule may take, so that an instance that never comes to rest keeps no other job waiting.
ROUND_BUDGET = 10_000
ROUND_SECONDS = 2.0

# Refusals that say: somebody else was there, or the instance stands still, or is busy and will be asked again.
PASSED_BY = frozenset({"not_found", "wrong_state", "not_running", "busy"})


@dataclass(frozen=True, slots=True)
class Active:
    """A token that must go on, and the commit that made it so."""

    thread: UUID
    token: int
    cause: int | None


@dataclass(slots=True)
class Following:
    """Holds what is still to do, and what is to be announced."""

    todo: deque[Active | Pending] = field(default_factory=deque)
    topics: list[str] = field(default_factory=list)
    done: int = 0

    def note(self, record: CommitRecord) -> None:
        """Take up what a commit leaves to be done."""
        self.topics.extend(record.topics)
        self.todo.extend(Active(record.thread_id, token, record.sequence) for token in record.active)
        if record.sent:
            self.todo.extend(outbox.sent_by(record.thread_id, record.version))
        for name in _awaited(record):
            # It may have come before anybody waited for it.
            self.todo.extend(outbox.pending_named("MESSAGE", name))

    def run(self, budget: int, until: float) -> None:
        """Work off the queue: so many commits at most, and none begun after that moment (of time.monotonic)."""
        while self.todo and self.done < budget and time.monotonic() < until:
            one = self.todo.popleft()
            self.done += 1
            try:
                for record in advance(one) if isinstance(one, Active) else relay.deliver(one):
                    self.note(record)
            except DETERMINISTIC:
                log.exception("passed over", what=repr(one)[:500])

    def left(self) -> Announcement:
        """What others must hear of."""
        instances = dict.fromkeys(one.thread for one in self.todo if isinstance(one, Active))
        messages = any(isinstance(one, Pending) for one in self.todo)
        return Announcement(topics=tuple(self.topics), instances=tuple(instances), messages=messages)


def leaves_to_do(record: CommitRecord) -> bool:
    """Whether something may follow from the commit, which then is no longer the last one of its instance."""
    return bool(record.active or record.sent or _awaited(record))


def _awaited(record: CommitRecord) -> list[str]:
    """The messages for which the commit has begun to wait."""
    opened = (event.payload for event in record.events if event.type == "TICKET_OPENED")
    return [ticket["name"] for ticket in opened if ticket["kind"] == "MESSAGE"]


def follow(*records: CommitRecord, channel: Channel | None = None) -> None:
    """Let go on what these commits have set going, once they stand: in a caller's transaction after its commit.
    `channel`: what they were made on, where that is at hand.
    """
    _after_commit(lambda: go_on(*records), channel)


def follow_messages(sender: UUID, version: int) -> None:
    """The same for what was published from outside."""

    def deliver() -> None:
        try:
            messages = outbox.sent_by(sender, version)
        except Exception:
            log.exception("not followed; the schedulers go on with it")
        else:
            go_on(messages=messages)

    _after_commit(deliver)


def _after_commit(act: Callable[[], object], channel: Channel | None = None) -> None:
    """When the commit stands; at once in the block that Django's TestCase puts around a test, which never does."""
    channel = channel or django_channel()
    if channel.joined and channel.alone:
        channel.after_commit(act)
    else:
        act()


def go_on(
    *records: CommitRecord,
    active: Iterable[Active] = (),
    messages: Iterable[Pending] = (),
    budget: int = BUDGET,
    seconds: float = SECONDS,
) -> int:
    """Do what the commits leave to be done, advance these tokens, deliver these messages, for so long. Never raises."""
    until = time.monotonic() + seconds
    following = Following()
    following.todo.extend(active)
    following.todo.extend(messages)
    try:
        for record in records:
            following.note(record)
        following.run(budget, until)
    except Exception:
        log.exception("not followed; the schedulers go on with it")
    announce(following.left())
    return following.done


class Round:
    """Holds how long a round of a schedule may still take. What it does not come to is left to the next one."""

    def __init__(self) -> None:
        self.until = time.monotonic() + ROUND_SECONDS

    def __bool__(self) -> bool:
        return time.monotonic() < self.until

    def go_on(self, *records: CommitRecord, active: Iterable[Active] = ()) -> None:
        """The same as `go_on`, in what is left of the round: each instance has its turn, and one wake-up tells of the
        rest.
        """
        left = max(0.0, self.until - time.monotonic())
        go_on(*records, active=active, budget=ROUND_BUDGET, seconds=left)


def continue_instance(instance: UUID) -> int:
    """Advance what is ACTIVE in the instance; how many commits that made."""
    tokens = schedule.active_of_instance(instance)
    return go_on(active=[Active(instance, token, None) for token in tokens])


def advance(active: Active) -> list[CommitRecord]:
    """Let one token go on. What its step raises each time again becomes an incident: it blocks nothing else."""
    thread, token = active.thread, active.token
    try:
        return [step(thread, lambda at: AdvanceToken(at=at, token=token), actor=ENGINE, cause=active.cause)]
    except Refused as refused:
        if refused.code in PASSED_BY:
            return []
        text = refused.message
    except DETERMINISTIC as fault:
        log.exception("token cannot be advanced", instance=str(thread), token=token)
        text = in_words(fault)
    reported = report(thread, token, text, cause=active.cause)
    return [] if reported is None else [reported]
