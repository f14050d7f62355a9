"""One JSON form of a graph: keys sorted, empty fields left out, so that equal graphs have equal text and hash."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import types
import typing
from typing import Any

from bpm.graph import model


def to_json(process: model.Process) -> dict[str, Any]:
    """The process as JSON values (str, int, bool, list, dict). Fields that hold their default are left out."""
    encoded = _encode(process)
    assert isinstance(encoded, dict)
    return encoded


def from_json(data: dict[str, Any]) -> model.Process:
    """The process that `to_json` wrote. Raises KeyError or TypeError where the data was not written by it."""
    process = _decode(model.Process, data)
    assert isinstance(process, model.Process)
    return process


def graph_hash(data: dict[str, Any]) -> str:
    """SHA-256 in hex over the canonical text of `to_json`'s result."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _encode(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            f.name: _encode(getattr(value, f.name))
            for f in dataclasses.fields(value)
            if getattr(value, f.name) != _default(f)
        }
    if isinstance(value, dict):
        return {key: _encode(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    return value


def _default(f: dataclasses.Field[Any]) -> Any:
    if f.default_factory is not dataclasses.MISSING:
        return f.default_factory()
    return f.default


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _decode(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        return _decode(next(a for a in typing.get_args(hint) if a is not type(None)), value)
    if origin is tuple:
        args = typing.get_args(hint)
        if len(args) == 2 and args[1] is Ellipsis:
            return tuple(_decode(args[0], item) for item in value)
        return tuple(_decode(a, item) for a, item in zip(args, value, strict=True))
    if origin is dict:
        return {key: _decode(typing.get_args(hint)[1], item) for key, item in value.items()}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        hints = _hints(hint)
        return hint(**{key: _decode(hints[key], item) for key, item in value.items()})
    return value
