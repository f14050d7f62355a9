"""The commit: everything that happens to an instance goes through here, whoever asks for it.

load (lock the version row, read what the command needs), decide, answer what was missing and decide again, flush,
commit. Two round trips, three when something was missing. Losing a race is a clean beginning anew: nothing had been
written.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from bpm.semantics import Decided, Need, Refusal, State, decide
from bpm.semantics.changing import changed
from bpm.semantics.commands import Command, CompleteExternalTask, RestartInstance, StartInstance, to_json
from bpm.semantics.lifecycle import is_final
from bpm.semantics.state import Key
from bpm.store import definitions
from bpm.store.answering import answered
from bpm.store.arguments import normalised
from bpm.store.channel import Channel
from bpm.store.documents import document
from bpm.store.errors import Busy, KeyConflict, LostRace, Refused, UnknownInstance
from bpm.store.ids import NIL, new_instance
from bpm.store.loading import loaded_state, merge, question
from bpm.store.projection import Projected, Projection, remembered
from bpm.store.records import CommitRecord, Incoming
from bpm.store.unit import Unit
from bpm.store.values import dumps

type MakeCommand = Callable[[datetime], Command]

# How often a lost race is begun anew, and how long to wait before that: up to so many seconds, more each time.
TRIES = 8
PAUSE = 0.02
# A command may ask for more as often as it asks for something new; so many rounds without that mean that loading and
# deciding do not understand each other.
VAIN_ROUNDS = 3
# What a command is about does not depend on the time; to find it out, it is made once for this one.
_SOME_TIME = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadCommit:
    """What is to be committed: one command on one thread, and who wants it.

    `command` is given the commit's time, may be called several times and must do nothing else. `actor` and `reason` go
    into history; `cause` is the sequence of the commit that brought this one about. With a `key` the same command of
    the same actor is done once: the second time its record comes back as `repeated`. A `message` that was received
    already does nothing either. `definition` is given for a start, for a migration (the new one) and for a new run of
    another version. `content` says what the key stands for, where that is more than the command.
    """

    thread_id: UUID
    command: MakeCommand
    actor: str
    reason: str | None = None
    key: str | None = None
    cause: int | None = None
    message: Incoming | None = None
    definition: UUID | None = None
    content: str | None = None


def commit(channel: Channel, wanted: ThreadCommit, projection: Projection | None = None) -> CommitRecord:
    """Carry out one command on one thread, as one transaction (or as a part of the caller's). A `projection` spares it
    loading what this process wrote last, and is advanced when the commit stands.

    Raises Refused, UnknownInstance, KeyConflict, SecondInstance, Busy, UnfitValue: nothing was written. What else is
    raised (a lost connection above all) leaves open whether it was done: ask again with the same key.
    """
    for attempt in range(1, TRIES + 1):
        try:
            return _once(channel, wanted, projection)
        except LostRace as lost:
            if projection is not None:
                projection.forget(wanted.thread_id)
            if attempt == TRIES:
                raise Busy(f"the instance is busy: {lost}") from lost
            time.sleep(random.uniform(0, PAUSE * attempt))  # noqa: S311
    raise AssertionError


def _once(channel: Channel, wanted: ThreadCommit, projection: Projection | None) -> CommitRecord:
    thread = wanted.thread_id
    first = wanted.command(_SOME_TIME)
    outline = normalised(first)
    ask = question(thread, outline, alone=channel.alone, actor=wanted.actor, key=wanted.key, message=wanted.message)
    content = None if wanted.key is None else wanted.content or _content(outline)
    held = _held(projection, channel, wanted)
    if held is not None:
        ask["projected"] = held.asked(ask)
    with Unit(channel) as unit:
        answer = unit.load(thread, ask, resume=held is not None)
        repeated = _repeated(thread, answer, content)
        if repeated is not None:
            return repeated
        at = datetime.fromisoformat(answer["at"])
        command = normalised(wanted.command(at), like=(first, outline))
        if held is not None and answer.get("resumed"):
            state = held.resumed(ask, answer)
            definition, run, run_number = wanted.definition or held.definition, held.run, held.run_number
        elif answer["found"] and answer["definition"] is None:
            raise Refused(f"the instance {thread} has ended, and only history has it now", code=_gone(wanted))
        elif answer["found"]:
            state = loaded_state(thread, command, answer)
            definition, run = wanted.definition or UUID(answer["definition"]), UUID(answer["run"])
            run_number = answer["counters"]["run"]
        elif wanted.definition is not None:
            state, definition = State(thread=str(thread)), wanted.definition
            run, run_number = new_instance(), 1
        else:
            raise UnknownInstance(f"there is no instance {thread}")
        command, decided = _decide(unit, thread, channel, definition, state, command)
        after = decided.state.sealed()
        new_run = isinstance(command, RestartInstance)
        if new_run:
            run, run_number = new_instance(), run_number + 1
        written = document(
            thread, command, decided, after, run=run, run_number=run_number, new_run=new_run, definition=definition,
            actor=wanted.actor, reason=wanted.reason, key=wanted.key, content=content, cause=wanted.cause,
            message=wanted.message,
        )  # fmt: skip
        result = unit.flush(written)
    active, topics, sent = _left_to_do(decided, after)
    record = CommitRecord(
        sequence=result["sequence"], thread_id=thread, version=after.version, run_id=run, at=at,
        command=written["command"], events=decided.events, state=after, active=active, topics=topics,
        sent=sent, definition_id=definition,
    )  # fmt: skip
    if projection is not None:
        _remember(
            projection, channel, record, state.counter, definition=definition, run=run, run_number=run_number, held=held
        )
    return record


def _held(projection: Projection | None, channel: Channel, wanted: ThreadCommit) -> Projected | None:
    """What the commit may begin with. Whatever asks about more than the thread's state is loaded as ever."""
    if projection is None or channel.alone or wanted.message is not None:
        return None
    found = projection.get(wanted.thread_id)
    return found if found is not None and found.resumable else None


def _remember(
    projection: Projection,
    channel: Channel,
    record: CommitRecord,
    born_after: int,
    *,
    held: Projected | None,
    **about: Any,
) -> None:
    """Advance the projection, once the commit stands."""
    after = record.state
    if after is None or is_final("instance", after.instances[0].state):
        projection.forget(record.thread_id)
        return
    entry = remembered(record.thread_id, after, last_at=record.at, born_after=born_after, before=held, **about)
    if entry is None:
        projection.forget(record.thread_id)
    elif channel.joined:
        channel.after_commit(lambda: projection.put(entry))
    else:
        projection.put(entry)


def _gone(wanted: ThreadCommit) -> str:
    """How a command on an instance is refused whose runtime rows were swept."""
    return "duplicate" if isinstance(wanted.command(_SOME_TIME), StartInstance) else "not_running"


def _decide(
    unit: Unit, thread: UUID, channel: Channel, definition: UUID, state: State, command: Command
) -> tuple[Command, Decided]:
    """The decision, and the command with what was looked up for it outside of the instance. Raises Refused."""
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
            at=datetime.fromisoformat(received["at"]),
            command="",
            repeated=True,
        )
    return None


def _content(command: Command) -> str:
    """What a key stands for: the command with its arguments as they were given, without its time and what the shell
    looked up for it.
    """
    said = [type(command).__name__, to_json(replace(command, answers={}))]
    return hashlib.sha256(dumps(said).encode()).hexdigest()


def _left_to_do(decided: Decided, after: State) -> tuple[tuple[int, ...], tuple[str, ...], tuple[str, ...]]:
    active, topics = [], []
    for kind, id in decided.state.touched:
        if kind == "token" and after.tokens[id].state == "ACTIVE":
            active.append(id)
        elif kind == "task" and after.tasks[id].state == "READY":
            topics.append(after.tasks[id].topic)
    sent = tuple(event.payload["kind"] for event in decided.events if event.type == "MESSAGE_SENT")
    return tuple(active), tuple(topics), sent
