"""Conditional events: when they look, at which variables, and what they see."""

from __future__ import annotations

from typing import Any

import pytest

from bpm.graph import Formula, Mapping, Trigger
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


SUB = ("start s > subprocess sub > external Z", "start t > external A > end u", "event_subprocess esp",
       "start v > external H > end w")  # fmt: skip
INSIDE = {"sub": ("t", "A", "u", "esp"), "esp": ("v", "H", "w")}


@pytest.mark.parametrize(("interrupting", "waiting"), [(True, ["H"]), (False, ["H"])])
def test_a_condition_that_a_completion_makes_true_comes_before_the_token_goes_on(
    interrupting: bool, waiting: list[str]
) -> None:
    graph = draw(*SUB, scopes=INSIDE, v={"trigger": when("${x == 1}"), "interrupting": interrupting})
    run = Run(graph, variables={"x": 0})
    run.work("A", x=1)
    assert run.waiting == waiting
    ended = [event.node for event in run.events if event.type == "TOKEN_COMPLETED"]
    assert ended == ([] if interrupting else ["u"])
    run.work("H")
    assert run.waiting == ["Z"]


def test_a_condition_interrupts_the_activity_whose_completion_makes_it_true() -> None:
    graph = draw("start s > external A > external Z", "boundary b > external B",
                 b={"attached_to": "A", "trigger": when("${x == 1}")})  # fmt: skip
    run = Run(graph, variables={"x": 0})
    run.work("A", x=1)
    assert run.waiting == ["B"]


def test_an_output_that_makes_a_condition_true_ends_what_it_interrupts() -> None:
    graph = draw("start s > pass A > external Z", "event_subprocess esp", "start v > external H > end w",
                 scopes={"esp": ("v", "H", "w")}, v={"trigger": when("${x == 1}")},
                 A={"outputs": (Mapping(target="x", source=Formula(text="${1}")),)})  # fmt: skip
    assert Run(graph, variables={"x": 0}).waiting == ["H"]


def test_an_activity_whose_inside_is_done_has_no_events_any_more() -> None:
    message = Trigger(kind="message", name=Formula(text="m"))
    graph = draw(*SUB, "boundary b > external B", scopes=INSIDE, v={"trigger": message, "interrupting": False},
                 b={"attached_to": "sub", "trigger": message})  # fmt: skip
    run = Run(graph)
    task = run.lock("A")
    run._step(c.CompleteExternalTask(at=run.at, task=task, worker="w"))
    assert [(t.node, t.state) for t in run.state.tokens.values()] == [("sub", "ACTIVE"), ("u", "COMPLETED")]
    assert {ticket.state for ticket in run.state.tickets.values()} == {"CANCELLED"}


def test_an_event_that_cannot_be_waited_for_is_an_incident_of_its_own() -> None:
    message = Trigger(kind="message", name=Formula(text="m"), correlation=Formula(text="${key.part}"))
    graph = draw("start s > external A > end e", "event_subprocess esp", "start v > external H > end w",
                 scopes={"esp": ("v", "H", "w")}, v={"trigger": message})  # fmt: skip
    run = Run(graph, variables={"key": 1})
    (incident,) = run.state.incidents.values()
    assert (run.waiting, incident.node, incident.token) == (["A"], "v", 0)
    assert run.refused(c.RetryIncident, incident=incident.id) == "invalid"

    run.do(c.SetVariables, variables={"key": {"part": "k"}})
    run.do(c.RetryIncident, incident=incident.id)
    assert [(t.correlation, t.state) for t in run.state.tickets.values()] == [("k", "OPEN")]
    run.work("A")
    assert run.ended == "COMPLETED"
