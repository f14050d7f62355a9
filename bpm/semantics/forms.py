"""The fields of a form, checked as Camunda 7 checks them when a form is submitted (FormFieldHandler and validators).

A field has a type (string, long, boolean, date, enum; others are the site's own and hold anything) and constraints
(required, readonly, min, max, minlength, maxlength; others are Java classes and are not asked). What is not submitted
gets the field's default, where the task sees no variable of that name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from bpm.expressions import typed
from bpm.graph import Formula, Node
from bpm.semantics.formulas import seen_by, value
from bpm.semantics.state import UserTask
from bpm.semantics.work import Refused, Stuck, Work


def submitted(work: Work, task: UserTask, node: Node, variables: Mapping[str, Any]) -> dict[str, Any]:
    """What was submitted, with defaults. Refused (invalid) with every field that does not fit."""
    found, wrong = dict(variables), []
    seen = seen_by(work, task.token, None)
    for text in node.user.form_fields if node.user else ():
        field = json.loads(text)
        id = field.get("id", "")
        name = field.get("variable") or id
        if not name:
            continue
        if id in found and name != id:
            found[name] = found.pop(id)
        there = seen.get(name)
        if found.get(name) is None and there is None and field.get("default") is not None:
            found[name] = _default(work, task, field)
            field["writable"] = True  # nobody has written to it
        # What stands there already need not be submitted again, and is nobody's mistake.
        wrong += [f"{name} {problem}" for problem in problems(field, found.get(name), there=there is not None)]
    if wrong:
        raise Refused("invalid", f"the form is not filled in: {'; '.join(wrong)}")
    return found


def problems(field: Mapping[str, Any], content: Any, *, there: bool = False) -> list[str]:
    """What is wrong with a submitted value (None: none), as ends of sentences. `there`: it has one already."""
    if content in (None, ""):
        return ["is required"] if field.get("required") and not there else []
    if field.get("writable") is False:
        return ["is read-only"]
    kind = TYPES.get(field.get("type", ""))
    if kind is not None and not kind[1](content):
        return [f"must be {kind[0]}"]
    if field.get("type") == "enum" and content not in field.get("values", {}):
        return [f"must be one of {', '.join(field.get('values', {}))}"]
    found = (_exceeds(name, limit, content) for name, limit in sorted(field.get("constraints", {}).items()))
    return [problem for problem in found if problem]


def _exceeds(name: str, config: str, content: Any) -> str | None:
    """What a constraint has against the value; None where it holds, or is none that can be asked."""
    rule, limit = CONSTRAINTS.get(name), _number(config)
    size = _number(content) if name in ("min", "max") else Decimal(len(content)) if isinstance(content, str) else None
    if rule is None or limit is None or size is None or rule[1](size, limit):
        return None
    return rule[0].format(config)


def _number(content: Any) -> Decimal | None:
    """The number that a value is, or that a text says; None where it is none, or NaN or infinite."""
    if isinstance(content, bool) or not isinstance(content, int | float | str | Decimal):
        return None
    try:
        found = Decimal(repr(content) if isinstance(content, float) else content)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


# Digits of a `long`, and some more.
_LONGEST = 30


def _default(work: Work, task: UserTask, field: Mapping[str, Any]) -> Any:
    """The default as a value of the field's type: it is written as text, or computed."""
    try:
        found = value(work, task.token, Formula(text=field["default"]))
    except Stuck as stuck:
        raise Refused("invalid", f"the default of {field.get('id')} fails: {stuck.message}") from None
    if isinstance(found, str) and field.get("type") == "long":
        number = _number(found)
        # A text of ten characters can mean a number of megabytes: what no long holds stays a text, and is refused.
        return found if number is None or number.adjusted() >= _LONGEST else int(number)
    if isinstance(found, str) and field.get("type") == "boolean":
        return found.strip().lower() == "true"
    return found


def _whole(content: Any) -> bool:
    return isinstance(content, int) and not isinstance(content, bool)


# A date that is text is in the pattern of its field, which only the program that shows the form reads.
_DATES = ("date", "dateTime")


def _date(content: Any) -> bool:
    return isinstance(content, str) or (typed.is_typed(content) and content[typed.TYPE] in _DATES)


# type of a field -> (what a value of it is, in words; whether one is). Of other types nothing is known.
TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "string": ("a text", lambda content: isinstance(content, str)),
    "long": ("a whole number", _whole),
    "boolean": ("true or false", lambda content: isinstance(content, bool)),
    "date": ("a date", _date),
    "enum": ("a text", lambda content: isinstance(content, str)),
    "file": ("a file", lambda content: typed.as_file(content) is not None),
}

# constraint -> (what is wrong where it does not hold, whether it holds for the size and the limit)
CONSTRAINTS: dict[str, tuple[str, Callable[[Decimal, Decimal], bool]]] = {
    "min": ("must be at least {}", lambda size, limit: size >= limit),
    "max": ("must be at most {}", lambda size, limit: size <= limit),
    "minlength": ("must have at least {} characters", lambda size, limit: size >= limit),
    "maxlength": ("must have at most {} characters", lambda size, limit: size <= limit),
}
