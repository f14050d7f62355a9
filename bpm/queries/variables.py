"""Variables of an instance, and instances found by the values of their variables: `amount:gt:100`, `customer:eq:Ada`,
`approved:exists`.

Looked at in a search are the variables of the process itself (not those of single activities), of instances whose rows
are still there. Types are those of JSON: 100 is a number and "100" a text, and one never equals the other. A date, a
time or a duration is found by its text. Single values of up to LONGEST characters lie in the index
`variables_by_value`; lists, objects and longer texts are only found by `exists` and `neq`.

The instances of a condition are looked up first, FEW of them: where there are no more, those are what is listed. A
condition that holds for more is asked of one instance after the other, in the order of the list, until its page is
full. So what holds seldom costs what it finds, and what holds often is soon found; neither depends on what the planner
believes of values. It is dear where conditions each hold often but seldom together, or only of instances that other
filters leave out, or far down the list: then instances are asked to its end. And what `like`, `startswith` and `neq`
read is all values of a name. `limits.at_most` sets all of this one limit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS
from django.db.models import BooleanField, QuerySet, TextField
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast

from bpm.models import ProcessInstance, Token, Variable
from bpm.queries import rows
from bpm.queries.replica import reading
from bpm.store.values import UnfitValue, dumps

LISTED = 10_000
LONGEST = 200  # as the SQL function bpm_searchable has it
MOST = 8
NAME_LIMIT = 255


def variables_in(instance_id: UUID, scopes: Iterable[int] | None = None, *, limit: int) -> list[rows.Variable]:
    """The variables that have a value now, of these scopes (None: of all), those of the process first, by name."""
    found = Variable.objects.filter(instance_id=instance_id, present=True).order_by("scope", "name")
    return _shaped(found if scopes is None else found.filter(scope__in=scopes), limit)


def variable(instance_id: UUID, name: str, scope: int = 0) -> rows.Variable | None:
    """One variable; None where it has no value now."""
    found = Variable.objects.filter(instance_id=instance_id, present=True, scope=scope, name=name)
    return next(iter(_shaped(found, 1)), None)


def variables_seen(instance_id: UUID, token_id: UUID) -> list[rows.Variable] | None:
    """The variables that a token sees, inner ones in place of outer ones of the same name; None for no token of it."""
    scopes: list[int] = []
    at = token_id
    while at != instance_id:
        token = Token.objects.filter(id=at, instance_id=instance_id).values_list("local_scope", "scope_id").first()
        if token is None:
            return None
        scopes += [token[0]] if token[0] else []
        at = token[1]
    inner_last = {scope: place for place, scope in enumerate((0, *reversed(scopes)))}
    found = variables_in(instance_id, inner_last, limit=LISTED)
    seen = {one.name: one for one in sorted(found, key=lambda one: inner_last[one.scope])}
    return [seen[name] for name in sorted(seen)]


def names_of_own(tokens: Iterable[UUID]) -> dict[UUID, frozenset[str]]:
    """token -> the names of the variables in its own scope: of now, whatever a replica knows, since a worker has just
    locked their tasks.
    """
    now = Token.objects.using(DEFAULT_DB_ALIAS).filter(id__in=list(tokens))
    scopes = {id: (instance, scope) for id, instance, scope in now.values_list("id", "instance_id", "local_scope")}
    instances, locals_ = {one for one, _ in scopes.values()}, {scope for _, scope in scopes.values() if scope}
    own = Variable.objects.using(DEFAULT_DB_ALIAS).filter(instance_id__in=instances, scope__in=locals_, present=True)
    names: dict[tuple[UUID, int], set[str]] = {}
    for instance, scope, name in own.values_list("instance_id", "scope", "name"):
        names.setdefault((instance, scope), set()).add(name)
    return {id: frozenset(names.get(place, ())) for id, place in scopes.items()}


def _shaped(found: QuerySet[Variable], limit: int) -> list[rows.Variable]:
    # As text, so that numbers stay exact.
    read = found.annotate(text=Cast("value", TextField())).values_list("name", "text", "scope", "commit_at")
    return [
        rows.Variable(name=name, value=json.loads(text, parse_float=Decimal), scope=scope, changed_at=at)
        for name, text, scope, at in read[:limit]
    ]


class BadFilter(ValueError):
    """A condition on a variable that makes no sense; the message says why."""


@dataclass(frozen=True, slots=True)
class Condition:
    """`value` is a JSON value (None beside `exists` is no value)."""

    name: str
    operator: str
    value: Any = None


FEW = 10_000
_VARIABLE = "FROM variables v WHERE v.scope = 0 AND v.present AND v.name = %s"
_KEY = "bpm_searchable(v.value)"
# In the order of the index, so that it is read by that and no other way, and no further than wanted.
_MATCHES = f"SELECT v.instance_id {_VARIABLE} AND {{}} ORDER BY {_KEY} LIMIT %s"
# OFFSET keeps the planner from turning it into a join with all variables of the name.
_HOLDS = f"EXISTS (SELECT {_VARIABLE} AND v.instance_id = process_instances.id AND {{}} OFFSET 0)"
_OF_TYPE = f"jsonb_typeof({_KEY}) = jsonb_typeof(%s::jsonb)"

type Sql = tuple[str, list[Any]]


def _compared(sign: str) -> Callable[[Any], Sql]:
    """Within one type: all texts come before all numbers otherwise."""
    return lambda value: (f"{_KEY} {sign} %s::jsonb AND {_OF_TYPE}", [_json(value)] * 2)


def _like(value: Any) -> Sql:
    pattern = _text(value)
    if (len(pattern) - len(pattern.rstrip("\\"))) % 2:
        raise BadFilter("a pattern of like does not end in a single backslash: that escapes what comes after it")
    return f"jsonb_typeof({_KEY}) = 'string' AND {_KEY} #>> '{{}}' LIKE %s", [pattern]


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


def narrowed(found: QuerySet[ProcessInstance], conditions: Iterable[Condition]) -> QuerySet[ProcessInstance]:
    """The instances of which all conditions hold. Raises BadFilter."""
    wanted = list(conditions)
    if len(wanted) > MOST:
        raise BadFilter(f"at most {MOST} conditions on variables")
    for one in wanted:
        if not 0 < len(one.name) <= NAME_LIMIT or "\x00" in one.name:
            raise BadFilter(f"{one.name[:60]!r} is no name of a variable")
        if one.operator not in OPERATORS:
            raise BadFilter(f"{one.operator[:60]!r} is no operator: {', '.join(OPERATORS)}")
    few: set[UUID] | None = None
    for one in wanted:
        sql, given = OPERATORS[one.operator](one.value)
        with reading() as cursor:
            cursor.execute(_MATCHES.format(sql), [one.name, *given, FEW + 1])
            matches = {row[0] for row in cursor.fetchall()}
        if len(matches) <= FEW:
            few = matches if few is None else few & matches
        else:
            holds = RawSQL(_HOLDS.format(sql), [one.name, *given], BooleanField())  # noqa: S611
            found = found.filter(holds)
    if few is None:
        return found
    return found.filter(id__in=RawSQL("SELECT unnest(%s::uuid[])", [list(few)])) if few else found.none()


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
