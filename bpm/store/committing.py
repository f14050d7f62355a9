"""The commit: everything that happens to an instance goes through here, whoever asks for it.

load (lock the version row, read what the command needs), decide, answer what was missing and decide again, flush,
commit. Two round trips, three when something was missing. Losing a race is a clean beginning anew: nothing had been
written.

Where all can be foreseen (`foreseeing`) the order is another: decide, and then in one round trip lock, see that it is
so, flush and commit. What was not so is done in the first way.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from bpm.semantics import Decided, Need, Refusal, State, decide
from bpm.semantics.changing import changed
from bpm.semantics.commands import Command, CompleteExternalTask, StartInstance
from bpm.semantics.later import later
from bpm.semantics.lifecycle import is_final
from bpm.semantics.state import Key
from bpm.store import definitions
from bpm.store.answering import answered
from bpm.store.channel import Channel
from bpm.store.documents import document
from bpm.store.errors import Busy, KeyConflict, LostRace, Refused, UnknownInstance
from bpm.store.foreseeing import decided_beforehand, foreseen
from bpm.store.ids import NIL
from bpm.store.loading import loaded_state, merge
from bpm.store.projection import Projected, Projection, remembered
from bpm.store.records import CommitRecord
from bpm.store.unit import Unit
from bpm.store.values import moment
from bpm.store.wanting import Asked, Begun, ThreadCommit, asked, begun_anew, begun_with

# How often a lost race is begun anew, and how long to wait before that: up to so many seconds, more each time.
TRIES = 8
PAUSE = 0.02
# A command may ask for more as often as it asks for something new; so many rounds without that mean that loading and
# deciding do not understand each other.
VAIN_ROUNDS = 3


def commit(channel: Channel, wanted: ThreadCommit, projection: Projection | None = None) -> CommitRecord:
    """Carry out one command on one thread, as one transaction (or as a part of the caller's). A `projection` spares it
    loading what this process wrote last, and is advanced when the commit stands.

    Raises Refused, UnknownInstance, KeyConflict, SecondInstance, Busy, UnfitValue: nothing was written. What else is
    raised (a lost connection above all) leaves open whether it was done: ask again with the same key.
    """
    for attempt in range(1, TRIES + 1):
        try:
            return _once(channel, wanted, projection, foresee=attempt == 1)
        except LostRace as lost:
            if projection is not None:
                projection.forget(wanted.thread_id)
            if attempt == TRIES:
                raise Busy(f"the instance is busy: {lost}") from lost
            time.sleep(random.uniform(0, PAUSE * attempt))  # noqa: S311
    raise AssertionError


def _once(channel: Channel, wanted: ThreadCommit, projection: Projection | None, *, foresee: bool) -> CommitRecord:
    """`foresee`: a step that has lost a race is decided under the lock, where it finds out by what."""
    about = asked(wanted, channel, projection)
    made = (_foreseen(channel, about) if foresee else None) or _under_lock(channel, about, undisturbed=foresee)
    if isinstance(made, CommitRecord):
        return made
    if projection is not None:
        _remember(projection, channel, made)
    return made.record


@dataclass(frozen=True, slots=True)
class Made:
    """A commit that was made, what it began with, and what was remembered before. `undisturbed`: nobody else had been
    at the thread since.
    """

    record: CommitRecord
    begun: Begun
    held: Projected | None
    undisturbed: bool = True


def _foreseen(channel: Channel, about: Asked) -> Made | None:
    """The commit in one round trip; None where it is to be made under the lock."""
    seen = None if channel.alone else foreseen(about)
    if seen is None:
        return None
    process = definitions.load(seen.begun.definition, channel=channel)
    command = _of_that(process, changed(about.command, at=seen.at))
    decided = decided_beforehand(process, seen, command)
    if decided is None:
        return None
    after = decided.state.sealed()
    written = _written(about, command, decided, after, seen.begun, foreseen=True)
    with Unit(channel) as unit:
        result = unit.settle(about.thread, seen, decided.holds_until, written)
    if result is None:
        return None
    told = later(replace(decided, state=after), seen.at, moment(result["at"]))
    record = _record(written, result, replace(decided, events=told.events), told.state, seen.begun)
    return Made(record, seen.begun, about.held)


def _under_lock(channel: Channel, about: Asked, *, undisturbed: bool) -> Made | CommitRecord:
    """The commit in two round trips or more, or the record of what had been done before. `undisturbed`: no race has
    been lost for it.
    """
    thread, wanted, held = about.thread, about.wanted, about.held
    ask = about.question if held is None else about.question | {"projected": held.asked(about.question)}
    with Unit(channel) as unit:
        answer = unit.load(thread, ask, resume=held is not None)
        repeated = _repeated(thread, answer, about.content)
        if repeated is not None:
            return repeated
        command = about.command_at(moment(answer["at"]))
        resumed = held is not None and bool(answer.get("resumed"))
        if held is not None and resumed:
            begun = begun_with(held, held.resumed(ask, answer), wanted)
        elif answer["found"]:
            begun = _loaded(wanted, command, answer)
        else:
            anew = begun_anew(wanted)
            if anew is None:
                raise UnknownInstance(f"there is no instance {thread}")
            begun = anew
        command, decided = _decide(unit, thread, channel, begun, command)
        begun, after = begun.by(command), decided.state.sealed()
        written = _written(about, command, decided, after, begun)
        result = unit.flush(written)
    record = _record(written, result, decided, after, begun)
    return Made(record, begun, held, undisturbed=undisturbed and (resumed or held is None))


def _loaded(wanted: ThreadCommit, command: Command, answer: dict[str, Any]) -> Begun:
    """With what `bpm_load` answered. Raises Refused."""
    thread = wanted.thread_id
    if answer["definition"] is None:
        code = "duplicate" if isinstance(command, StartInstance) else "not_running"
        raise Refused(f"the instance {thread} has ended, and only history has it now", code=code)
    return Begun(
        state=loaded_state(thread, command, answer),
        definition=wanted.definition or UUID(answer["definition"]),
        run=UUID(answer["run"]),
        run_number=answer["counters"]["run"],
    )


def _written(
    about: Asked, command: Command, decided: Decided, after: State, begun: Begun, *, foreseen: bool = False
) -> dict[str, Any]:
    """The document of the commit."""
    wanted = about.wanted
    return document(
        about.thread, command, decided, after, run=begun.run, run_number=begun.run_number, new_run=begun.new_run,
        definition=begun.definition, actor=wanted.actor, reason=wanted.reason, key=wanted.key, content=about.content,
        cause=wanted.cause, message=wanted.message, foreseen=foreseen,
    )  # fmt: skip


def _record(
    written: dict[str, Any], result: dict[str, Any], decided: Decided, after: State, begun: Begun
) -> CommitRecord:
    active, topics, sent = _left_to_do(decided, after)
    return CommitRecord(
        sequence=result["sequence"], thread_id=UUID(written["thread"]), version=after.version, run_id=begun.run,
        at=moment(result["at"]), command=written["command"], events=decided.events, state=after,
        active=active, topics=topics, sent=sent, definition_id=begun.definition,
    )  # fmt: skip


def _remember(projection: Projection, channel: Channel, made: Made) -> None:
    """Advance the projection, once the commit stands."""
    record, begun = made.record, made.begun
    after = record.state
    if after is None or is_final("instance", after.instances[0].state):
        projection.forget(record.thread_id)
        return
    entry = remembered(
        record.thread_id, after, last_at=record.at, definition=begun.definition, run=begun.run,
        run_number=begun.run_number, born_after=begun.state.counter, before=made.held, undisturbed=made.undisturbed,
    )  # fmt: skip
    if entry is None:
        projection.forget(record.thread_id)
    elif channel.joined:
        channel.after_commit(lambda: projection.put(entry))
    else:
        projection.put(entry)


def _decide(unit: Unit, thread: UUID, channel: Channel, begun: Begun, command: Command) -> tuple[Command, Decided]:
    """The decision, and the command with what was looked up for it outside of the instance. Raises Refused."""
    definition, state = begun.definition, begun.state
    process = definitions.load(definition, channel=channel)
    graph, command = process.graph, _of_that(process, command)
    asked: set[Key] = set()
    vain = 0
    while vain < VAIN_ROUNDS:
        match decide(graph, state, command):
            case Decided() as decided:
                return command, decided
            case Refusal(code, text):
                raise Refused(text, code=code)
            case Need(keys):
                vain = vain + 1 if asked.issuperset(keys) else 0
                asked.update(keys)
                command, others = answered(keys, command, state, process=definition, channel=channel)
                if others:
                    state = merge(state, tuple(others), unit.answer(thread, others))
    raise AssertionError(f"{type(command).__name__} never has enough to decide")


def _of_that(process: definitions.Definition, command: Command) -> Command:
    """The command as it is decided and kept. A worker that goes on names all topics that it does, each time; what
    stands in the log stands there for ever, so that of these it keeps those that the process has.
    """
    if not isinstance(command, CompleteExternalTask) or process.topics is None:
        return command
    wanted = {topic: seconds for topic, seconds in command.next_topics.items() if topic in process.topics}
    return changed(command, next_topics=wanted) if len(wanted) < len(command.next_topics) else command


def _repeated(thread: UUID, answer: dict[str, Any], content: str | None) -> CommitRecord | None:
    """The record of what was done before, by the key's receipt or the message's row."""
    receipt, received = answer.get("receipt"), answer.get("received")
    if receipt is not None:
        if receipt["content"] != content:
            raise KeyConflict("the idempotency key was used for another command")
        return CommitRecord.from_result(receipt["result"], repeated=True)
    if received is not None:
        return CommitRecord(
            sequence=0,
            thread_id=UUID(received["thread"]),
            version=received["version"],
            run_id=NIL,
            at=moment(received["at"]),
            command="",
            repeated=True,
        )
    return None


def _left_to_do(decided: Decided, after: State) -> tuple[tuple[int, ...], tuple[str, ...], tuple[str, ...]]:
    active, topics = [], []
    for kind, id in decided.state.touched:
        if kind == "token" and after.tokens[id].state == "ACTIVE":
            active.append(id)
        elif kind == "task" and after.tasks[id].state == "READY":
            topics.append(after.tasks[id].topic)
    sent = tuple(event.payload["kind"] for event in decided.events if event.type == "MESSAGE_SENT")
    return tuple(active), tuple(topics), sent
