"""What a value in a scenario file must look like. A shape answers None, or what it wants where the value is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from bpm.expressions.timers import TimerFault, check

# A value of the file to None (it fits) or a phrase: what should stand there.
Shape = Callable[[Any], str | None]


def text(value: Any) -> str | None:
    """A text that is not empty."""
    return None if isinstance(value, str) and value else "a text"


def words(value: Any) -> str | None:
    """A text, which may be empty."""
    return None if isinstance(value, str) else "a text"


def flag(value: Any) -> str | None:
    """true or false."""
    return None if isinstance(value, bool) else "true or false"


def count(value: Any) -> str | None:
    """A whole number from 0."""
    return None if type(value) is int and value >= 0 else "a whole number from 0"


def mapping(value: Any) -> str | None:
    """A mapping whose keys are texts."""
    return None if isinstance(value, dict) and all(isinstance(key, str) for key in value) else "a mapping"


def items(value: Any) -> str | None:
    """A list."""
    return None if isinstance(value, list) else "a list"


def names(value: Any) -> str | None:
    """A list of texts."""
    return None if isinstance(value, list) and all(isinstance(item, str) for item in value) else "a list of names"


def some_names(value: Any) -> str | None:
    """A list of texts that is not empty."""
    return None if value and names(value) is None else "a list of one name or more"


def counts(value: Any) -> str | None:
    """A mapping of names to whole numbers."""
    fits = mapping(value) is None and all(count(item) is None for item in value.values())
    return None if fits else "a mapping of names to whole numbers"


def variables(value: Any) -> str | None:
    """A mapping of names to JSON values."""
    # YAML can say more than JSON (infinity, keys that are numbers); a variable cannot.
    return None if mapping(value) is None and _is_json(value) else "a mapping of names to JSON values"


def duration(value: Any) -> str | None:
    """An ISO 8601 duration."""
    try:
        check("duration", value if isinstance(value, str) else "")
    except TimerFault:
        return "an ISO 8601 duration such as PT1H or P2D"
    return None


def one_of(choices: Iterable[str]) -> Shape:
    """One of the given texts."""
    known = tuple(choices)
    return lambda value: None if value in known else f"one of {', '.join(known)}"


def list_of(choices: Iterable[str]) -> Shape:
    """A list of the given texts."""
    known = tuple(choices)
    return lambda value: (
        None if isinstance(value, list) and all(item in known for item in value) else f"a list of {', '.join(known)}"
    )


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
    if isinstance(value, list):
        return all(_is_json(item) for item in value)
    return value is None or isinstance(value, bool | int | str) or (not isinstance(value, float) and value.is_finite())
