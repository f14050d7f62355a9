"""Instances found by the values of their variables: `amount:gt:100`, `customer:eq:Ada`, `approved:exists`.

Looked at are the variables of the process itself (not those of single activities), of instances whose rows are still
there. Types are those of JSON: 100 is a number and "100" a text, and one never equals the other. A date, a time or a
duration is found by its text. Single values of up to LONGEST characters lie in the index `variables_by_value`; lists,
objects and longer texts are only found by `exists` and `neq`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from bpm.models import ProcessInstance
from bpm.store.values import UnfitValue, dumps

LONGEST = 200  # as the SQL function bpm_searchable has it
MOST = 8
NAME_LIMIT = 255


class BadFilter(ValueError):
    """A condition on a variable that makes no sense; the message says why."""


@dataclass(frozen=True, slots=True)
class Condition:
    """`value` is a JSON value (None beside `exists` is no value)."""

    name: str
    operator: str
    value: Any = None


_ROWS = "SELECT v.instance_id FROM variables v WHERE v.scope = 0 AND v.present AND v.name = %s"
_KEY = "bpm_searchable(v.value)"
_OF_TYPE = f"jsonb_typeof({_KEY}) = jsonb_typeof(%s::jsonb)"

type Sql = tuple[str, list[Any]]


def _compared(sign: str) -> Callable[[Any], Sql]:
    """Within one type: all texts come before all numbers otherwise."""
    return lambda value: (f"{_KEY} {sign} %s::jsonb AND {_OF_TYPE}", [_json(value)] * 2)


def _like(value: Any) -> Sql:
    return f"jsonb_typeof({_KEY}) = 'string' AND {_KEY} #>> '{{}}' LIKE %s", [_text(value)]


def _starts_with(value: Any) -> Sql:
    return f"jsonb_typeof({_KEY}) = 'string' AND starts_with({_KEY} #>> '{{}}', %s)", [_text(value)]


OPERATORS: Mapping[str, Callable[[Any], Sql]] = {
    "eq": lambda value: (f"{_KEY} = %s::jsonb", [_json(value)]),
    "neq": lambda value: (f"{_KEY} IS DISTINCT FROM %s::jsonb", [_json(value)]),
    "gt": _compared(">"),
    "gteq": _compared(">="),
    "lt": _compared("<"),
    "lteq": _compared("<="),
    "like": _like,
    "startswith": _starts_with,
    "exists": lambda value: ("true", []),
}
_CONDITION = re.compile(rf"(?P<name>.+?):(?P<operator>{'|'.join(OPERATORS)})(?::(?P<value>.*))?", re.DOTALL)


def condition(text: str) -> Condition:
    """`name:operator:value` as a condition. The value is JSON where it reads as a number, true, false, null or a text
    in quotes, and otherwise the text itself. `name=value` means `eq`. Raises BadFilter.
    """
    found = _CONDITION.fullmatch(text)
    if found is not None:
        name, operator, value = found["name"], found["operator"], found["value"]
    elif "=" in text:
        name, value = text.split("=", 1)
        operator = "eq"
    else:
        raise BadFilter(f"{text[:60]!r} is no condition: write name:operator:value, with one of {', '.join(OPERATORS)}")
    if (value is None) != (operator == "exists"):
        raise BadFilter(f"{text[:60]!r}: exists takes no value, every other operator takes one")
    return Condition(name, operator, None if value is None else _read(value, operator))


def narrowed(rows: QuerySet[ProcessInstance], conditions: Iterable[Condition]) -> QuerySet[ProcessInstance]:
    """The instances of which all conditions hold. Raises BadFilter."""
    wanted = list(conditions)
    if len(wanted) > MOST:
        raise BadFilter(f"at most {MOST} conditions on variables")
    for one in wanted:
        if not 0 < len(one.name) <= NAME_LIMIT or "\x00" in one.name:
            raise BadFilter(f"{one.name[:60]!r} is no name of a variable")
        if one.operator not in OPERATORS:
            raise BadFilter(f"{one.operator[:60]!r} is no operator: {', '.join(OPERATORS)}")
        sql, given = OPERATORS[one.operator](one.value)
        rows = rows.filter(id__in=RawSQL(f"{_ROWS} AND {sql}", [one.name, *given]))  # noqa: S611
    return rows


def _read(text: str, operator: str) -> Any:
    if operator in ("like", "startswith"):
        return text
    try:
        value = json.loads(text, parse_float=Decimal, parse_constant=_no_constant)
    except (ValueError, RecursionError, ArithmeticError):
        return text
    if isinstance(value, list | dict):
        raise BadFilter("instances are found by single values, not by lists or objects")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _json(value: Any) -> str:
    """The value as JSON text. Raises BadFilter for what lies in no index."""
    if isinstance(value, list | dict):
        raise BadFilter("instances are found by single values, not by lists or objects")
    if isinstance(value, str):
        _text(value)
    elif isinstance(value, int | Decimal) and not _short(value):
        raise BadFilter(f"a number of more than {LONGEST} digits lies in no index")
    try:
        return dumps(value)
    except UnfitValue as unfit:
        raise BadFilter(str(unfit)) from None


def _short(value: int | Decimal) -> bool:
    if isinstance(value, int):
        return abs(value) < 10**LONGEST
    return value.is_finite() and abs(value.adjusted()) < LONGEST and len(value.as_tuple().digits) <= LONGEST


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BadFilter("this operator compares texts")
    if len(value) > LONGEST:
        raise BadFilter(f"a text of more than {LONGEST} characters lies in no index")
    if "\x00" in value or re.search("[\ud800-\udfff]", value):
        raise BadFilter("no variable holds such a text")
    return value
