"""Scopes: data objects with a first value, event subprocesses within event subprocesses."""

from __future__ import annotations

import dataclasses

from bpm.graph import Formula, Mapping, Process, Trigger
from bpm.semantics import commands as c
from tests.pure.semantics.drawing import Run, draw


def with_data(process: Process, scope: str, *data: tuple[str, str]) -> Process:
    changed = dataclasses.replace(process.scopes[scope], data=data)
    return dataclasses.replace(process, scopes=process.scopes | {scope: changed})


def test_data_objects_have_their_first_values_where_their_scope_begins() -> None:
    graph = draw("start s > external A > subprocess sub > external Z", "start t > external B > end u",
                 scopes={"sub": ("t", "B", "u")},
                 B={"inputs": (Mapping(target="seen", source=Formula(text="${limit + count}")),)})  # fmt: skip
    graph = with_data(with_data(graph, "p", ("limit", "5"), ("open", "true")), "sub", ("count", "1.50"))
    run = Run(graph, variables={"limit": 7})
    assert (run.variable("limit"), run.variable("open")) == (7, True)

    run.work("A")

    values = {name: str(one.value) for (scope, name), one in run.state.variables.items() if scope}
    assert values == {"count": "1.50", "seen": "8.50"}


def test_an_event_subprocess_has_event_subprocesses_of_its_own() -> None:
    outer = Trigger(kind="message", name=Formula(text="outer"))
    inner = Trigger(kind="message", name=Formula(text="inner"))
    graph = draw("start s > external A > end e", "event_subprocess one", "start t > external B > end u",
                 "event_subprocess two", "start v > external C > end w",
                 scopes={"one": ("t", "B", "u", "two"), "two": ("v", "C", "w")},
                 t={"trigger": outer}, v={"trigger": inner})  # fmt: skip
    run = Run(graph)
    assert [t.name for t in run.state.tickets.values()] == ["outer"]
    run.do(c.Correlate, ticket=max(run.state.tickets), variables={"x": 1})
    assert run.waiting == ["B"]
    run.do(c.Correlate, ticket=max(run.state.tickets))
    assert run.waiting == ["C"]
    run.work("C")
    assert run.ended == "COMPLETED"


def test_what_starts_an_event_subprocess_brings_its_variables_outward() -> None:
    """Camunda 7, EventHandlerImpl: set on the scope's execution; Zeebe, BpmnVariableMappingBehavior: merged."""
    for trigger in (Trigger(kind="message", name=Formula(text="m")), Trigger(kind="error", code_variable="code")):
        graph = draw("start s > external A > end e", "event_subprocess one", "start t > external B > end u",
                     scopes={"one": ("t", "B", "u")}, t={"trigger": trigger})  # fmt: skip
        run = Run(graph)
        if trigger.kind == "message":
            run.do(c.Correlate, ticket=max(run.state.tickets), variables={"x": 1})
        else:
            run.do(c.ThrowBpmnError, task=run.lock("A"), worker="w", code="E", variables={"x": 1})
            assert run.variable("code") == "E"
        assert run.waiting == ["B"]
        assert run.variable("x") == 1
