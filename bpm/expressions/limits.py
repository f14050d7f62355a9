"""What one expression may use. One set of limits for both languages.

There is no clock here: a limit by wall time would let the live engine and a replay disagree. Time is bounded by steps
instead, each of which costs bounded time, so that whatever goes in ends in a value or a `LimitFault` well under 200 ms:

- whoever loops charges one step an iteration, whoever calls charges one step a call;
- whoever does work in proportion to a value (a join, a sort, a comparison of lists) charges that size **before**
  doing it,
and whoever builds a text or a list asks `Budget.room` first.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, DecimalException, DivisionByZero, InvalidOperation, Overflow

from bpm.expressions.errors import LimitFault

MAX_SOURCE = 10_000
"""Characters of one source text."""
MAX_TOKENS = 5_000
"""Tokens of one source text."""
MAX_NESTING = 60
"""Levels of brackets, operands and bodies that a parser descends into."""
MAX_HEIGHT = 120
"""Height of a tree. Chains of `+`, `and`, `or` are flat nodes and do not count; `a.b.c` and `a = b = c` do."""
MAX_CALLS = 32
"""Function bodies (FEEL's own functions) entered inside each other."""
MAX_STEPS = 50_000
"""Iterations, calls and units of proportional work of one evaluation."""
MAX_TEXT = 1_000_000
"""Characters of a text that an expression builds."""
MAX_ITEMS = 100_000
"""Items of a list or range that an expression builds."""
MAX_WARNINGS = 20
"""Warnings kept of one evaluation."""

DECIMAL128 = Context(
    prec=34,
    Emax=6144,
    Emin=-6143,
    rounding=ROUND_HALF_EVEN,
    traps=[InvalidOperation, DivisionByZero, Overflow],
)
"""The only context numbers are computed in (IEEE 754 decimal128, as FEEL asks). It traps: no NaN, no Infinity."""

MAX_INTEGER = 10**34
"""Integers stay Python ints while |n| < MAX_INTEGER; beyond that they become Decimals of 34 digits."""


def bounded(value: int | Decimal) -> int | Decimal:
    """A number from outside as the languages hold it: an int below MAX_INTEGER or a Decimal of 34 digits.

    LimitFault for what decimal128 cannot hold: `int(Decimal("1e999999999"))` alone would take all memory there is.
    """
    if type(value) is int and -MAX_INTEGER < value < MAX_INTEGER:
        return value
    try:
        number = DECIMAL128.create_decimal(value)
    except DecimalException:
        number = None
    if number is None or not number.is_finite():
        raise LimitFault("a number is out of range", expected="at most 34 digits and an exponent of 6144")
    return number


class Budget:
    """What is left of one evaluation's allowance, and what it has to say. Made anew for each evaluation."""

    __slots__ = ("calls", "steps", "warnings")

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.steps = steps
        self.calls = 0
        self.warnings: list[str] = []

    def charge(self, steps: int = 1) -> None:
        """Pay for work that is about to be done; LimitFault when the allowance is spent."""
        self.steps -= steps
        if self.steps < 0:
            raise LimitFault("the expression takes too many steps", expected=f"at most {MAX_STEPS}")

    def room(self, size: int, limit: int = MAX_TEXT) -> None:
        """Ask before building something of this size (MAX_TEXT for texts, MAX_ITEMS for lists); LimitFault if too
        big.
        """
        if size > limit:
            raise LimitFault(f"the expression builds a value of size {size}", expected=f"at most {limit}")

    def enter(self) -> None:
        """Before evaluating the body of a function; pair it with `leave` in a finally. LimitFault when too deep."""
        self.calls += 1
        if self.calls > MAX_CALLS:
            raise LimitFault("functions call each other too deeply", expected=f"at most {MAX_CALLS} levels")

    def leave(self) -> None:
        """After the body of a function."""
        self.calls -= 1

    def warn(self, message: str) -> None:
        """Say why FEEL answered null; the first MAX_WARNINGS are kept."""
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(message)
