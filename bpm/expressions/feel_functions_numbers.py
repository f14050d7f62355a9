"""Built-in functions on numbers (DMN 1.5, 10.3.4.5) and on truth (10.3.4.2), conversion to and from them included."""

from __future__ import annotations

import re
from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_DOWN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    ROUND_UP,
    Context,
    Decimal,
)
from typing import Any

from bpm.expressions.errors import EvaluationFault
from bpm.expressions.feel_operators import negate
from bpm.expressions.feel_signatures import Call, Declaration, Refused, whole_number
from bpm.expressions.feel_time import DaysDuration, MonthsDuration
from bpm.expressions.feel_values import decimal, number
from bpm.expressions.limits import DECIMAL128

type Number = int | Decimal

_ROUNDING = Context(prec=6300, Emax=999_999, Emin=-999_999)
_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")
_DURATION = "days and time duration|years and months duration"


def _rounder(mode: str) -> Any:
    def rounded(call: Call, value: Number, scale: Number | None = None) -> Number:
        places = 0 if scale is None else whole_number(scale)
        if not -6111 <= places <= 6176:
            raise Refused("the scale must be between -6111 and 6176")
        exact = decimal(value)
        exponent = exact.as_tuple().exponent
        if places >= 0 and isinstance(exponent, int) and -exponent <= places:
            return value
        step = Decimal((0, (1,), -places))
        return number(DECIMAL128.plus(exact.quantize(step, mode, _ROUNDING)))

    return rounded


def _absolute(call: Call, value: Any) -> object:
    if isinstance(value, DaysDuration):
        return DaysDuration(abs(value.nanoseconds))
    if isinstance(value, MonthsDuration):
        return MonthsDuration(abs(value.months))
    return negate(value, call.budget) if value < 0 else value


def _modulo(call: Call, dividend: Number, divisor: Number) -> Number:
    """The sign is the divisor's: `dividend - divisor * floor(dividend / divisor)`."""
    if not divisor:
        raise Refused("the divisor is zero")
    if type(dividend) is int and type(divisor) is int:
        return dividend % divisor
    quotient = DECIMAL128.divide(decimal(dividend), decimal(divisor)).to_integral_value(ROUND_FLOOR)
    return DECIMAL128.subtract(decimal(dividend), DECIMAL128.multiply(decimal(divisor), quotient))


def _square_root(call: Call, value: Number) -> Number:
    if value < 0:
        raise Refused("there is no root of a negative number")
    return number(DECIMAL128.sqrt(decimal(value)))


def _logarithm(call: Call, value: Number) -> Number:
    if value <= 0:
        raise Refused("there is no logarithm of zero or less")
    return number(DECIMAL128.ln(decimal(value)))


def _is_even(call: Call, value: Number) -> bool:
    return value % 2 == 0


def _is_odd(call: Call, value: Number) -> bool:
    return abs(value % 2) == 1


def _random(call: Call) -> object:
    """Deciding uses no chance: the program may hand in a function of that name as a bean."""
    return _from_host(call, "random number")


def _uuid(call: Call) -> object:
    return _from_host(call, "uuid")


def _from_host(call: Call, name: str) -> object:
    bean = call.host.beans.get(name)
    if bean is None:
        raise Refused("there is no chance here")
    return bean()


def _to_number(call: Call, text: str, grouping: str | None = None, point: str | None = None) -> Number:
    if grouping not in (None, " ", ",", ".") or point not in (None, ".", ",") or (grouping and grouping == point):
        raise Refused(
            "the grouping separator is a space, comma or point, the decimal separator another of the last two"
        )
    if grouping:
        text = text.replace(grouping, "")
    if point:
        text = text.replace(point, ".")
    if not _NUMBER.fullmatch(text):
        raise Refused(f"{text[:40]!r} is no number")
    return number(DECIMAL128.create_decimal(text))


def _not(call: Call, value: object) -> bool:
    if not isinstance(value, bool):
        raise Refused("not true or false")
    return not value


def _assert(call: Call, value: object, condition: object, cause: str | None = None) -> object:
    if condition is not True:
        raise EvaluationFault(cause or "the condition of an assert is not met")
    return value


def _error(call: Call, message: str | None = None) -> object:
    raise EvaluationFault(message or "the expression says that this is an error")


DECLARATIONS: tuple[Declaration, ...] = (
    ("number", "from: number", lambda call, value: value),
    ("number", "from: string", _to_number),
    ("number", "from: string, grouping separator: string~, decimal separator: string~", _to_number),
    ("decimal", "n: number, scale: number", _rounder(ROUND_HALF_EVEN)),
    ("floor", "n: number, scale: number?", _rounder(ROUND_FLOOR)),
    ("ceiling", "n: number, scale: number?", _rounder(ROUND_CEILING)),
    ("round up", "n: number, scale: number", _rounder(ROUND_UP)),
    ("round down", "n: number, scale: number", _rounder(ROUND_DOWN)),
    ("round half up", "n: number, scale: number", _rounder(ROUND_HALF_UP)),
    ("round half down", "n: number, scale: number", _rounder(ROUND_HALF_DOWN)),
    ("abs", f"n: number|{_DURATION}", _absolute),
    ("modulo", "dividend: number, divisor: number", _modulo),
    ("sqrt", "number: number", _square_root),
    ("log", "number: number", _logarithm),
    ("exp", "number: number", lambda call, value: number(DECIMAL128.exp(decimal(value)))),
    ("even", "number: number", _is_even),
    ("odd", "number: number", _is_odd),
    ("random number", "", _random),
    ("uuid", "", _uuid),
    ("not", "negand: any", _not),
    # Camunda's
    ("is defined", "value: any", lambda call, value: value is not None),
    ("get or else", "value: any, default: any", lambda call, value, default: default if value is None else value),
    ("assert", "value: any, condition: any, cause: string~?", _assert),
    ("error", "message: string~?", _error),
)
