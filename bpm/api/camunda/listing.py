"""Lists and counts: Camunda's filters, `firstResult` and `maxResults`, `sortBy` and `sortOrder`.

A list has one table (`Words`): what a filter asks of our query, or which of the rows that the query gives it keeps, and
what may be sorted by. A filter that the table has not is refused, since without it the list would be another. Of one
list READ rows are read at most; who asks for more is told to ask for less, as Camunda does with a limit on results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import UUID

from django.http import HttpRequest

from bpm.api.exact import ExactParser
from bpm.api.problems import Problem
from bpm.queries import instances
from bpm.queries.paging import LARGEST_SIZE, Page

READ = 10_000
LONGEST_VALUE = 40_000
PAGING = ("firstResult", "maxResults")
SORTING = ("sortBy", "sortOrder")
# There are no tenants: what is of none is all.
MEANINGLESS = frozenset({"withoutTenantId", "includeProcessDefinitionsWithoutTenantId"})

type Query = Callable[..., Page[Any]]
type Asks = Callable[[Any], Mapping[str, Any]]
type Keeps = Callable[[Any, str], bool]


@dataclass(frozen=True, slots=True)
class Words:
    """What a list may be asked by. `asks`: filter -> what it says to the query; `keeps`: filter -> whether a row is
    kept; `sorts`: word -> what a row is sorted by.
    """

    asks: Mapping[str, Asks] = field(default_factory=dict)
    keeps: Mapping[str, Keeps] = field(default_factory=dict)
    sorts: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)


# -- what a filter may be ---------------------------------------------------------------------------------------------


def text(name: str) -> Asks:
    """The text itself is what the query takes under that name."""
    return lambda value: {name: value}


def id(name: str) -> Asks:
    """An id; what is none names nothing that there is."""
    return lambda value: {name: _uuid(value)}


def when_true(**asked: Any) -> Asks:
    """Asks that where the filter is true; false asks nothing, as in Camunda."""
    return lambda value: asked if _true(value) else {}


def same(name: str) -> Keeps:
    """Rows in which it is that."""
    return lambda row, value: str(getattr(row, name)) == value


def one_of(name: str) -> Keeps:
    """Rows in which it is one of a list with commas."""
    return lambda row, value: str(getattr(row, name)) in value.split(",")


def like(name: str) -> Keeps:
    """Rows in which it is that, `%` standing for any text."""
    return lambda row, value: _is_like(str(getattr(row, name) or ""), value)


def holds(test: Callable[[Any], bool]) -> Keeps:
    """Rows of which that is so, where the filter is true; false keeps all, as in Camunda."""
    return lambda row, value: not _true(value) or test(row)


# -- a list -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks of a list."""

    query: Mapping[str, Any]
    keeps: Sequence[Callable[[Any], bool]]
    sort: Callable[[Any], Any] | None
    descending: bool
    first: int
    most: int | None


def listed(request: HttpRequest, query: Query, words: Words, **always: Any) -> list[Any]:
    """The rows that the request asks for. Raises Problem."""
    asked = asked_of(request, words)
    rows = _rows(query, asked, always)
    if asked.sort is not None:
        rows = iter(sorted(rows, key=asked.sort, reverse=asked.descending))
    return list(islice(rows, asked.first, None if asked.most is None else asked.first + asked.most))


def counted(request: HttpRequest, query: Query, words: Words, **always: Any) -> dict[str, int]:
    """How many there are. Raises Problem."""
    return {"count": sum(1 for _ in _rows(query, asked_of(request, words), always))}


def walked(query: Query, **asked: Any) -> Iterator[Any]:
    """The rows of all pages. Raises Problem where there are too many."""
    after: str | None = None
    for _ in range(READ // LARGEST_SIZE):
        page = query(**asked, after=after, size=LARGEST_SIZE)
        yield from page.items
        after = page.after
        if after is None:
            return
    raise Problem("search_too_wide", f"more than {READ} would have to be read: ask for less")


def definitions_of(rows: Sequence[Any]) -> dict[UUID, UUID]:
    """The definition of each row's instance."""
    found = instances.named(row.instance_id for row in rows)
    return {instance: definition for instance, (_key, definition) in found.items()}


def asked_of(request: HttpRequest, words: Words) -> Asked:
    """What the request asks: its query, and for POST its body, too. Raises Problem."""
    said = {name: value for name, value in request.GET.items() if value != ""}
    if request.method == "POST":
        said |= _body(request, said)
    asked: dict[str, Any] = {}
    keeps = []
    for name, value in said.items():
        if name in words.asks:
            for key, wanted in words.asks[name](value).items():
                if asked.setdefault(key, wanted) != wanted:
                    raise Problem("not_supported", f"{name} cannot be asked beside another filter of its kind here")
        elif name in words.keeps:
            keeps.append(_kept(words.keeps[name], str(value)))
        elif name not in (*PAGING, *SORTING) and name not in MEANINGLESS:
            raise Problem("not_supported", f"the filter {name[:60]} is not supported here")
    sort, descending = _sorting(said, words)
    return Asked(asked, keeps, sort, descending, _number(said, "firstResult") or 0, _number(said, "maxResults"))


def _rows(query: Query, asked: Asked, always: Mapping[str, Any]) -> Iterator[Any]:
    found = walked(query, **{**always, **asked.query})
    return (row for row in found if all(keep(row) for keep in asked.keeps))


def _body(request: HttpRequest, said: Mapping[str, Any]) -> dict[str, Any]:
    """The filters of a body, by the names and in the form of the query."""
    body = ExactParser().parse_body(request) if request.body else {}
    if not isinstance(body, dict) or not isinstance(sorting := body.pop("sorting", None) or [], list):
        raise Problem("invalid", "the body must be an object of filters")
    if len(sorting) > 1 or not all(isinstance(one, dict) and one.keys() <= set(SORTING) for one in sorting):
        raise Problem("not_supported", "a list is sorted by one word here, with its sortOrder")
    asked = {name: value for name, value in body.items() if value is not None and value != []}
    if twice := asked.keys() & said.keys():
        raise Problem("invalid", f"{', '.join(sorted(twice))} stands in the address and in the body")
    found = {name: value if name == "variables" else _plain(name, value) for name, value in asked.items()}
    return found | (dict(sorting[0]) if sorting else {})


def _plain(name: str, value: Any) -> str:
    """A value of a body as a query would have it."""
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case str():
            found = value
        case list() if all(isinstance(one, str) for one in value):
            found = ",".join(value)
        case _:
            raise Problem("not_supported", f"the filter {name[:60]} is not supported so here")
    if "\x00" in found or len(found) > LONGEST_VALUE or found.encode("utf-8", "replace").decode() != found:
        raise Problem("invalid", f"{name[:60]} is no text to be asked by")
    return found


def _kept(keeps: Keeps, value: str) -> Callable[[Any], bool]:
    return lambda row: keeps(row, value)


def _sorting(said: Mapping[str, Any], words: Words) -> tuple[Callable[[Any], Any] | None, bool]:
    by, order = (said.get(name) for name in SORTING)
    if by is None and order is None:
        return None, False
    if by is None or order not in ("asc", "desc"):
        raise Problem("invalid", "sortBy and sortOrder (asc or desc) are given together")
    if by not in words.sorts:
        known = ", ".join(words.sorts) or "nothing"
        raise Problem("not_supported", f"this list cannot be sorted by {str(by)[:60]} here, but by {known}")
    return words.sorts[by], order == "desc"


def _number(said: Mapping[str, Any], name: str) -> int | None:
    value = said.get(name)
    if value is None:
        return None
    if not (isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10):
        raise Problem("invalid", f"{name} must be a whole number")
    return int(value)


def _uuid(value: str) -> UUID:
    try:
        return UUID(value)
    except ValueError:
        return UUID(int=0)


def _true(value: str) -> bool:
    return value == "true"


def _is_like(found: str, pattern: str) -> bool:
    """Piece by piece, so that no pattern takes long."""
    first, *others = pattern.split("%")
    if not others:
        return found == pattern
    if not found.startswith(first):
        return False
    at, last = len(first), others.pop()
    for piece in others:
        place = found.find(piece, at)
        if place < 0:
            return False
        at = place + len(piece)
    return len(found) - len(last) >= at and found.endswith(last)
