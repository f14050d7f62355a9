"""A new run of an instance that has ended."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from bpm.graph import Formula, Trigger
from bpm.semantics import Decided, Refusal, apply, decide
from bpm.semantics import commands as c
from bpm.semantics.events import Event
from bpm.semantics.evolve import BrokenHistory
from tests.pure.semantics.drawing import Run, draw

ORDER = ("start s > external A > external B > end e",)


def values(run: Run) -> dict[str, Any]:
    return {name: v.value for (scope, name), v in run.state.variables.items() if scope == 0 and v.present}


def ended() -> Run:
    run = Run(draw(*ORDER), variables={"x": 1})
    run.work("A", y=2)
    run.work("B")
    assert run.ended == "COMPLETED"
    return run


def test_it_begins_again_with_the_variables_of_the_end() -> None:
    run = ended()
    version, counter = run.state.version, run.state.counter

    run.do(c.RestartInstance, variables={"x": 5}, text="A was wrong")

    assert run.ended == "RUNNING"
    assert run.waiting == ["A"]
    assert values(run) == {"x": 5, "y": 2}
    assert run.state.version > version
    assert min(token.id for token in run.state.tokens.values() if token.state == "WAITING") > counter
    run.work("A")
    run.work("B")
    assert run.ended == "COMPLETED"


def test_fresh__unsets_what_is_not_given() -> None:
    run = ended()
    run.do(c.RestartInstance, fresh=True, variables={"x": 1})
    assert values(run) == {"x": 1}


def test_fresh__what_a_message_brings_lies_beside_the_token_alone() -> None:
    process = draw(*ORDER)
    (start,) = (node for node in process.nodes.values() if node.kind == "start")
    aside = dataclasses.replace(start, outputs_only=True)
    run = Run(dataclasses.replace(process, nodes={**process.nodes, start.id: aside}), variables={"x": 1})
    run.work("A", x=5)
    run.work("B")
    run.do(c.RestartInstance, fresh=True, variables={"x": 1})
    assert values(run) == {}


def test_it_begins_before_and_after_nodes() -> None:
    run = ended()
    run.do(c.RestartInstance, start=({"before": "B"}, {"after": "A"}))
    assert run.waiting == ["B", "B"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [({"node": "A"}, "invalid"), ({"start": ({"before": "nowhere"},)}, "not_found"), ({"start": ({},)}, "not_found")],
)
def test_it_is_refused_where_it_makes_no_sense(arguments: dict[str, object], code: str) -> None:
    run = ended()
    assert run.refused(c.RestartInstance, **arguments) == code


@pytest.mark.parametrize("command", [c.SuspendInstance, c.ResumeInstance])
def test_only_what_has_ended_is_restarted(command: type[c.Command]) -> None:
    run = Run(draw(*ORDER))
    assert run.refused(c.RestartInstance) == "wrong_state"
    run.do(c.SuspendInstance)
    assert run.refused(c.RestartInstance) == "wrong_state"


@pytest.mark.parametrize("state", ["COMPLETED", "FAILED", "CANCELLED"])
def test_nothing_but_a_restart_leaves_a_final_state(state: str) -> None:
    run = ended()
    instance = dataclasses.replace(run.state.instances[0], state=state)
    run.state.put("instance", instance)
    with pytest.raises(BrokenHistory):
        apply(run.state.copy(), Event("INSTANCE_RESUMED", 0, from_state=state, to_state="RUNNING"))
    with pytest.raises(BrokenHistory):
        apply(run.state.copy(), Event("INSTANCE_RESTARTED", 0, from_state=state, to_state="SUSPENDED"))
    apply(run.state.copy(), Event("INSTANCE_RESTARTED", 0, from_state=state, to_state="RUNNING"))


def test_event_subprocesses_of_the_process_wait_again() -> None:
    timer = Trigger(kind="timer", timer_kind="duration", timer=Formula(text="PT1H"))
    graph = draw("start s > external A > end e", "event_subprocess E", "start t > external L > end u",
                 scopes={"E": ("t", "L", "u")}, t={"trigger": timer})  # fmt: skip
    run = Run(graph)
    run.work("A")
    run.do(c.RestartInstance)
    assert [one.state for one in run.state.timers.values()] == ["CANCELLED", "SCHEDULED"]
    run.wait(3600)
    assert run.waiting == ["L"]


def test_who_called_it_is_not_told_of_a_later_run() -> None:
    run = Run(draw(*ORDER), caller={"thread": "t", "ticket": 3, "wants": None})
    run.do(c.CancelInstance)
    assert [event.payload["kind"] for event in run.events if event.type == "MESSAGE_SENT"] == ["RESULT"]
    run.do(c.RestartInstance)
    run.do(c.CancelInstance)
    assert len([event for event in run.events if event.type == "MESSAGE_SENT"]) == 1


def test_who_called_it_does_not_end_a_later_run() -> None:
    run = Run(draw(*ORDER), caller={"thread": "t", "ticket": 3, "wants": None})
    command = c.CancelInstance(at=run.at, message={"sender": "t", "version": 7, "ordinal": 9})
    assert isinstance(decide(run.process, run.state, command), Decided)
    run.do(c.CancelInstance)
    run.do(c.RestartInstance)
    refused = decide(run.process, run.state, command)
    assert isinstance(refused, Refusal)
    assert refused.code == "wrong_state"
    run.do(c.CancelInstance)
    assert run.ended == "CANCELLED"
