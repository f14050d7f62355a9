"""What a commit is asked to do, and what it begins with."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from bpm.semantics import State
from bpm.semantics.commands import Command, RestartInstance, to_json
from bpm.store.arguments import normalised
from bpm.store.channel import Channel
from bpm.store.ids import new_instance
from bpm.store.loading import question
from bpm.store.projection import Projected, Projection
from bpm.store.records import Incoming
from bpm.store.values import dumps

type MakeCommand = Callable[[datetime], Command]

# What a command is about does not depend on the time; to find it out, it is made once for this one.
_SOME_TIME = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadCommit:
    """What is to be committed: one command on one thread, and who wants it.

    `command` is given a time, which is all that its commands may differ by, and must do nothing else: it may be called
    several times. `actor` and `reason` go
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The same, looked into: `command` without its time, `question` is what of the thread it is about, `content` what
    its key stands for, `held` what this process remembers of the thread and may begin with.
    """

    wanted: ThreadCommit
    first: Command
    command: Command
    question: dict[str, Any]
    content: str | None
    held: Projected | None

    @property
    def thread(self) -> UUID:
        """The thread's id."""
        return self.wanted.thread_id

    def command_at(self, at: datetime) -> Command:
        """The command at the time of its commit."""
        return normalised(self.wanted.command(at), like=(self.first, self.command))


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What a commit begins with: the thread's state, the definition that it is decided by, its run and the run's
    number. `new_run`: the commit opens it.
    """

    state: State
    definition: UUID
    run: UUID
    run_number: int
    new_run: bool = False

    def by(self, command: Command) -> Begun:
        """The same for this command, which may open a run."""
        if not isinstance(command, RestartInstance):
            return self
        return replace(self, run=new_instance(), run_number=self.run_number + 1, new_run=True)


def asked(wanted: ThreadCommit, channel: Channel, projection: Projection | None) -> Asked:
    """What is wanted, looked into. Raises UnfitValue."""
    first = wanted.command(_SOME_TIME)
    command = normalised(first)
    return Asked(
        wanted=wanted,
        first=first,
        command=command,
        question=question(
            wanted.thread_id, command, alone=channel.alone, actor=wanted.actor, key=wanted.key, message=wanted.message
        ),
        content=None if wanted.key is None else wanted.content or _content(command),
        held=_held(projection, channel, wanted),
    )


def begun_anew(wanted: ThreadCommit) -> Begun | None:
    """With nothing: the thread is not there yet. None where it cannot begin."""
    if wanted.definition is None:
        return None
    state = State(thread=str(wanted.thread_id))
    return Begun(state=state, definition=wanted.definition, run=new_instance(), run_number=1)


def begun_with(held: Projected, state: State, wanted: ThreadCommit) -> Begun:
    """With what is remembered, and the state that this is now."""
    return Begun(state=state, definition=wanted.definition or held.definition, run=held.run, run_number=held.run_number)


def _held(projection: Projection | None, channel: Channel, wanted: ThreadCommit) -> Projected | None:
    """What the commit may begin with. Whatever asks about more than the thread's state is loaded as ever."""
    if projection is None or channel.alone or wanted.message is not None:
        return None
    found = projection.get(wanted.thread_id)
    return found if found is not None and found.resumable else None


def _content(command: Command) -> str:
    """What a key stands for: the command with its arguments as they were given, without its time and what the shell
    looked up for it.
    """
    said = [type(command).__name__, to_json(replace(command, answers={}))]
    return hashlib.sha256(dumps(said).encode()).hexdigest()
