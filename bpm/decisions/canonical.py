"""The JSON form of decisions, as stored: each object says what it `is` and leaves out what has its default value."""

from __future__ import annotations

import hashlib
import json
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any

from bpm.decisions import model

type Json = bool | int | str | list[Json] | dict[str, Json] | None

_CLASSES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(model.Expression, model.Entry, model.Context, model.Invocation, model.Function, model.Items),
        *(model.Relation, model.Conditional, model.Filter, model.Iteration),
        *(model.Input, model.Output, model.Rule, model.Table),
        *(model.InputData, model.Decision, model.Knowledge, model.Service),
        *(model.ItemType, model.Import, model.Model, model.Decisions),
    )
}


def to_json(decisions: model.Decisions) -> dict[str, Json]:
    """The decisions as JSON values; equal decisions give equal JSON."""
    encoded = _encode(decisions)
    return encoded if isinstance(encoded, dict) else {}


def from_json(data: Any) -> model.Decisions:
    """The decisions that `to_json` wrote; ValueError for anything else."""
    try:
        decoded = _decode(data)
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is not what was stored of decisions: {error}") from None
    if not isinstance(decoded, model.Decisions):
        raise ValueError("this is not what was stored of decisions")
    return decoded


def decisions_hash(data: dict[str, Json]) -> str:
    """SHA-256 in hex over the canonical text of `to_json`'s result."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _encode(value: Any) -> Json:
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    if not is_dataclass(value):
        return value  # type: ignore[no-any-return]
    kind: type = type(value)
    encoded: dict[str, Json] = {"is": kind.__name__}
    for name, default in _fields(kind):
        found = getattr(value, name)
        if default is MISSING or found != default:
            encoded[name] = _encode(found)
    return encoded


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_decode(item) for item in value)
    if not isinstance(value, dict):
        return value
    kind = _CLASSES[value["is"]]
    return kind(**{name: _decode(item) for name, item in value.items() if name != "is"})


@cache
def _fields(kind: Any) -> tuple[tuple[str, Any], ...]:
    return tuple((field.name, field.default) for field in fields(kind))
