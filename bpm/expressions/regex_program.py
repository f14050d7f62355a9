"""A regular expression as a program for `regex_machine`: the text that elementpath makes of an XPath pattern, parsed.

| instruction | what it does |
|---|---|
| ("one", test) | the next character passes the test |
| ("run", test, least, most) | as many such characters as can be |
| ("split", first, second) | goes on at `first`; should that fail, at `second` |
| ("jump", at) | goes on there |
| ("save", n) | notes the place: groups begin at 2n and end at 2n + 1; higher numbers are places of loops |
| ("moved", n, past) | goes on past the loop where nothing was read since that place: a loop of nothing ends |
| ("back", n) | what group n holds comes again |
| ("begin",), ("end",) | the begin or the end of the text (flag m: of a line) |
| ("match",) | done |

What is repeated so and so often is written so often, up to MAX_PROGRAM.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from bpm.expressions.errors import LimitFault

type Code = list[tuple[Any, ...]]

MAX_PROGRAM = 20_000
MAX_DEPTH = 100
_QUANTIFIER = re.compile(r"([*+?]|\{([0-9]+)(,([0-9]*))?\})(\??)")
# What elementpath writes for the ends of a text, and for the begin of a line.
_END = r"$(?!\n\Z)"
_BEGIN = r"(?<!\n\Z)^"
_CLASS = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
_ENDLESS = 1 << 60


class Unreadable(ValueError):
    """The pattern is none."""


@dataclass(frozen=True, slots=True)
class Program:
    """`groups`: how many it has; `slots`: how many places it notes; `first`: what every match begins with, a class
    of characters (None: that is not known).
    """

    code: tuple[tuple[Any, ...], ...]
    groups: int
    slots: int
    first: str | None


def compiled(pattern: str) -> Program:
    """The program of a pattern in Python's dialect (what elementpath writes of it). Raises Unreadable, LimitFault."""
    reader = _Reader(pattern)
    tree = reader.choice(0)
    if reader.at < len(pattern):
        raise Unreadable(pattern)
    if reader.deepest > reader.groups:
        raise Unreadable(pattern)
    writer = _Writer(reader.groups)
    writer.write(tree)
    writer.add(("match",))
    return Program(tuple(writer.code), reader.groups, writer.slots, _first(tree))


def _first(tree: Tree) -> str | None:
    """The class of characters that every match begins with; None where a match may begin otherwise."""
    match tree:
        case ("one", text):
            return str(text)
        case ("all", [part, *_]) | ("group", _, part):
            return _first(part)
        case ("many", part, least, _, _) if least:
            return _first(part)
    return None


# A tree: ("one", text of a class or character), ("all", parts), ("any", choices), ("many", part, least, most, lazy),
# ("group", number or 0, part), ("back", n), ("begin",), ("end",).
type Tree = tuple[Any, ...]


class _Reader:
    """Holds the place in the pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.groups = 0
        self.deepest = 0  # the highest group that is referred to

    def choice(self, depth: int) -> Tree:
        if depth > MAX_DEPTH:
            raise LimitFault("a regular expression is nested too deeply", expected=f"{MAX_DEPTH} levels")
        choices = [self._sequence(depth)]
        while self._take("|"):
            choices.append(self._sequence(depth))
        return choices[0] if len(choices) == 1 else ("any", choices)

    def _sequence(self, depth: int) -> Tree:
        parts: list[Tree] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            parts.append(self._repeated(self._atom(depth)))
        return ("all", parts)

    def _repeated(self, part: Tree) -> Tree:
        found = _QUANTIFIER.match(self.pattern, self.at)
        if found is None:
            return part
        self.at = found.end()
        sign, low, comma, high, lazy = found.groups()
        if sign in ("*", "+", "?"):
            least, most = int(sign == "+"), 1 if sign == "?" else _ENDLESS
        else:
            least = int(low)
            most = least if comma is None else int(high) if high else _ENDLESS
        if most < least or _QUANTIFIER.match(self.pattern, self.at):
            raise Unreadable(self.pattern)
        return ("many", part, least, most, bool(lazy))

    def _atom(self, depth: int) -> Tree:
        pattern, at = self.pattern, self.at
        if self._take(_END):
            return ("end",)
        if self._take(_BEGIN):
            return ("begin",)
        character = pattern[at]
        if character == "[":
            found = _CLASS.match(pattern, at)
            if found is None:
                raise Unreadable(pattern)
            self.at = found.end()
            return ("one", found[0])
        if character == "(":
            return self._group(depth)
        if character == "\\":
            self.at += 2
            escaped = pattern[at + 1 : at + 2]
            if escaped.isdigit() and escaped != "0":
                digits = re.compile(r"[0-9]+").match(pattern, at + 1)
                assert digits is not None  # noqa: S101
                self.at = digits.end()
                self.deepest = max(self.deepest, int(digits[0]))
                return ("back", int(digits[0]))
            return ("one", pattern[at : at + 2])
        self.at += 1
        if character in "^$":
            return ("begin",) if character == "^" else ("end",)
        if character in "*+?{":
            raise Unreadable(pattern)
        return ("one", "." if character == "." else re.escape(character))

    def _group(self, depth: int) -> Tree:
        number = 0
        if self._take("(?:"):
            pass
        elif self.pattern.startswith("(?", self.at):
            raise Unreadable(self.pattern)
        else:
            self.at += 1
            self.groups += 1
            number = self.groups
        part = self.choice(depth + 1)
        if not self._take(")"):
            raise Unreadable(self.pattern)
        return ("group", number, part)

    def _take(self, text: str) -> bool:
        if not self.pattern.startswith(text, self.at):
            return False
        self.at += len(text)
        return True


class _Writer:
    """Holds the code that is written so far."""

    def __init__(self, groups: int) -> None:
        self.code: Code = []
        self.slots = 2 * (groups + 1)

    def add(self, *instructions: tuple[Any, ...]) -> int:
        self.code += instructions
        if len(self.code) > MAX_PROGRAM:
            raise LimitFault("a regular expression is too large", expected=f"{MAX_PROGRAM} steps of its program")
        return len(self.code) - 1

    def write(self, tree: Tree) -> None:
        match tree:
            case ("all", parts):
                for part in parts:
                    self.write(part)
            case ("any", choices):
                self._any(choices)
            case ("group", 0, part):
                self.write(part)
            case ("group", number, part):
                self.add(("save", 2 * number))
                self.write(part)
                self.add(("save", 2 * number + 1))
            case ("many", ("one", text), least, most, False):
                self.add(("run", text, least, most))
            case ("many", part, least, most, lazy):
                for _ in range(least):
                    self.write(part)
                if most >= _ENDLESS:
                    self._endless(part, lazy)
                else:
                    self._optional(part, most - least, lazy)
            case _:
                self.add(tree)

    def _any(self, choices: list[Tree]) -> None:
        ends = []
        for choice in choices[:-1]:
            split = self.add(("split", 0, 0))
            self.write(choice)
            ends.append(self.add(("jump", 0)))
            self.code[split] = ("split", split + 1, len(self.code))
        self.write(choices[-1])
        for end in ends:
            self.code[end] = ("jump", len(self.code))

    def _endless(self, part: Tree, lazy: bool) -> None:
        place = self.slots
        self.slots += 1
        split = self.add(("split", 0, 0))
        self.add(("save", place))
        self.write(part)
        past = self.add(("moved", place, 0), ("jump", split)) + 1
        self.code[past - 2] = ("moved", place, past)
        self._split(split, split + 1, past, lazy)

    def _optional(self, part: Tree, times: int, lazy: bool) -> None:
        splits = []
        for _ in range(times):
            splits.append(self.add(("split", 0, 0)))
            self.write(part)
        for split in splits:
            self._split(split, split + 1, len(self.code), lazy)

    def _split(self, at: int, into: int, past: int, lazy: bool) -> None:
        self.code[at] = ("split", past, into) if lazy else ("split", into, past)
