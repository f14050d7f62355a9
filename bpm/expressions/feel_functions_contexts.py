"""Built-in functions on contexts (DMN 1.5, 10.3.4.8), with Camunda's paths of keys."""

from __future__ import annotations

from typing import Any

from bpm.expressions.feel_signatures import Call, Declaration, Refused

type Context = dict[str, Any]


def _get_at(call: Call, context: object, keys: list[object]) -> object:
    for key in keys:
        context = _entry(context, key)
    return context


def _entry(context: object, key: object) -> object:
    if not isinstance(context, dict) or not isinstance(key, str) or key not in context:
        raise Refused(f"there is no entry {str(key)[:40]!r}")
    return context[key]


def _entries(call: Call, context: Context) -> list[Context]:
    call.budget.charge(len(context))
    return [{"key": key, "value": value} for key, value in context.items()]


def _from_entries(call: Call, entries: list[object]) -> Context:
    made: Context = {}
    for entry in entries:
        call.budget.charge()
        if not isinstance(entry, dict) or "value" not in entry or not isinstance(entry.get("key"), str):
            raise Refused("an entry is a context of key and value, the key a text")
        if entry["key"] in made:
            raise Refused(f"the key {entry['key'][:40]!r} comes twice")
        made[entry["key"]] = entry["value"]
    return made


def _put(call: Call, context: Context, key: str, value: object) -> Context:
    call.budget.charge(len(context))
    return {**context, key: value}


def _put_at(call: Call, context: Context, keys: list[object], value: object) -> Context:
    first, *rest = keys or [None]
    if not isinstance(first, str):
        raise Refused("a path is a list of texts, at least one")
    if not rest:
        return _put(call, context, first, value)
    inner = context.get(first, {})
    if not isinstance(inner, dict):
        raise Refused(f"{first[:40]!r} is no context")
    return _put(call, context, first, _put_at(call, inner, rest, value))


def _merge(call: Call, contexts: list[object]) -> Context:
    merged: Context = {}
    for context in contexts:
        if not isinstance(context, dict):
            raise Refused("not all items are contexts")
        call.budget.charge(len(context))
        merged |= context
    return merged


DECLARATIONS: tuple[Declaration, ...] = (
    ("get value", "m: context, key: string", lambda call, context, key: _entry(context, key)),
    ("get value", "context: context, keys: list", _get_at),
    ("get value", "context: context, key: string", lambda call, context, key: _entry(context, key)),
    ("get entries", "m: context", _entries),
    ("get entries", "context: context", _entries),
    ("context", "entries: list", _from_entries),
    ("context put", "context: context, key: string, value: any", _put),
    ("context put", "context: context, keys: list, value: any", _put_at),
    ("context merge", "contexts: list", _merge),
    # Camunda's older names
    ("put", "context: context, key: string, value: any", _put),
    ("put all", "*contexts: list", _merge),
)
