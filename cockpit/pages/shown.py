"""What a page answers with; the site adds its frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest

from bpm.queries.paging import BadCursor, Page

# The address below the site's, its name, and what answers there.
type Route = tuple[str, str, Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class Shown:
    """A template with what it says; `context` may be a function, which reads it where it is really shown.

    `fragment`: only a part of a page, asked for by htmx, without the frame. `tag` names the state that the part which
    changes is of: who has it already is not sent it again. A fragment without one is rendered to be compared.
    """

    template: str
    title: Any = ""
    context: dict[str, Any] | Callable[[], dict[str, Any]] = field(default_factory=dict)
    fragment: bool = False
    tag: str = ""

    def said(self) -> dict[str, Any]:
        """The context, read where that is still to be done."""
        return self.context() if callable(self.context) else self.context


def first(request: HttpRequest, name: str) -> str:
    """A query parameter, stripped, without the character that no text of PostgreSQL has; "" where it is absent."""
    return request.GET.get(name, "").replace("\x00", "").strip()


def exact(text: str) -> str | None:
    """What a choice of exactly one text stands for: "" for any (None), "=" and the text, which may be empty."""
    return text.removeprefix("=") if text else None


def page_of[T](listed: Callable[..., Page[T]], request: HttpRequest, **wanted: Any) -> Page[T]:
    """The page of a list that the request's `after` names; an empty one where that is no cursor of the list."""
    try:
        return listed(after=first(request, "after") or None, **wanted)
    except BadCursor:
        return Page(())


def kept(request: HttpRequest, *names: str) -> str:
    """The query string of the given parameters that are set: links of a list keep its filters."""
    query = request.GET.copy()
    for name in list(query):
        if name not in names or not query[name]:
            del query[name]
    return query.urlencode()
