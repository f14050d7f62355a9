"""Where an instance lives, and working there.

The engine works on Django's default database. `using` puts a shard in its place, for this thread and for as long as the
block lasts: every verb, query and page of Tokentrail then works on that shard, and knows of no other.

A new instance goes where the hash of its business key says (`shard_for`). Its id says the same from then on
(`shard_of`): ids are drawn until they fit the shard on which they are made (`belongs_here`, told to the engine when
the app starts). That holds for whatever the engine starts there by itself, too: called processes stay with their
caller, and what a message starts stays where the message is. An id of a task, timer or token holds the id of its
instance, so `shard_of` takes those as well.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

SHARDS: tuple[str, ...] = tuple(settings.SHARDS)


def shard_for(key: str) -> str:
    """The shard of a business key, and so of whatever is said to it."""
    return SHARDS[int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") % len(SHARDS)]


def shard_of(id: UUID | str) -> str:
    """The shard of an instance, and of any task, timer or token of it: sixteen of its random bits name it."""
    return SHARDS[(UUID(str(id)).int >> 32 & 0xFFFF) % len(SHARDS)]


def current() -> str:
    """The shard that this thread works on. Raises LookupError where none was chosen."""
    alias = connections[DEFAULT_DB_ALIAS].alias
    shard = settings.SHARD if alias == DEFAULT_DB_ALIAS else alias
    if shard is None:
        raise LookupError("no shard was chosen: this belongs into a block of `using`")
    return shard


def belongs_here(id: UUID) -> bool:
    """Whether an instance of that id lives on the shard that this thread works on."""
    return shard_of(id) == current()


class OtherShard(Exception):
    """A transaction is open on one shard, and another one was asked for: one transaction cannot span both."""


@contextmanager
def using(shard: str) -> Iterator[None]:
    """Work on that shard. Raises OtherShard inside a transaction on another one."""
    there = connections[DEFAULT_DB_ALIAS]
    if shard in (there.alias, settings.SHARD if there.alias == DEFAULT_DB_ALIAS else None):
        yield
        return
    if there.in_atomic_block:
        raise OtherShard(f"a transaction on {current()} is open, and {shard} was asked for")
    # Django keeps the connections of each thread apart, so this is nothing to any other thread.
    connections[DEFAULT_DB_ALIAS] = connections[shard]
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = there
