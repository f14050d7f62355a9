"""JSON as the database keeps it: exact numbers, keys in jsonb's order, nothing that PostgreSQL would refuse or change.

The core knows no float: numbers are int or Decimal. jsonb sorts keys (shorter first, then by bytes) and drops
duplicates, so whatever comes from outside goes through `normal` before anything is decided with it; then what was
decided live, what is stored and what replay reads are equal.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

# Longest text of one command's values, in bytes; jsonb itself ends at 256 MB.
LARGEST = 64 * 1024 * 1024

_MARK = f"\x00{secrets.token_hex(12)}:"
_MARKED = re.compile(rf'"\\u0000{_MARK[1:]}([^"]*)"')
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


class UnfitValue(ValueError):
    """A value that cannot be stored as JSON; the message says which and why."""


def dumps(value: Any) -> str:
    """Compact JSON text. Decimals are written exactly; times as ISO 8601. Raises UnfitValue."""
    try:
        text = _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError) as fault:
        raise UnfitValue(f"no JSON value: {fault}") from None
    if _MARK[1:] in text:
        text = _MARKED.sub(r"\1", text)
    if "\\u0000" in text and _NUL.search(text):
        raise UnfitValue("no JSON value that can be stored: it holds a NUL character")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise UnfitValue("no JSON value that can be stored: it holds half of a surrogate pair") from None
    if size > LARGEST:
        raise UnfitValue(f"{size} bytes of JSON are more than the {LARGEST} that a command may bring")
    return text


def loads(text: str | bytes) -> Any:
    """The value of a JSON text: numbers with a point or an exponent as Decimal."""
    return _DECODER.decode(text if isinstance(text, str) else text.decode())


def moment(text: str) -> datetime:
    """A time as the database writes it: in UTC, whatever zone the session has. The core writes times as they are given
    to it.
    """
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is UTC else found.astimezone(UTC)


def normal(value: Any) -> Any:
    """The value as it would come back from the database. Raises UnfitValue (NaN, NUL, sets, text keys only, ...)."""
    dumps(value)
    return as_read(value)


def as_read(value: Any) -> Any:
    """The same for a value that has been written: keys, numbers and texts as they are read back."""
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, Mapping):
        return {key: as_read(value[key]) for key in sorted(value, key=_order)}
    if isinstance(value, list | tuple):
        return [as_read(item) for item in value]
    if isinstance(value, float | Decimal):
        return _number(Decimal(repr(value)) if isinstance(value, float) else value)
    return _plain(value)


def in_order(values: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping with its keys in jsonb's order."""
    return {key: values[key] for key in sorted(values, key=_order)}


def _order(key: str) -> tuple[int, bytes]:
    if not isinstance(key, str):
        raise UnfitValue(f"no JSON value: the key {key!r:.60} is no text")
    encoded = key.encode()
    return len(encoded), encoded


def _number(value: Decimal) -> int | Decimal:
    """As jsonb gives it back: without an exponent, an integer where nothing follows the point, no sign at zero."""
    text = format(abs(value) if value.is_zero() else value, "f")
    return Decimal(text) if "." in text else int(text)


def _plain(value: Any) -> str:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no value that can be stored")


class _Encoder(json.JSONEncoder):
    """Decimals leave as marked text and become numbers afterwards: the standard library writes no exact ones."""

    def default(self, o: Any) -> Any:
        if isinstance(o, Decimal):
            if not o.is_finite():
                raise ValueError(f"{o} is no number that can be stored")
            return f"{_MARK}{o:f}"
        if isinstance(o, Mapping):
            return dict(o)
        return _plain(o)

    def encode(self, o: Any) -> str:
        return super().encode(o)


_DECODER = json.JSONDecoder(parse_float=Decimal)
_ENCODER = _Encoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
