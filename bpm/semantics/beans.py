"""Beans: functions of the program around the engine, called by name in expressions (`${mailer.address(x)}`, `uuid()`).

They lie outside the instance, so the core never calls one. It asks whether a name is registered, and what a call gives;
the shell's answers stand in the commit's arguments, and replay reads them there. The n-th call of the same name with
the same arguments in one step is a question of its own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from bpm.expressions import EvaluationFault, Json, to_json
from bpm.semantics.work import Work


class Beans(Mapping[str, Callable[..., object]]):
    """Every bean there is, by name; what each answers is a question to the shell."""

    def __init__(self, work: Work, read: Callable[[Any], Any]) -> None:
        """`read` makes the asking language's value of an answer."""
        self._work = work
        self._read = read
        self._calls: Counter[tuple[str, str]] = work.calls

    def __getitem__(self, name: str) -> Callable[..., object]:
        if not self._work.answer("bean", name):
            raise KeyError(name)
        return lambda *arguments: self._call(name, arguments)

    def __iter__(self) -> Iterator[str]:
        return iter(())  # the core does not know all names; it asks for each

    def __len__(self) -> int:
        return 0

    def _call(self, name: str, arguments: tuple[object, ...]) -> object:
        text = _exact([to_json(argument) for argument in arguments])
        self._calls[name, text] += 1
        answer: dict[str, Any] = self._work.answer("call", name, text, self._calls[name, text])
        if "fault" in answer:
            raise EvaluationFault(f"{name}() failed: {answer['fault']}")
        return self._read(answer["value"])


def _exact(value: Json) -> str:
    """JSON text whose numbers read back exactly."""
    if isinstance(value, list):
        return f"[{', '.join(_exact(item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(key)}: {_exact(item)}' for key, item in sorted(value.items()))}}}"
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)
