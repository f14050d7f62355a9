"""Pages by key: the cursor names the last row seen, so that a page costs the same wherever it lies."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet

DEFAULT_SIZE = 25
LARGEST_SIZE = 200


class BadCursor(ValueError):
    """The cursor was not made by the list it is given to."""


@dataclass(frozen=True, slots=True)
class Page[T]:
    """Some items in order, the cursor of the page after them (None: there is none), and a name of all that it says."""

    items: tuple[T, ...]
    after: str | None = None
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """How many there are, counted up to a limit. `more`: the limit was reached, there may be others."""

    number: int
    more: bool = False

    def __str__(self) -> str:
        return f"{self.number}+" if self.more else str(self.number)

    def __bool__(self) -> bool:
        return self.more or self.number > 0


def tag_of(*what: Any) -> str:
    """A short name of data that consist of plain values: other data have another one."""
    return hashlib.sha256(repr(what).encode()).hexdigest()[:16]


def size_within(wanted: int | None) -> int:
    """A page's size as asked for, within the limits."""
    return max(1, min(wanted or DEFAULT_SIZE, LARGEST_SIZE))


def encode(values: Sequence[Any]) -> str:
    """A cursor of the values of the last row."""
    plain = [value.isoformat() if isinstance(value, datetime) else str(value) for value in values]
    return base64.urlsafe_b64encode(json.dumps(plain, separators=(",", ":")).encode()).decode().rstrip("=")


def decode(cursor: str, length: int) -> list[str]:
    """The values that `encode` wrote. Raises BadCursor."""
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError) as error:
        raise BadCursor("the cursor cannot be read") from error
    if not isinstance(values, list) or len(values) != length or not all(isinstance(value, str) for value in values):
        raise BadCursor("the cursor belongs to another list")
    return values


def page[M: Model, T](
    rows: QuerySet[M],
    order: Sequence[str],
    shape: Callable[[M], T],
    *,
    after: str | None = None,
    size: int | None = None,
) -> Page[T]:
    """One page of `rows` in the given order (column names, "-" for descending; together unique), each row shaped.

    Raises BadCursor.
    """
    limit = size_within(size)
    columns = [name.removeprefix("-") for name in order]
    if after:
        rows = rows.filter(_behind(rows, order, decode(after, len(order))))
    found = list(rows.order_by(*order)[: limit + 1])
    more = len(found) > limit
    found = found[:limit]
    cursor = encode([getattr(found[-1], name) for name in columns]) if more else None
    return Page(tuple(shape(row) for row in found), cursor)


def count_up_to(rows: QuerySet[Any], limit: int = 1000) -> Count:
    """How many rows there are, but never looking at more than `limit` of them."""
    number = rows.order_by()[: limit + 1].count()
    return Count(min(number, limit), number > limit)


def _behind(rows: QuerySet[Any], order: Sequence[str], values: list[str]) -> Q:
    """(a, b, c) behind the cursor, as PostgreSQL can walk an index: a <= x AND (a < x OR (a = x AND ...))."""
    typed: list[tuple[str, str, Any]] = []
    for name, value in zip(order, values, strict=True):
        column = name.removeprefix("-")
        try:
            typed.append(
                (column, "lt" if name.startswith("-") else "gt", rows.model._meta.get_field(column).to_python(value))
            )
        except ValidationError as error:
            raise BadCursor("the cursor belongs to another list") from error
    condition = Q()
    for column, beyond, value in reversed(typed):
        step = Q(**{f"{column}__{beyond}": value})
        condition = step | (Q(**{column: value}) & condition) if condition else step
    first, beyond, value = typed[0]
    return Q(**{f"{first}__{beyond}e": value}) & condition
