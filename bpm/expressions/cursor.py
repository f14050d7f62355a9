"""What both parsers stand on: tokens, the place in the text, and the words for what was expected there."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal, DecimalException

from bpm.expressions.errors import LimitFault, SyntaxFault
from bpm.expressions.limits import DECIMAL128, MAX_NESTING, MAX_SOURCE, MAX_TOKENS
from bpm.expressions.tree import Constant

_EXACT_DIGITS = 34


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text from position to end.

    kind: "number", "text", "name", "word" (a keyword), "sign" (an operator or bracket) or "end";
    text: its canonical spelling (JUEL's `and` is the sign `&&`); value: what a number or text denotes.
    """

    kind: str
    text: str
    position: int
    end: int
    value: Constant = None

    @property
    def shown(self) -> str:
        """The token as an error message names it."""
        return "the end" if self.kind == "end" else repr(self.text)[:60]


def number(digits: str, text: str, position: int) -> int | Decimal:
    """What a number in the text denotes: an int if exact, else a Decimal of 34 digits; SyntaxFault when it is out of
    range.
    """
    if digits.isdecimal() and len(digits) <= _EXACT_DIGITS:
        return int(digits)
    try:
        return DECIMAL128.create_decimal(digits)
    except DecimalException:
        expected = "at most 34 digits and an exponent of 6144"
        raise SyntaxFault(f"the number {digits[:40]} is too large", text, position, expected) from None


class Cursor:
    """A place in a text, one token ahead. Subclasses say how a token is read, and parse."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_SOURCE:
            raise LimitFault(f"the text has {len(text)} characters", text, expected=f"at most {MAX_SOURCE}")
        self.text = text
        self.tokens = 0
        self.nesting = 0
        self.token = Token("end", "", 0, 0)

    @abstractmethod
    def read(self, position: int) -> Token:
        """The token at or after this position."""

    def start(self, position: int) -> None:
        """Stand before the first token at or after this position."""
        self.token = self.read(position)

    def advance(self) -> Token:
        """Step over the current token and return it."""
        passed = self.token
        self.tokens += 1
        if self.tokens > MAX_TOKENS:
            raise LimitFault("the text has too many tokens", self.text, passed.position, f"at most {MAX_TOKENS}")
        self.token = self.read(passed.end)
        return passed

    def peek(self) -> Token:
        """The token after the current one."""
        return self.read(self.token.end)

    def at(self, *spellings: str) -> bool:
        """Whether the current token is one of these signs or words."""
        return self.token.text in spellings and self.token.kind in ("sign", "word")

    def accept(self, spelling: str) -> bool:
        """Step over this sign or word if it is there."""
        if self.at(spelling):
            self.advance()
            return True
        return False

    def expect(self, spelling: str) -> Token:
        """Step over this sign or word; SyntaxFault if it is not there."""
        if not self.at(spelling):
            raise self.unexpected(repr(spelling))
        return self.advance()

    def unexpected(self, expected: str) -> SyntaxFault:
        """The fault that something else was expected at the current token."""
        return self.fault(f"unexpected {self.token.shown}", self.token.position, expected)

    def fault(self, message: str, position: int, expected: str) -> SyntaxFault:
        """A syntax fault in this text."""
        return SyntaxFault(message, self.text, position, expected)

    def descend(self) -> None:
        """One level further down; LimitFault beyond MAX_NESTING. (A fault ends the parser and restores nothing.)"""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise LimitFault(
                "the expression nests too deeply", self.text, self.token.position, f"at most {MAX_NESTING} levels"
            )

    def ascend(self) -> None:
        """Back from where `descend` went."""
        self.nesting -= 1
