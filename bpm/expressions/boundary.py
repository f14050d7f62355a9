"""Where values leave the languages: into JSON (variables) and into decisions (conditions)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite

from bpm.expressions.errors import EvaluationFault
from bpm.expressions.limits import DECIMAL128
from bpm.expressions.typed import written

_MAX_EXPONENT = 6200
"""PostgreSQL stores exponents up to 131,071; what the languages compute stays below this."""

type Json = bool | int | Decimal | str | list[Json] | dict[str, Json] | None


def truth(value: object, text: str) -> bool:
    """What a condition decides: a boolean, or JUEL's "true" and "false" as text; text: the condition, for the fault.

    Anything else, null above all, is an EvaluationFault: a gateway that takes null for false routes wrongly without a
    trace.
    """
    if value is True or value is False:
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    shown = "null" if value is None else repr(value)[:80]
    raise EvaluationFault(f"the condition gives {shown}", text, expected="true or false")


def to_json(value: object) -> Json:
    """The value as JSON: exact numbers; dates, times and durations as `typed` writes them. EvaluationFault for anything
    that is no value.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | Decimal) and _is_number(value):
        return value
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {_key(key): to_json(item) for key, item in value.items()}
    typed = written(value)
    if typed is None:
        raise EvaluationFault(
            f"{type(value).__name__} is no value that can be stored",
            expected="null, boolean, number, text, time, list or map",
        )
    return typed


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise EvaluationFault(f"{key!r:.80} is no key of a map", expected="text")
    return key


def _is_number(value: int | Decimal) -> bool:
    if isinstance(value, Decimal):
        if not value.is_finite() or abs(value.adjusted()) > _MAX_EXPONENT:
            raise EvaluationFault(f"{value} is no number that can be stored", expected="a finite number in range")
        return True
    return type(value) is int


def from_host(value: object) -> object:
    """What a bean returned, as a value of the languages: floats become Decimals, tuples lists; EvaluationFault for
    other objects.
    """
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, float):
        return DECIMAL128.create_decimal(repr(value)) if isfinite(value) else _refuse(value)
    if isinstance(value, list | tuple):
        return [from_host(item) for item in value]
    if isinstance(value, Mapping):
        return {_key(key): from_host(item) for key, item in value.items()}
    return _refuse(value)


def _refuse(value: object) -> object:
    raise EvaluationFault(
        f"a bean returned {type(value).__name__}", expected="null, boolean, number, text, time, list or map"
    )


_PLAIN = frozenset({bool, int, Decimal, str, date, time, datetime, timedelta})
