"""A command's arguments in the log: what `runtime_state_command` keeps already is not written again.

A value that the command brings and that an event of the same commit writes unchanged under the same name stands in the
log once, as that event's row; the arguments name its ordinal under "@". Decoding gives back exactly what was encoded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

from bpm.semantics.commands import Command, to_json
from bpm.semantics.events import Event
from bpm.store.values import dumps, in_order, normal

# Fields of commands that hold variables by name.
FIELDS = ("variables", "local_variables")
MARK = "@"


def encode(command: Command, events: Sequence[Event]) -> dict[str, Any]:
    """The arguments to store beside these events."""
    arguments = dict(to_json(command))
    written: dict[str, list[tuple[int, str]]] = {}
    for ordinal, event in enumerate(events):
        if event.type == "VARIABLE_SET":
            written.setdefault(event.payload["name"], []).append((ordinal, dumps(event.payload["value"])))
    references: dict[str, dict[str, int]] = {}
    for field in FIELDS:
        if field not in arguments:
            continue
        kept = dict(arguments[field])
        for name, value in arguments[field].items():
            text = dumps(value)
            found = next((ordinal for ordinal, stored in written.get(name, ()) if stored == text), None)
            if found is not None:
                references.setdefault(field, {})[name] = found
                del kept[name]
        arguments[field] = kept
        if not kept and field in references:
            del arguments[field]
    if references:
        arguments[MARK] = references
    return arguments


def decode(arguments: dict[str, Any], values: dict[int, Any]) -> dict[str, Any]:
    """The arguments as the command's `to_json` gave them; `values`: what the commit's state commands wrote, by
    ordinal.
    """
    # A command's own numbers are floats (seconds); exact ones are found in variables alone.
    found: dict[str, Any] = {
        name: float(value) if isinstance(value, Decimal) else value for name, value in arguments.items() if name != MARK
    }
    for field, references in arguments.get(MARK, {}).items():
        named = {name: values[ordinal] for name, ordinal in references.items()}
        found[field] = in_order({**found.get(field, {}), **named})
    return found


def normalised(command: Command) -> Command:
    """The command with its values as the database would give them back; what is decided is decided with these.

    Raises UnfitValue for values that are no JSON.
    """
    changed: dict[str, Any] = {}
    for field in fields(command):
        value = getattr(command, field.name)
        if isinstance(value, dict) and value:
            changed[field.name] = normal(value)
    return replace(command, **changed) if changed else command
