"""What decides the way of an instance and nobody knows beforehand: the questions that the checker answers every way.

In an abstract graph (see `abstraction`) such a formula is the call of a bean, `${checker.answer(3)}`. A bean lies
outside of the instance, so `decide` itself asks for what the call gives, with a `Need`; the answers stand in the
command, as they do live, and the same command decides the same again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bpm.graph import Formula
from bpm.semantics import commands as c
from bpm.semantics.state import Key

BEAN = "checker.answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One formula of the model. `element` is the flow or node it stands at, `node` the node that asks it.

    `kind`: "flow" (the condition of a sequence flow), "condition" (of an event), "loop" (whether there is another
    round), "rounds" (how many), "enough" (whether a completion or activation condition holds), "error" (whether a
    worker's answer means an error), "name" (of a signal, message, error or escalation), "elements" (of an ad-hoc
    subprocess).
    """

    number: int
    kind: str
    element: str
    node: str
    formula: Formula
    options: tuple[Any, ...]

    @property
    def said(self) -> str:
        """The formula as the model has it."""
        return self.formula.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer that was given to a question, the `time`-th time that the step asked it."""

    question: Question
    time: int
    value: Any


def asking(number: int) -> Formula:
    """The formula that asks the question."""
    return Formula(text=f"${{{BEAN}({number})}}")


def asked(key: Key) -> tuple[int, int] | None:
    """(number, how many times in this step) of a question that `decide` needs the answer of; None for another need."""
    if len(key) == 4 and key[:2] == ("call", BEAN):
        return int(key[2].strip("[]")), int(key[3])
    return None


def answers(given: tuple[Answer, ...]) -> dict[str, Any]:
    """The answers in the form in which a command carries them."""
    found: dict[str, Any] = {c.answer_name(("bean", BEAN)): True}
    for one in given:
        key = ("call", BEAN, f"[{one.question.number}]", one.time)
        found[c.answer_name(key)] = {"value": list(one.value) if isinstance(one.value, tuple) else one.value}
    return found
