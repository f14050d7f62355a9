"""Conditional events: when they look, at which variables, and what they see."""

from __future__ import annotations

from typing import Any

import pytest

from bpm.graph import Formula, Trigger
from bpm.semantics import commands as c
from tests.pure.semantics.drawing import Run, draw


def when(text: str, **said: Any) -> Trigger:
    return Trigger(kind="conditional", condition=Formula(text=text), **said)


@pytest.mark.parametrize(
    ("events", "waiting"),
    [
        (("create",), ["A", "B"]),
        (("update",), ["A", "B", "B"]),
        (("delete",), ["A", "B"]),
        (("create", "delete"), ["A", "B", "B"]),
        ((), ["A", "B", "B", "B", "B"]),
    ],
)
def test_variable_events_say_when_it_looks(events: tuple[str, ...], waiting: list[str]) -> None:
    trigger = when("${true}", condition_events=events, condition_variables=("x",))
    graph = draw("start s > external A", "boundary b > external B",
                 b={"attached_to": "A", "interrupting": False, "trigger": trigger})  # fmt: skip
    run = Run(graph)
    first = run.waiting  # it holds at once: it has happened as the event began to wait
    assert first == ["A", "B"]
    run.work("B")
    for command in ({"variables": {"x": 1}}, {"variables": {"x": 2}}, {"variables": {"x": 3}}, {"unset": ("x",)}):
        run.do(c.SetVariables, **command)
        run.do(c.SetVariables, variables={"other": len(run.events)})
    assert run.waiting == waiting


def test_a_variable_of_another_branch_is_not_seen() -> None:
    graph = draw("start s > parallel f > external A", "f > subprocess sub", "start t > external B",
                 "boundary b > external C", scopes={"sub": ("t", "B")},
                 b={"attached_to": "A", "interrupting": False, "trigger": when("${x != 1}")})  # fmt: skip
    run = Run(graph, variables={"x": 1})
    inner = next(t.id for t in run.state.tokens.values() if t.node == "B")
    run.do(c.CompleteExternalTask, task=run.lock("B"), worker="w", local_variables={"x": 2})
    assert run.waiting == ["A"]
    assert inner in run.state.tokens


@pytest.mark.parametrize(
    ("kind", "after_one", "after_both"), [("multiple", ["A"], ["A"]), ("parallel_multiple", ["k"], ["A"])]
)
def test_each_part_of_an_event_has_its_condition(kind: str, after_one: list[str], after_both: list[str]) -> None:
    trigger = Trigger(kind=kind, parts=(when("${x == 1}"), when("${y == 1}")))
    run = Run(draw("start s > catch k > external A", k={"trigger": trigger}), variables={"x": 0, "y": 0})
    assert run.waiting == ["k"]
    run.do(c.SetVariables, variables={"y": 1})
    assert run.waiting == after_one
    run.do(c.SetVariables, variables={"x": 1})
    assert run.waiting == after_both
