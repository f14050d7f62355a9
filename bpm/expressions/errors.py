"""What can go wrong with an expression, always with the text, the place in it and what was expected there.

Three kinds, because three different people answer for them: a `SyntaxFault` is the modeller's (refused at deployment),
an `EvaluationFault` is the data's (an incident), a `LimitFault` is an attack or an accident (an incident as well).
FEEL itself knows no errors at run time, only null: FEEL closures answer None and `Budget.warn`, and raise an
EvaluationFault only where the host, not the language, is at fault.
"""

from __future__ import annotations

_SHOWN = 200


class ExpressionError(Exception):
    """An expression that cannot be read or evaluated.

    message: what is wrong, in words; text: the whole source ("" until known); position: the character in it, from 0;
    expected: what would have been right there ("" where that makes no sense).
    """

    def __init__(self, message: str, text: str = "", position: int | None = None, expected: str = "") -> None:
        super().__init__(message, text, position, expected)
        self.message = message
        self.text = text
        self.position = position
        self.expected = expected

    def within(self, text: str) -> ExpressionError:
        """This fault, with the source named; a fault that already names one keeps it."""
        self.text = self.text or text
        return self

    def at(self, position: int) -> ExpressionError:
        """This fault, with its place named; a fault that already has one keeps it (the innermost node knows best)."""
        self.position = position if self.position is None else self.position
        return self

    def __reduce__(self) -> tuple[type[ExpressionError], tuple[str, str, int | None, str]]:
        return type(self), (self.message, self.text, self.position, self.expected)

    def __str__(self) -> str:
        said = self.message
        if self.expected:
            said += f", expected {self.expected}"
        if self.position is not None:
            said += f" at position {self.position}"
        if self.text:
            said += f" in {self.text[:_SHOWN]!r}" + ("..." if len(self.text) > _SHOWN else "")
        return said


class SyntaxFault(ExpressionError):
    """The text is no expression of its language."""


class EvaluationFault(ExpressionError):
    """The expression has no value with these variables: an unknown name, a refused method, a wrong type."""


class LimitFault(ExpressionError):
    """The text, a value or the work exceeded what one expression may use."""
