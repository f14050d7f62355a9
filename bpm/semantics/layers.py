"""Tables and sets of a state that are cheap to copy, however large the instance is.

A step decides on a copy of the state, and an instance of 10,000 tokens must not pay for all of them at each step. Small
ones are plain dicts and copied whole. A large one is split: a base that is shared and never changed again, and what was
changed since, which is all that a copy copies. When that part has grown to about the root of the base, the two are
merged anew.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any, overload

# Below this many entries copying a dict is as cheap as anything.
SMALL = 256
# A layer is merged when it has more entries than this, and than the root of the base.
THIN = 32


class Table[K, V](MutableMapping[K, V]):
    """A large dict in two layers. Nothing is ever deleted from it."""

    __slots__ = ("_base", "_own", "_shared")

    def __init__(self, base: dict[K, V], own: dict[K, V], *, shared: bool = False) -> None:
        """`shared`: another table has the upper layer, too; it is copied before the first change."""
        self._base = base
        self._own = own
        self._shared = shared

    def __getitem__(self, key: K) -> V:
        try:
            return self._own[key]
        except KeyError:
            return self._base[key]

    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get[D](self, key: K, default: D, /) -> V | D: ...
    def get(self, key: K, default: Any = None, /) -> Any:
        """The entry, or the default."""
        found = self._own.get(key)
        return self._base.get(key, default) if found is None and key not in self._own else found

    def __contains__(self, key: object) -> bool:
        return key in self._own or key in self._base

    def __setitem__(self, key: K, value: V) -> None:
        if self._shared:
            self._own = dict(self._own)
            self._shared = False
        self._own[key] = value

    def __delitem__(self, key: K) -> None:
        raise TypeError("nothing is deleted from a state")

    def __iter__(self) -> Iterator[K]:
        yield from self._base
        for key in self._own:
            if key not in self._base:
                yield key

    def __len__(self) -> int:
        return len(self._base) + sum(key not in self._base for key in self._own)

    def __bool__(self) -> bool:
        return bool(self._base or self._own)

    def thin(self) -> None:
        """Merge the layers, if the upper one has grown thick."""
        if _thick(self._own, self._base):
            self._base = {**self._base, **self._own}
            self._own = {}
            self._shared = False

    def split(self) -> Table[K, V]:
        """A table of its own with the same entries; both share the base, and the upper layer until one changes."""
        self.thin()
        self._shared = True
        return Table(self._base, self._own, shared=True)


class Members[T]:
    """A large set in two layers, in the shape of the small ones: a dict of which only the keys count."""

    __slots__ = ("_base", "_own")

    def __init__(self, base: dict[T, None], own: dict[T, bool]) -> None:
        self._base = base
        self._own = own

    def __contains__(self, item: T) -> bool:
        present = self._own.get(item)
        return item in self._base if present is None else present

    def __setitem__(self, item: T, value: None) -> None:
        self._own[item] = True

    def __delitem__(self, item: T) -> None:
        self._own[item] = False

    def __iter__(self) -> Iterator[T]:
        for item in self._base:
            if self._own.get(item, True):
                yield item
        for item, present in self._own.items():
            if present and item not in self._base:
                yield item

    def __len__(self) -> int:
        return len(self._base) + sum(p - (item in self._base) for item, p in self._own.items())

    def __bool__(self) -> bool:
        return next(iter(self), self) is not self

    def __eq__(self, other: object) -> bool:
        return set(self) == set(other) if isinstance(other, Members | dict) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def split(self) -> Members[T] | dict[T, None]:
        """A set of its own with the same items; a plain one where it has become small."""
        if not _thick(self._own, self._base):
            return Members(self._base, dict(self._own))
        merged = dict.fromkeys(self)
        return merged if len(merged) < SMALL else Members(merged, {})


type AnyTable[K, V] = dict[K, V] | Table[K, V]
type AnyMembers[T] = dict[T, None] | Members[T]


def split_table[K, V](table: AnyTable[K, V]) -> tuple[AnyTable[K, V], AnyTable[K, V]]:
    """Two tables with the entries of one, which changes no more: what takes its place, and a copy."""
    if isinstance(table, Table):
        return table, table.split()
    if len(table) < SMALL:
        return table, dict(table)
    return Table(table, {}), Table(table, {})


def split_members[T](members: AnyMembers[T]) -> AnyMembers[T]:
    """A copy of the set; the one given is changed no more."""
    if isinstance(members, Members):
        return members.split()
    return dict(members) if len(members) < SMALL else Members(members, {})


def _thick(own: dict[Any, Any], base: dict[Any, Any]) -> bool:
    return len(own) > THIN and len(own) ** 2 > len(base)
