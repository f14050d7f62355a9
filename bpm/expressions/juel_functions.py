"""Functions of JUEL: Camunda's `currentUser`, `now`, `S`, Flowable's `vars:get`, and beans that the host registered."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType

from bpm.expressions.boundary import from_host
from bpm.expressions.errors import EvaluationFault
from bpm.expressions.host import Host
from bpm.expressions.juel_values import alike, compare, empty, equal, number, text
from bpm.expressions.limits import Budget, bounded

_ABSENT = object()


def call_function(name: str, arguments: list[object], host: Host, budget: Budget) -> object:
    """`name(arguments)`: a built-in function or a bean of that name; EvaluationFault if there is neither."""
    budget.charge()
    function = _FUNCTIONS.get(name)
    if function is not None:
        count, body = function
        if len(arguments) != count:
            raise EvaluationFault(f"{name}() got {len(arguments)} arguments", expected=str(count))
        return body(host, budget, *arguments)
    bean = host.beans.get(name)
    if bean is None:
        raise EvaluationFault(f"unknown function {name!r}", expected="a built-in function or a registered bean")
    return from_host(bean(*arguments))


def call_on_variable(
    name: str, variable: str, arguments: list[object], scope: Mapping[str, object], budget: Budget
) -> object:
    """Flowable's `vars:name(variable, arguments)`; an absent variable is null."""
    budget.charge()
    function = _ON_VARIABLES.get(name)
    if function is None:
        raise EvaluationFault(f"unknown function 'vars:{name}'", expected="one of " + ", ".join(sorted(_ON_VARIABLES)))
    fewest, most, body = function
    if not fewest <= len(arguments) <= most:
        raise EvaluationFault(f"vars:{name}() got {len(arguments)} arguments after the variable", expected=str(fewest))
    try:
        value = scope[variable]
    except KeyError:
        value = _ABSENT
    if name in ("exists", "notExists"):
        return (value is not _ABSENT) == (name == "exists")
    value = None if value is _ABSENT else value
    budget.charge(len(value) if isinstance(value, list | dict) else 0)
    return body(value, *arguments)


def read_json(value: object, budget: Budget) -> object:
    """Spin's `S(x)` and `JSON(x)`: a text is read as JSON with exact numbers, any other value is taken as it is."""
    if not isinstance(value, str):
        return value
    budget.room(len(value))
    budget.charge(len(value) // 20)
    try:
        return json.loads(value, parse_float=_exact, parse_int=_whole, parse_constant=_refuse)
    except ValueError:
        raise EvaluationFault(f"{value[:60]!r} is no JSON") from None


def _exact(digits: str) -> Decimal:
    found = number(digits)
    return found if isinstance(found, Decimal) else Decimal(found)


def _whole(digits: str) -> int | Decimal:
    return bounded(int(digits)) if len(digits) <= 35 else number(digits)


def _refuse(word: str) -> object:
    raise ValueError(word)


def _now(host: Host, budget: Budget) -> object:
    if host.now is None:
        raise EvaluationFault("there is no time in this place")
    return host.now()


_FUNCTIONS: MappingProxyType[str, tuple[int, Callable[..., object]]] = MappingProxyType(
    {
        "JSON": (1, lambda host, budget, value: read_json(value, budget)),
        "S": (1, lambda host, budget, value: read_json(value, budget)),
        "currentUser": (0, lambda host, budget: host.user),
        "currentUserGroups": (0, lambda host, budget: list(host.groups)),
        "dateTime": (0, _now),
        "now": (0, _now),
    }
)


def _contains(value: object, sought: object) -> bool:
    if isinstance(value, str):
        return text(sought, Budget()) in value
    return isinstance(value, list) and any(alike(item, sought) for item in value)


def _ordered(operator: str) -> tuple[int, int, Callable[..., object]]:
    return 1, 1, lambda value, other: value is not None and compare(operator, value, other)


_ON_VARIABLES: MappingProxyType[str, tuple[int, int, Callable[..., object]]] = MappingProxyType(
    {
        "contains": (1, 20, lambda value, *sought: all(_contains(value, item) for item in sought)),
        "containsAny": (1, 20, lambda value, *sought: any(_contains(value, item) for item in sought)),
        "eq": (1, 1, equal),
        "equals": (1, 1, equal),
        "exists": (0, 0, bool),
        "get": (0, 0, lambda value: value),
        "getOrDefault": (1, 1, lambda value, default: default if value is None else value),
        "greaterThan": _ordered(">"),
        "greaterThanOrEquals": _ordered(">="),
        "gt": _ordered(">"),
        "gte": _ordered(">="),
        "isEmpty": (0, 0, empty),
        "isNotEmpty": (0, 0, lambda value: not empty(value)),
        "lowerThan": _ordered("<"),
        "lowerThanOrEquals": _ordered("<="),
        "lt": _ordered("<"),
        "lte": _ordered("<="),
        "ne": (1, 1, lambda value, other: not equal(value, other)),
        "notEquals": (1, 1, lambda value, other: not equal(value, other)),
        "notExists": (0, 0, bool),
    }
)
