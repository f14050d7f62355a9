"""A command's arguments in the log: what `runtime_state_command` keeps already is not written again.

A value that the command brings and that an event of the same commit writes unchanged under the same name stands in the
log once, as that event's row; the arguments name its ordinal under "@". Decoding gives back exactly what was encoded.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from bpm.semantics.changing import changed
from bpm.semantics.commands import Command, to_json
from bpm.semantics.events import Event
from bpm.store.values import dumps, in_order, normal

# Fields of commands that hold variables by name.
FIELDS = ("variables", "local_variables")
MARK = "@"


def encode(command: Command, events: Sequence[Event]) -> dict[str, Any]:
    """The arguments to store beside these events."""
    arguments = dict(to_json(command))
    written: dict[str, list[tuple[int, Any]]] = {}
    for ordinal, event in enumerate(events):
        if event.type == "VARIABLE_SET":
            written.setdefault(event.payload["name"], []).append((ordinal, event.payload["value"]))
    references: dict[str, dict[str, int]] = {}
    for field in FIELDS:
        if field not in arguments:
            continue
        kept = dict(arguments[field])
        for name, value in arguments[field].items():
            found = next((ordinal for ordinal, stored in written.get(name, ()) if _same(stored, value)), None)
            if found is not None:
                references.setdefault(field, {})[name] = found
                del kept[name]
        arguments[field] = kept
        if not kept and field in references:
            del arguments[field]
    if references:
        arguments[MARK] = references
    return arguments


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same text in the log: 1 is not True, and 1.0 not 1."""
    if type(one) is type(other) and isinstance(one, bool | int | str):
        return bool(one == other)
    return one is other or dumps(one) == dumps(other)


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


def normalised(command: Command, like: tuple[Command, Command] | None = None) -> Command:
    """The command with its values as the database would give them back; what is decided is decided with these. `like`:
    a command and what this made of it, from which the values are taken that both have.

    Raises UnfitValue for values that are no JSON.
    """
    values: dict[str, Any] = {}
    for name in command.__dataclass_fields__:
        value = getattr(command, name)
        if isinstance(value, dict) and value:
            known = like is not None and value is getattr(like[0], name, None)
            values[name] = getattr(like[1], name) if like is not None and known else normal(value)
    return changed(command, **values) if values else command
