"""Regular expressions of XPath (DMN 1.5, 10.3.4.3 refers to it), which must not hang.

elementpath translates the pattern to Python's dialect, and a machine of our own runs it (`regex_program`,
`regex_machine`): Python's engines cannot be bounded but by the clock, which no decision may depend on. So a pattern
that tries too many ways ends in a `LimitFault`, after the same number of steps on every machine. (Engines that need no
bound, such as RE2, know no references back to a group, which XPath has.)
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import regex

from bpm.expressions.errors import LimitFault
from bpm.expressions.feel_signatures import Refused
from bpm.expressions.feel_values import charge_text
from bpm.expressions.limits import MAX_ITEMS, MAX_TEXT, Budget
from bpm.expressions.regex_machine import Machine, Match
from bpm.expressions.regex_program import Unreadable, compiled

MAX_PATTERN = 1_000
MAX_REPEAT = 1_000

_FLAGS = {"s": regex.DOTALL, "m": regex.MULTILINE, "i": regex.IGNORECASE}
_REPLACEMENT = re.compile(r"(?:[^\\$]|\\[\\$]|\$[0-9])*", re.DOTALL)
_REFERENCE = re.compile(r"\\([\\$])|\$([0-9]+)")


class Pattern:
    """A pattern, ready to run."""

    __slots__ = ("_machine",)

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def finds(self, text: str, budget: Budget) -> bool:
        """Whether it matches somewhere in the text."""
        return next(self._machine.find_all(text, budget), None) is not None

    def replace(self, text: str, replacement: str, budget: Budget) -> str:
        """The text with each match replaced; `$1` is a group, `\\$` and `\\\\` are the characters."""
        if not _REPLACEMENT.fullmatch(replacement):
            raise Refused("a $ without a number or a \\ before another character in the replacement")
        pieces: list[str] = []
        size = at = 0
        for match in self._machine.find_all(text, budget):
            budget.charge()
            pieces += [text[at : match.start], self._filled(replacement, match)]
            charge_text(len(pieces[-1]) + len(pieces[-2]), budget)
            size += len(pieces[-1]) + len(pieces[-2])
            budget.room(size, MAX_TEXT)
            at = match.end
        return "".join([*pieces, text[at:]])

    def _filled(self, replacement: str, match: Match) -> str:
        def group(found: re.Match[str]) -> str:
            if found[1]:
                return found[1]
            digits = found[2]
            while len(digits) > 1 and int(digits) > self._machine.groups:
                digits = digits[:-1]  # $12 is group 1 and a 2 where there are fewer groups
            known = int(digits) <= self._machine.groups
            return ((match[int(digits)] or "") if known else "") + found[2][len(digits) :]

        return _REFERENCE.sub(group, replacement)

    def split(self, text: str, budget: Budget) -> list[str]:
        """The parts of the text between the matches."""
        parts: list[str] = []
        at = 0
        for match in self._machine.find_all(text, budget):
            budget.charge()
            if match.end > match.start:
                parts.append(text[at : match.start])
                at = match.end
        return [*parts, text[at:]]

    def all_in(self, text: str, budget: Budget) -> list[str]:
        """Each match in the text."""
        found: list[str] = []
        for match in self._machine.find_all(text, budget):
            budget.charge()
            budget.room(len(found) + 1, MAX_ITEMS)
            found.append(match[0] or "")
        return found


# The largest programs take two megabytes each.
@lru_cache(maxsize=128)
def read_pattern(pattern: str, flags: str) -> Pattern:
    """An XPath pattern with its flags (`s`, `m`, `i`, `x`); Refused when it is none."""
    from elementpath.regex import RegexError, translate_pattern  # a quarter of a second, which most programs never need

    if len(pattern) > MAX_PATTERN or any(int(count) > MAX_REPEAT for count in re.findall(r"[{,]([0-9]{1,9})", pattern)):
        raise LimitFault("a regular expression is too large", expected=f"{MAX_PATTERN} characters and repetitions")
    if set(flags) - {*_FLAGS, "x"}:
        raise Refused(f"{flags!r} are no flags")
    chosen = regex.V0
    for flag in flags:
        chosen |= _FLAGS.get(flag, regex.V0)
    if "x" in flags:
        pattern = _without_blanks(pattern)
    try:
        translated: Any = translate_pattern(pattern, flags=int(chosen & ~regex.V0), xsd_version="1.1")
        return Pattern(Machine(compiled(translated), int(chosen)))
    except (RegexError, Unreadable, regex.error, OverflowError, RecursionError):
        raise Refused(f"{pattern[:40]!r} is no pattern") from None


def _without_blanks(pattern: str) -> str:
    """The flag x: white space means nothing, even behind a backslash, except in a class."""
    kept = []
    escaped = False
    depth = 0
    for character in pattern:
        if depth == 0 and character in " \t\r\n":
            continue
        if not escaped:
            depth += (character == "[") - (character == "]" and depth > 0)
        escaped = character == "\\" and not escaped
        kept.append(character)
    return "".join(kept)
