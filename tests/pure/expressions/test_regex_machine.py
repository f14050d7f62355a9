"""The machine of regular expressions finds what an engine that backtracks finds, in counted steps."""

from __future__ import annotations

from random import Random

import pytest
import regex
from elementpath.regex import RegexError, translate_pattern

from bpm.expressions.errors import LimitFault
from bpm.expressions.feel_regex import read_pattern
from bpm.expressions.limits import Budget
from bpm.expressions.regex_machine import Machine
from bpm.expressions.regex_program import MAX_PROGRAM, compiled

ATOMS = ("a", "b", ".", "[ab]", "[^a]", r"\d", r"\s", "x", r"\.", "[a-c-[b]]", "^", "$")
SIGNS = ("", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,3}", "*?", "+?", "??", "{1,}")


def drawn(chance: Random, depth: int = 0) -> str:
    parts = []
    for _ in range(chance.randint(1, 3)):
        luck = chance.random()
        if luck < 0.3 and depth < 2:
            inner = drawn(chance, depth + 1)
            parts.append(f"({inner})" if luck < 0.2 else f"(?:{inner}|{drawn(chance, depth + 1)})")
        else:
            parts.append(chance.choice(ATOMS))
        if parts[-1] not in ("^", "$"):
            parts[-1] += chance.choice(SIGNS)
    return "".join(parts)


@pytest.mark.parametrize("seed", range(20))
def test_it_finds_what_others_find(seed):
    chance = Random(seed)  # noqa: S311
    for _ in range(40):
        pattern, flags = drawn(chance), chance.choice((0, int(regex.M), int(regex.I), int(regex.S)))
        text = "".join(chance.choice("aabbABx1 \n.") for _ in range(chance.randint(0, 9)))
        translated = translate_pattern(pattern, flags=flags, xsd_version="1.1")
        try:
            theirs = [one.span() for one in regex.compile(translated, regex.V0 | flags).finditer(text)]
        except (regex.error, RegexError):
            continue
        mine = [(one.start, one.end) for one in Machine(compiled(translated), flags).find_all(text, Budget(10**6))]
        # An iteration of nothing within {n,m} is counted differently by different engines.
        if "{0,3}" not in pattern and "{1,2}" not in pattern:
            assert mine == theirs, (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"(a)\1", "aa", ["aa"]),
        (r"(a)\1", "ab", []),
        (r"^b$", "a\nb", []),
        ("a|ab", "ab", ["a"]),
        ("(ab)+?", "abab", ["ab", "ab"]),
        (r"[^\d]+", "a1b", ["a", "b"]),
        ("x*", "axb", ["", "x", "", ""]),
        ("(?:a{2}){2}", "aaaaa", ["aaaa"]),
    ],
)
def test_what_it_finds(pattern, text, found):
    assert read_pattern(pattern, "").all_in(text, Budget()) == found


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a|aa)+$", "ab" * 40 + "a" * 40 + "!"),
        ("(a+)+b", "a" * 5000),
        ("(.*)(.*)(.*)(.*)x", "a" * 2000),
        ("(x+x+)+y", "x" * 60),
        ("(a*)*b", "a" * 200),
    ],
)
def test_what_tries_too_many_ways_ends_after_the_same_steps_everywhere(pattern, text):
    for _ in range(2):
        budget = Budget()
        with pytest.raises(LimitFault, match="too many steps"):
            read_pattern(pattern, "").finds(text, budget)
        assert -3 <= budget.steps < 0


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^x", "a" * 900_000),  # nowhere more than a look
        (r"(a*)\1b", "a" * 100_000),  # each comparison is long
        ("((a)*(b)?){400}c", "a" * 3000),  # each note is a copy of a thousand places
    ],
)
def test_what_costs_much_at_each_step_ends_early(pattern, text):
    with pytest.raises(LimitFault, match="too many steps"):
        read_pattern(pattern, "").finds(text, Budget())


def test_looking_for_what_is_not_there_is_cheap():
    budget = Budget()
    assert not read_pattern("b[0-9]+", "").finds("a" * 900_000, budget)
    assert budget.steps > 40_000


def test_a_program_has_its_size():
    with pytest.raises(LimitFault, match="too large"):
        read_pattern("((a|b|c){1000}){1000}", "")
    assert len(compiled("a{1000}").code) < 5 < MAX_PROGRAM
