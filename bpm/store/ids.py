"""Ids: an instance's UUID with the ordinals of its entities in the low 32 bits.

    instance   tttttttt-tttt-7rrr-rrrr-rrrr00000000      48 bits of time, 42 of chance (UUIDv7)
    entity 5   tttttttt-tttt-7rrr-rrrr-rrrr00000005

So the UUID of any entity names its instance without a look-up (which also routes it to its shard), the core's ordinal
can be read off it, the rows of an instance lie side by side in every index, and replay gives the same ids again. The
instance is its own entity 0. An instance that is started with an idempotency key, or by a call, has an id derived from
that (UUIDv8): asked twice, it is the same instance.

A site of several databases says what the ids of its instances must be like (`choose`), so that each id tells where its
instance lives (examples/sharded). A definition has an id made of its key, version and content: what was deployed alike
has the same ids in each of them.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import count
from uuid import UUID

NIL = UUID(int=0)

ORDINAL_BITS = 32
_ORDINALS = (1 << ORDINAL_BITS) - 1
_VERSION = 0xF << 76
_VARIANT = 0b11 << 62


# What an id must be like; nothing, unless somebody chose.
_CHOICE: list[Callable[[UUID], bool]] = []


def choose(fits: Callable[[UUID], bool]) -> None:
    """From now on this process makes only such ids of instances: more are drawn until one fits. Every process of a site
    must choose alike, else a key would not lead to the same instance.
    """
    _CHOICE[:] = [fits]


def new_instance() -> UUID:
    """A fresh instance id: the time in milliseconds and chance."""
    return _chosen(_drawn())


def derived_instance(*parts: object) -> UUID:
    """The instance id that belongs to these parts (an actor and a key; a caller and its ticket)."""
    return _chosen(_derived(parts))


def definition(kind: str, key: str, version: int, *content: str) -> UUID:
    """The id of a deployed definition: the same wherever this content became this version of the key."""
    return _shaped(_hashed((kind, key, version, *content)), version=8, clear=_ORDINALS)


def derived(instance: UUID, *parts: object) -> UUID:
    """An id for a row without an ordinal (a variable, a link): near its instance, and the same each time."""
    prefix = instance.int >> 80 << 80
    return _shaped(prefix | (_hashed((instance.hex, *parts)) & ((1 << 80) - 1)), version=8, clear=0)


def entity(instance: UUID, ordinal: int) -> UUID:
    """The UUID of an entity of the instance. ValueError for an ordinal that no instance can give."""
    if not 0 <= ordinal <= _ORDINALS:
        raise ValueError(f"{ordinal} is no ordinal of an entity")
    return UUID(int=instance.int | ordinal)


def text(instance: UUID, ordinal: int) -> str:
    """The same as text, which is all that a document needs: without making the UUID."""
    if not 0 <= ordinal <= _ORDINALS:
        raise ValueError(f"{ordinal} is no ordinal of an entity")
    return f"{_stem(instance.int)}{ordinal:08x}"


def derived_text(instance: UUID, *parts: object) -> str:
    """What `derived` gives, as text; kept at hand for a variable that is set again and again."""
    return _derived_text(instance.int, parts)


# By number: a UUID hashes and compares in Python.
@lru_cache(maxsize=4096)
def _stem(instance: int) -> str:
    return str(UUID(int=instance))[:-8]


@lru_cache(maxsize=16384)
def _derived_text(instance: int, parts: tuple[object, ...]) -> str:
    return str(derived(UUID(int=instance), *parts))


def ordinal(id: UUID | str) -> int:
    """The core's ordinal of an entity's UUID."""
    return (id if isinstance(id, UUID) else UUID(id)).int & _ORDINALS


def ordinal_of_text(id: str) -> int:
    """The same of an id as the database writes it, without making the UUID."""
    return int(id[-8:], 16)


def instance_of(id: UUID) -> UUID:
    """The instance that an entity belongs to."""
    return UUID(int=id.int & ~_ORDINALS)


def _chosen(offered: Iterator[UUID]) -> UUID:
    return next(id for id in offered if not _CHOICE or _CHOICE[0](id))


def _drawn() -> Iterator[UUID]:
    while True:
        milliseconds = time.time_ns() // 1_000_000
        yield _shaped((milliseconds & ((1 << 48) - 1)) << 80 | secrets.randbits(80), version=7, clear=_ORDINALS)


def _derived(parts: tuple[object, ...]) -> Iterator[UUID]:
    yield _shaped(_hashed(parts), version=8, clear=_ORDINALS)
    for again in count(1):
        yield _shaped(_hashed((*parts, again)), version=8, clear=_ORDINALS)


def _hashed(parts: tuple[object, ...]) -> int:
    # Lengths stand before the parts: ("ab", "c") and ("a", "bc") differ.
    text = "".join(f"{len(str(part))}:{part}" for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def _shaped(number: int, *, version: int, clear: int) -> UUID:
    number &= ~(_VERSION | _VARIANT | clear)
    return UUID(int=number | version << 76 | 0b10 << 62)
