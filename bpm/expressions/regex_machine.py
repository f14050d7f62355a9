"""Runs the program of a regular expression, step by counted step: it tries one way after the other, and stops where the
allowance is spent. No clock decides: the same pattern and text cost the same steps everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import regex

from bpm.expressions.limits import Budget
from bpm.expressions.regex_program import Program

# So many steps of the machine cost one of the expression's. A step takes a fraction of a microsecond.
STEPS = 3
# Comparing so many characters, or copying so many places, is a step of the machine.
AT_ONCE = 64
# Looking for the first character of a match is the work of C.
SKIPS = 512
# Of so many characters a test remembers whether they pass it.
REMEMBERED = 2_000


@dataclass(frozen=True, slots=True)
class Match:
    """`places`: where groups begin and end (-1: not at all); group 0 is the match."""

    text: str
    places: tuple[int, ...]

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.places[0]

    @property
    def end(self) -> int:
        """Behind its last character."""
        return self.places[1]

    def __getitem__(self, group: int) -> str | None:
        start, end = self.places[2 * group], self.places[2 * group + 1]
        return None if start < 0 or end < 0 else self.text[start:end]


class Machine:
    """A program with its tests, ready to run. It remembers which characters pass them."""

    __slots__ = ("_code", "_first", "_flags", "_groups", "_slots")

    def __init__(self, program: Program, flags: int) -> None:
        tests: dict[str, _Passes] = {}
        self._code = tuple(_with_test(step, tests, flags) for step in program.code)
        self._groups = program.groups
        self._slots = program.slots
        self._flags = flags
        self._first = None if program.first is None else regex.compile(program.first, flags)

    @property
    def groups(self) -> int:
        """How many groups the pattern has."""
        return self._groups

    def find_all(self, text: str, budget: Budget) -> Iterator[Match]:
        """The matches from left to right that do not overlap; one of nothing is not found twice at a place."""
        at, empty_at = 0, -1
        while at <= len(text):
            found = self._search(text, at, empty_at, budget)
            if found is None:
                return
            yield found
            at = found.end
            empty_at = at if found.end == found.start else -1

    def _search(self, text: str, at: int, empty_at: int, budget: Budget) -> Match | None:
        while at <= len(text):
            if self._first is not None:
                found = self._first.search(text, at)
                if found is None:
                    budget.charge((len(text) - at) // SKIPS + 1)
                    return None
                budget.charge((found.start() - at) // SKIPS + 1)
                at = found.start()
            places = self._run(text, at, at == empty_at, budget)
            if places is not None:
                return Match(text, places[: 2 * self._groups + 2])
            at += 1
        return None

    def _run(self, text: str, start: int, not_empty: bool, budget: Budget) -> tuple[int, ...] | None:
        code, size = self._code, len(text)
        multiline = bool(self._flags & regex.MULTILINE)
        # Ways still to be tried, the next one last: (step, place, notes, lowest place of a run or -1).
        ways: list[tuple[int, int, tuple[int, ...], int]] = [(0, start, (-1,) * self._slots, -1)]
        # Also where a match may begin is looked at at a price, even if nothing more comes of it.
        budget.charge(1 + self._slots // (AT_ONCE * STEPS))
        steps = 0
        while ways:
            step, at, notes, low = ways.pop()
            if low >= 0 and at > low:
                ways.append((step, at - 1, notes, low))
            while True:
                steps += 1
                if steps >= STEPS:
                    budget.charge(steps // STEPS)
                    steps %= STEPS
                match code[step]:
                    case ("one", passes):
                        if at == size or not passes[text[at]]:
                            break
                        at += 1
                        step += 1
                    case ("run", passes, least, most):
                        end, stop = at, min(size, at + most)
                        while end < stop and passes[text[end]]:
                            end += 1
                        steps += (end - at) // 4
                        if end - at < least:
                            break
                        step += 1
                        if end - at > least:
                            ways.append((step, end - 1, notes, at + least))
                        at = end
                    case ("split", first, second):
                        ways.append((second, at, notes, -1))
                        step = first
                    case ("jump", target):
                        step = target
                    case ("save", place):
                        steps += self._slots // AT_ONCE
                        notes = (*notes[:place], at, *notes[place + 1 :])
                        step += 1
                    case ("moved", place, past):
                        step = past if notes[place] == at else step + 1
                    case ("back", group):
                        begun, over = notes[2 * group], notes[2 * group + 1]
                        if over < 0:
                            break
                        budget.charge((over - begun) // (AT_ONCE * STEPS))
                        said = text[begun:over]
                        if not self._again(text, at, said):
                            break
                        at += len(said)
                        step += 1
                    case ("begin",):
                        # A line begins behind a line break, but not where the text ends.
                        if at and not (multiline and at < size and text[at - 1] == "\n"):
                            break
                        step += 1
                    case ("end",):
                        if at != size and not (multiline and text[at] == "\n"):
                            break
                        step += 1
                    case _:
                        if not_empty and at == start:
                            break
                        return (start, at, *notes[2:])
        return None

    def _again(self, text: str, at: int, said: str) -> bool:
        found = text[at : at + len(said)]
        return found == said or (bool(self._flags & regex.IGNORECASE) and found.lower() == said.lower())


class _Passes(dict[str, bool]):
    """Which characters pass a test of one character: asked once each, in the words of the pattern."""

    __slots__ = ("_asked",)

    def __init__(self, text: str, flags: int) -> None:
        super().__init__()
        self._asked = regex.compile(text, flags)

    def __missing__(self, character: str) -> bool:
        passes = self._asked.fullmatch(character) is not None
        if len(self) < REMEMBERED:
            self[character] = passes
        return passes


def _with_test(step: tuple[Any, ...], tests: dict[str, _Passes], flags: int) -> tuple[Any, ...]:
    if step[0] not in ("one", "run"):
        return step
    if step[1] not in tests:
        tests[step[1]] = _Passes(step[1], flags)
    return (step[0], tests[step[1]], *step[2:])
