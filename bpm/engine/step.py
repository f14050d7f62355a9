"""The step: how the engine makes a commit. What a commit is stands in `bpm.store.committing`, the one way to write;
here it gets its place (Django's connection), the memory of this process, and its refusals the engine's words.
"""

from __future__ import annotations

from uuid import UUID

from bpm.engine.errors import EngineError
from bpm.store import errors
from bpm.store.channel import Channel, django_channel
from bpm.store.committing import commit
from bpm.store.errors import RuleBroken
from bpm.store.projection import MEGABYTE, Projection
from bpm.store.records import CommitRecord, Incoming
from bpm.store.values import UnfitValue
from bpm.store.wanting import MakeCommand, ThreadCommit

# Faults of a step that no later try would be spared: not those of the connection.
DETERMINISTIC = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError, RecursionError, RuleBroken)

# What this process has committed last it need not load again, which spares a step about a quarter of its time. Filled
# by its own commits alone; the thread's version row says under its lock whether it is still true.
MEMORY = Projection(64 * MEGABYTE)


class Refused(EngineError):
    """The command was refused and nothing has changed. `code`: one of `semantics.work.REFUSALS`, or key_conflict,
    second_instance, busy, invalid."""

    code = "refused"


def step(
    thread_id: UUID,
    make_command: MakeCommand,
    *,
    actor: str,
    reason: str | None = None,
    key: str | None = None,
    cause: int | None = None,
    message: Incoming | None = None,
    definition: UUID | None = None,
    content: str | None = None,
    channel: Channel | None = None,
) -> CommitRecord:
    """Carry out one command on one instance, as one transaction (or as a part of the caller's). The arguments are those
    of `ThreadCommit`.

    Raises Refused. What else is raised (a lost connection above all) leaves open whether it was done: ask again with
    the same key.
    """
    wanted = ThreadCommit(
        thread_id=thread_id, command=make_command, actor=actor, reason=reason, key=key, cause=cause, message=message,
        definition=definition, content=content,
    )  # fmt: skip
    try:
        return commit(channel or django_channel(), wanted, MEMORY)
    except errors.Refused as refused:
        raise Refused(str(refused), code=refused.code) from refused.__cause__
    except UnfitValue as unfit:
        raise Refused(str(unfit), code="invalid") from None
