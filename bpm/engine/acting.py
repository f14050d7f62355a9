"""How a verb acts: it names who and what, makes one step, says a refusal in its own words, and lets the instance go
on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any
from uuid import UUID

from bpm.engine.errors import Invalid, NotFound
from bpm.engine.follow import follow
from bpm.engine.step import Refused as StepRefused
from bpm.engine.step import step
from bpm.engine.trying import ENGINE
from bpm.store import errors, ids, receipts
from bpm.store.channel import Channel, django_channel
from bpm.store.receipts import Done
from bpm.store.records import CommitRecord, Incoming
from bpm.store.wanting import MakeCommand

# Names of people, workers, topics, keys: what history keeps in a column.
NAME_LIMIT = 255
REASON_LIMIT = 4_000
# Names under which the engine itself acts: no person, program or worker has one of them.
RESERVED = frozenset({ENGINE})


class Refused(StepRefused):
    """The engine does not do it, and nothing has changed. `code` says why: one of `semantics.work.REFUSALS`, or
    second_instance, busy, invalid.
    """


class KeyConflict(Refused):
    """The idempotency key was used for something else."""

    code = "key_conflict"


@dataclass(frozen=True, slots=True)
class Entity:
    """What an id stands for: an entity of an instance, by its ordinal. `what` it is called."""

    id: UUID
    instance: UUID
    ordinal: int
    what: str


def act(
    about: UUID | Entity,
    make_command: MakeCommand,
    *,
    actor: str,
    reason: str | None = None,
    key: str | None = None,
    cause: int | None = None,
    message: Incoming | None = None,
    definition: UUID | None = None,
    content: str | None = None,
) -> CommitRecord:
    """One step of an instance, and what follows from it. `about` is the instance, or what in it the step is asked of.

    Raises NotFound, KeyConflict, Refused, Invalid.
    """
    acting_as(actor)
    if key is not None:
        named(key, "key")
    stated = given_reason(reason)
    channel = django_channel()
    try:
        record = step(
            about.instance if isinstance(about, Entity) else about,
            make_command,
            actor=actor,
            reason=stated,
            key=key,
            cause=cause,
            message=message,
            definition=definition,
            content=content,
            channel=channel,
        )
    except StepRefused as refused:
        raise _in_words(refused, about) from None
    if not record.repeated:
        follow(record, channel=channel)
    return record


def act_outside(
    actor: str, key: str | None, said: Mapping[str, Any], do: Callable[[Channel | None], Done | None]
) -> Done | None:
    """Something that is no step of an instance, done once where it has a key. `said` is what the key stands for; `do`
    is given the channel to do it on.

    Raises KeyConflict, Refused (busy).
    """
    acting_as(actor)
    if key is None:
        return do(None)
    try:
        return receipts.once(None, actor, named(key, "key"), said, do)
    except errors.KeyConflict as conflict:
        raise KeyConflict(str(conflict)) from None
    except errors.Busy as busy:
        raise Refused(str(busy), code="busy") from None


def entity(id: UUID | str, what: str) -> Entity:
    """The entity that the id names. NotFound for what is no id of one."""
    found = _uuid(id, what)
    if ids.ordinal(found) == 0:
        raise NotFound(f"there is no {what} {id}")
    return Entity(found, ids.instance_of(found), ids.ordinal(found), what)


def instance(id: UUID | str) -> UUID:
    """The instance's id. NotFound for what is no id of one."""
    found = _uuid(id, "instance")
    if ids.ordinal(found) != 0:
        raise NotFound(f"there is no instance {id}")
    return found


def named(text: str, what: str, *, limit: int = NAME_LIMIT, least: int = 1) -> str:
    """A text that may stand in a column of history: so long at most, no NUL characters. Raises Invalid."""
    if not isinstance(text, str) or not least <= len(text) <= limit:
        raise Invalid(f"{what} must be a text of {least} to {limit} characters")
    if "\x00" in text:
        raise Invalid(f"{what} holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Invalid(f"{what} is no Unicode text") from None
    return text


def acting_as(name: str, what: str = "actor") -> str:
    """The name of somebody who acts: any but the engine's own, by which history tells what nobody asked for. Raises
    Invalid.
    """
    if named(name, what) in RESERVED:
        raise Invalid(f"{name} is a name of the engine itself: no {what} has it")
    return name


def given_reason(reason: str | None) -> str | None:
    """Why somebody did it, in their words. Raises Invalid."""
    return None if reason is None else named(reason, "reason", limit=REASON_LIMIT, least=0)


def counted(number: int, what: str, most: int, *, least: int = 1) -> int:
    """A whole number within reason. Raises Invalid."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise Invalid(f"{what} must be a whole number")
    if not least <= number <= most:
        raise Invalid(f"{what} must be {least} to {most}, not {number if abs(number) < 10**15 else 'so many'}")
    return number


def bounded(number: float, what: str, most: float, *, least: float = 0.001) -> float:
    """Seconds within reason. Raises Invalid."""
    if isinstance(number, bool) or not isinstance(number, int | float) or not isfinite(number):
        raise Invalid(f"{what} must be a number of seconds")
    if not least <= number <= most:
        raise Invalid(f"{what} must be {least:g} to {most:g} seconds, not {number:g}")
    return float(number)


def _uuid(id: UUID | str, what: str) -> UUID:
    if isinstance(id, UUID):
        return id
    try:
        return UUID(id)
    except (ValueError, AttributeError, TypeError):
        raise NotFound(f"there is no {what} {str(id)[:60]!r}") from None


def _in_words(refused: StepRefused, about: UUID | Entity) -> Exception:
    if refused.code == "not_found":
        # Whoever named a task by its id knows neither its ordinal nor the instance that the id would lie in.
        return NotFound(f"there is no {about.what} {about.id}" if isinstance(about, Entity) else refused.message)
    if refused.code == "key_conflict":
        return KeyConflict(refused.message)
    if refused.code == "invalid":
        return Invalid(refused.message)
    return Refused(refused.message, code=refused.code)
