"""The names of a model that FEEL's parser must be told, such as `pre-tax income` (DMN 1.5, 10.3.1.2, rule 27)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from bpm.decisions.model import Decisions

_PLAIN = re.compile(r"[A-Za-z_]\w*")
_NAMING = frozenset({"name", "variable"})


def difficult_names(decisions: Decisions) -> frozenset[str]:
    """Every name in the models that is more than one plain word: elements, entries, parameters, components, columns."""
    return frozenset(name for name in _names(decisions) if name and not _PLAIN.fullmatch(name))


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, tuple):
        for item in value:
            yield from _names(item)
    elif is_dataclass(value):
        for field in fields(value):
            found = getattr(value, field.name)
            if isinstance(found, str):
                if field.name in _NAMING:
                    yield found
            else:
                yield from _names(found)
