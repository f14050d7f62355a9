"""The named statements of sql/*.sql of this package, and asking them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, LiteralString

import psycopg

from bpm.store.channel import Channel, django_channel
from bpm.store.errors import understood
from bpm.store.statements import statements_of


@cache
def all_statements() -> dict[str, LiteralString]:
    """name -> SQL."""
    return statements_of(__package__ or "")


def sql(name: str) -> LiteralString:
    """The statement of that name; KeyError where there is none."""
    return all_statements()[name]


def ask(
    name: str, arguments: Mapping[str, Any] | None = None, *, channel: Channel | None = None
) -> list[tuple[Any, ...]]:
    """The rows of a named statement. Raises StoreError."""
    channel = channel or django_channel()
    try:
        return channel.send((sql(name), arguments))[0]
    except psycopg.Error as error:
        raise channel.translate(understood(error)) from error
