"""The place in a FEEL text and the names known there; the grammar itself is in `parse_feel`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from bpm.expressions.cursor import Cursor, Token
from bpm.expressions.lex_feel import builtin_names, joined, read_feel


class FeelCursor(Cursor):
    """A place in a FEEL text: the names in scope, and names being read and declared."""

    def __init__(self, text: str, names: Iterable[str]) -> None:
        super().__init__(text)
        self.names = builtin_names().with_names(names)
        self.in_range = False
        """Whether the high end of a range is being read, where `[` may close it."""

    def read(self, position: int) -> Token:
        return read_feel(self.text, position, self.names)

    def end(self) -> None:
        if self.token.kind != "end":
            raise self.unexpected("an operator or the end")

    def words(self) -> str:
        """A name of one word or more: names and numbers that no operator separates belong together."""
        name = self.advance().text
        while self.token.kind == "name" or (self.token.kind == "number" and self.token.text.isdecimal()):
            name += " " + self.advance().text
        return name

    def member(self) -> str:
        if self.token.kind == "name":
            return self.words()
        if self.token.kind == "word":
            return self.advance().text
        raise self.unexpected("a name")

    def declared(self, *stops: str) -> str:
        """A name that is being declared: everything up to one of these."""
        start = end = self.token.position
        if self.token.kind not in ("name", "word"):
            raise self.unexpected("a name")
        first = self.token
        while self.token.kind != "end" and not self.at(*stops):
            end = self.advance().end
        return first.text if first.end == end else joined(self.text[start:end])

    def declare(self, name: str) -> None:
        self.names = self.names.with_names((name,))

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Names declared inside are forgotten afterwards."""
        outside = self.names
        yield
        self.names = outside

    @contextmanager
    def brackets(self) -> Iterator[None]:
        """Inside, `[` is a filter again."""
        outside, self.in_range = self.in_range, False
        yield
        self.in_range = outside
