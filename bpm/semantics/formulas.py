"""Formulas of the model evaluated for a token: which variables it sees, and what `execution` answers.

Names resolve from the token's own scope outwards (see `view.scope_locals`). A formula that fails becomes `Stuck`, which
leaves the token waiting with an incident. `Missing` passes through every evaluator untouched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bpm.expressions import ExpressionError, Host, HostObject, Language, compile_text, typed
from bpm.expressions.boundary import to_json, truth
from bpm.graph import Formula
from bpm.semantics import view
from bpm.semantics.beans import Beans
from bpm.semantics.rounds import COUNTS, counts_around
from bpm.semantics.state import State
from bpm.semantics.work import Stuck, Work


class Visible(Mapping[str, Any]):
    """The variables a token sees, looked up one by one. `extra` comes first and belongs to no scope; then the counts of
    the loop around the token (see `rounds`). `read` makes a language's value of the JSON that a variable is.
    """

    def __init__(
        self,
        state: State,
        token: int,
        extra: Mapping[str, Any] | None = None,
        read: Callable[[Any], Any] | None = None,
    ) -> None:
        self._read = read or _as_it_is
        self._state = state
        self._token = token
        self._scopes = view.scope_locals(state, token)
        self._extra = extra or {}

    def __getitem__(self, name: str) -> Any:
        if name in self._extra:
            return self._read(self._extra[name])
        if name in COUNTS:
            counted = counts_around(self._state, self._token)
            if counted is not None:
                return counted[name]
        for scope in self._scopes:
            found = view.variable(self._state, scope, name)
            if found is not None:
                return self._read(found.value)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(visible_variables(self._state, self._scopes) | dict(self._extra))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def visible_variables(state: State, scopes: list[int]) -> dict[str, Any]:
    """All variables that the scopes show, inner ones hiding outer ones of the same name."""
    found: dict[str, Any] = {}
    for scope in reversed(scopes):
        found |= view.variables(state, scope)
    return found


def sees(state: State, token: int) -> dict[str, Any]:
    """All variables that a token sees: what a worker or a person is shown."""
    return visible_variables(state, view.scope_locals(state, token))


# How a language sees what JSON has no form for (`bpm.expressions.typed`); JSON itself is read as it is.
_READ: dict[Language | None, Callable[[Any], Any]] = {"feel": typed.for_feel, "juel": typed.for_juel}


def seen_by(work: Work, token: int, language: Language | None, extra: Mapping[str, Any] | None = None) -> Visible:
    """What formulas in that language see for that token (None: the JSON itself); `extra` comes first."""
    return Visible(work.state, token, extra, _READ.get(language, _as_it_is))


def _as_it_is(value: Any) -> Any:
    return value


def value(work: Work, token: int, formula: Formula, extra: Mapping[str, Any] | None = None) -> Any:
    """The formula's value as JSON, for that token (0: the process); `extra` variables come first. Raises Stuck."""
    if formula.kind == "variable":
        return seen_by(work, token, None, extra).get(formula.text)
    if formula.kind == "list":
        return [value(work, token, item, extra) for item in formula.items]
    if formula.kind == "map":
        return {key: value(work, token, item, extra) for key, item in zip(formula.keys, formula.items, strict=True)}
    try:
        compiled = compile_text(formula.text, language=_language(formula))
        seen = seen_by(work, token, compiled.language, extra)
        return to_json(compiled.evaluate(seen, host(work, token, compiled.language)))
    except ExpressionError as fault:
        raise Stuck("expression", str(fault)) from None


def holds(work: Work, token: int, formula: Formula, extra: Mapping[str, Any] | None = None) -> bool:
    """Whether a condition holds. Raises Stuck where it is neither true nor false."""
    try:
        return truth(value(work, token, formula, extra), formula.text)
    except ExpressionError as fault:
        raise Stuck("expression", str(fault)) from None


def text(work: Work, token: int, formula: Formula | None, extra: Mapping[str, Any] | None = None) -> str | None:
    """The formula's value as text; None where there is no formula or no value."""
    found = None if formula is None else value(work, token, formula, extra)
    return None if found is None else typed.text_of(found) or str(found)


def number(work: Work, token: int, formula: Formula | None, default: int) -> int:
    """The formula's value as a whole number. Raises Stuck where it is none."""
    found = default if formula is None else value(work, token, formula)
    try:
        return int(found)
    except (TypeError, ValueError):
        raise Stuck("expression", f"{formula and formula.text!r} gives {found!r}, not a whole number") from None


def names(formula: Formula) -> frozenset[str]:
    """The variables that a formula may read."""
    if formula.kind == "variable":
        return frozenset({formula.text})
    if formula.kind != "text":
        return frozenset().union(*(names(item) for item in formula.items))
    return compile_text(formula.text, language=_language(formula)).names


def _language(formula: Formula) -> Any:
    return formula.language


def host(work: Work, token: int, language: Language | None = None) -> Host:
    """What formulas see of the world besides variables: the step's time, `execution` and beans."""
    instance = work.state.instance
    node = work.graph.nodes.get(work.state.tokens[token].node) if token else None
    execution = HostObject(
        "execution",
        {
            "id": work.state.thread,
            "processInstanceId": work.state.thread,
            "processInstanceBusinessKey": instance.business_key if instance else None,
            "businessKey": instance.business_key if instance else None,
            "processBusinessKey": instance.business_key if instance else None,
            "processDefinitionKey": work.graph.id,
            "currentActivityId": node.id if node else None,
            "currentActivityName": node.name if node else None,
        },
        variables=True,
    )
    beans = Beans(work, _READ.get(language, _as_it_is))
    return Host(now=lambda: work.at, objects={"execution": execution}, beans=beans)
