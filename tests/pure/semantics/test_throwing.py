"""Events that are thrown and caught: escalation, signal, link, condition, compensation, cancel, multiple, complex."""

from __future__ import annotations

import pytest

from bpm.graph import Formula, LoopSpec, Trigger
from bpm.semantics import commands as c
from tests.pure.semantics.drawing import Run, draw


def trigger(kind: str, name: str = "", **fields: object) -> Trigger:
    given = {"name": Formula(text=name)} if name else {}
    return Trigger(kind=kind, **given, **fields)


def escalation(code: str | None = None) -> Trigger:
    return Trigger(kind="escalation", code=Formula(text=code) if code else None)


INNER = ("start s > subprocess sub > external Z > end e", "start t > throw x > external A > end u")
INSIDE = {"sub": ("t", "x", "A", "u")}


@pytest.mark.parametrize(("interrupting", "waits"), [(True, ["B"]), (False, ["A", "B"])])
def test_escalation__reaches_the_boundary_of_its_scope(interrupting: bool, waits: list[str]) -> None:
    graph = draw(*INNER, "boundary b > external B", scopes=INSIDE, x={"trigger": escalation("E")},
                 b={"attached_to": "sub", "trigger": escalation(), "interrupting": interrupting})  # fmt: skip
    assert Run(graph).waiting == waits


def test_escalation__that_nobody_catches_goes_to_the_caller_and_the_token_goes_on() -> None:
    graph = draw("start s > throw x > external A", x={"trigger": escalation("E")})
    alone = Run(graph)
    assert (alone.waiting, alone.messages) == (["A"], [])

    called = Run(graph, caller={"thread": "t", "ticket": 3, "wants": []})
    assert [m.payload["kind"] for m in called.messages] == ["ESCALATION"]


def test_signal__wakes_its_own_instance_in_the_step_that_throws_it_and_others_by_message() -> None:
    graph = draw("start s > parallel f > catch m > external A", "f > external B > throw x > external D",
                 m={"trigger": trigger("signal", "go")}, x={"trigger": trigger("signal", "go")})  # fmt: skip
    run = Run(graph)

    run.work("B")

    assert run.waiting == ["A", "D"]
    assert [m.payload["kind"] for m in run.messages] == ["SIGNAL"]


def test_signal__a_hearer_that_gets_stuck_does_not_hold_up_the_thrower() -> None:
    unknown = Trigger(kind="timer", timer_kind="duration", timer=Formula(text="${nowhere}"))
    graph = draw("start s > parallel f > external A > end e", "f > external B > throw x > external D > end g",
                 "event_subprocess esp", "start t > subprocess sub > end u", "start i > external C > end v",
                 "boundary b > end w", scopes={"esp": ("t", "sub", "u", "b"), "sub": ("i", "C", "v")},
                 x={"trigger": trigger("signal", "go")}, b={"attached_to": "sub", "trigger": unknown},
                 t={"trigger": trigger("signal", "go"), "interrupting": False})  # fmt: skip
    run = Run(graph)
    run.work("B")
    assert "D" in run.waiting


def test_link__goes_on_at_the_catch_of_its_name() -> None:
    graph = draw("start s > throw x", "catch y > external A", "catch z > external B",
                 x={"trigger": trigger("link", "one")}, y={"trigger": trigger("link", "two")},
                 z={"trigger": trigger("link", "one")})  # fmt: skip
    assert Run(graph).waiting == ["B"]


CONDITION = Trigger(kind="conditional", condition=Formula(text="${x > 1}"))


def test_condition__is_judged_when_a_variable_is_written() -> None:
    run = Run(draw("start s > catch k > external A", k={"trigger": CONDITION}), variables={"x": 0})
    assert run.waiting == ["k"]
    run.do(c.SetVariables, variables={"x": 1})
    assert run.waiting == ["k"]
    run.do(c.SetVariables, variables={"x": 2})
    assert run.waiting == ["A"]


def test_condition__that_holds_at_once_is_passed() -> None:
    assert Run(draw("start s > catch k > external A", k={"trigger": CONDITION}), variables={"x": 2}).waiting == ["A"]


def test_condition__not_interrupting_happens_at_each_write() -> None:
    graph = draw("start s > external A", "boundary b > external B",
                 b={"attached_to": "A", "interrupting": False, "trigger": CONDITION})  # fmt: skip
    run = Run(graph)
    for x in (2, 0, 3):
        run.do(c.SetVariables, variables={"x": x})

    assert run.waiting == ["A", "B", "B"]


UNDO = ("start s > external A > external B > throw x > external Z > end e", "external uA", "external uB")
UNDONE = {
    "A": {"compensation_handler": "uA"},
    "B": {"compensation_handler": "uB"},
    "uA": {"for_compensation": True},
    "uB": {"for_compensation": True},
}


def test_compensation__undoes_the_last_first_one_at_a_time() -> None:
    run = Run(draw(*UNDO, x={"trigger": trigger("compensation")}, **UNDONE))
    run.work("A")
    run.work("B")
    assert run.waiting == ["uB"]
    run.work("uB")
    assert run.waiting == ["uA"]
    run.work("uA")
    assert run.waiting == ["Z"]


def test_compensation__of_one_activity_leaves_the_others() -> None:
    run = Run(draw(*UNDO, x={"trigger": Trigger(kind="compensation", activity="A")}, **UNDONE))
    run.work("A")
    run.work("B")
    assert run.waiting == ["uA"]
    run.work("uA")
    assert run.waiting == ["Z"]


def test_compensation__of_a_subprocess_undoes_its_inside_with_its_variables() -> None:
    graph = draw("start s > subprocess sub > throw x > external Z > end e", "start t > external A > end u",
                 "external uA", scopes={"sub": ("t", "A", "u", "uA")}, x={"trigger": trigger("compensation")},
                 A=UNDONE["A"], uA=UNDONE["uA"])  # fmt: skip
    run = Run(graph)
    run.work("A")

    assert run.waiting == ["uA"]
    run.work("uA")
    assert run.waiting == ["Z"]


def test_compensation__with_nothing_to_undo_is_passed() -> None:
    assert Run(draw("start s > throw x > external Z", x={"trigger": trigger("compensation")})).waiting == ["Z"]


def test_cancel__undoes_the_transaction_and_leaves_by_its_cancel_event() -> None:
    graph = draw("start s > subprocess sub > external Z", "start t > external A > end stop", "external uA",
                 "boundary b > external B", scopes={"sub": ("t", "A", "stop", "uA")},
                 stop={"trigger": trigger("cancel")}, b={"attached_to": "sub", "trigger": trigger("cancel")},
                 A=UNDONE["A"], uA=UNDONE["uA"], sub={"transaction": True})  # fmt: skip
    run = Run(graph)
    run.work("A")
    assert run.waiting == ["uA"]

    run.work("uA")

    assert run.waiting == ["B"]


@pytest.mark.parametrize(("boundary", "leaves"), [(True, "B"), (False, "Z")])
def test_cancel__of_one_round_undoes_all_rounds_and_leaves_the_loop(boundary: bool, leaves: str) -> None:
    """Camunda 7, TransactionSubProcessTest.testMultiInstanceTx."""
    loop = LoopSpec(kind="parallel", cardinality=Formula(text="3"))
    graph = draw("start s > subprocess sub > external Z", "start t > external A > external Q > end stop", "external uA",
                 *(["boundary b > external B"] if boundary else []), scopes={"sub": ("t", "A", "Q", "stop", "uA")},
                 **({"b": {"attached_to": "sub", "trigger": trigger("cancel")}} if boundary else {}),
                 stop={"trigger": trigger("cancel")}, A=UNDONE["A"], uA=UNDONE["uA"],
                 sub={"transaction": True, "loop": loop})  # fmt: skip
    run = Run(graph)
    run.work("A")
    run.work("A")
    run.work("Q")
    for _ in range(2):
        assert run.waiting == ["sub", "sub", "uA"]
        run.work("uA")
    assert run.waiting == [leaves]
    run.work(leaves)
    assert run.ended == "COMPLETED"


PARTS = (trigger("signal", "one"), trigger("message", "two"))


def test_multiple__any_part_will_do() -> None:
    run = Run(draw("start s > catch k > external A", k={"trigger": Trigger(kind="multiple", parts=PARTS)}))

    run.do(c.Correlate, ticket=max(run.state.tickets))

    assert run.waiting == ["A"]
    assert sorted(t.state for t in run.state.tickets.values()) == ["CANCELLED", "CONSUMED"]


def test_parallel_multiple__needs_all_parts() -> None:
    run = Run(draw("start s > catch k > external A", k={"trigger": Trigger(kind="parallel_multiple", parts=PARTS)}))
    for ticket in list(run.state.tickets):
        assert run.waiting == ["k"]
        run.do(c.Correlate, ticket=ticket)
    assert run.waiting == ["A"]


def test_complex_gateway__fires_by_its_condition_and_takes_in_the_late_ones() -> None:
    graph = draw("start s > parallel f > external A > complex j > external Z > end e", "f > external B > j",
                 "f > external C > j", j={"activation_condition": Formula(text="${activationCount >= 2}")})  # fmt: skip
    run = Run(graph)
    run.work("A")
    assert run.waiting == ["B", "C", "j"]
    run.work("B")
    assert run.waiting == ["C", "Z"]
    run.work("C")
    assert run.waiting == ["Z"]
    run.work("Z")
    assert run.ended == "COMPLETED"


def test_quantity__gathers_and_multiplies_tokens() -> None:
    graph = draw("start s > parallel f > external A > exclusive m > external K > external Z", "f > external B > m",
                 K={"start_quantity": 2, "completion_quantity": 3})  # fmt: skip
    run = Run(graph)
    run.work("A")
    assert run.waiting == ["B", "K"]
    assert not [t for t in run.state.tasks.values() if t.node == "K"]
    run.work("B")
    run.work("K")
    assert run.waiting == ["Z", "Z", "Z"]


def test_ad_hoc__begins_all_and_ends_by_its_condition() -> None:
    graph = draw("start s > subprocess sub > external Z", "external A", "external B", scopes={"sub": ("A", "B")},
                 sub={"ad_hoc": True, "ad_hoc_completion": Formula(text="${done}")})  # fmt: skip
    run = Run(graph, variables={"done": False})
    assert run.waiting == ["A", "B"]
    run.work("A", done=True)
    assert run.waiting == ["Z"]


def test_complex_gateway__several_late_tokens_end_the_instance_once() -> None:
    graph = draw("start s > parallel f > external A > complex j > end e", "f > external B > j", "f > external C > j")
    run = Run(graph)
    for work in ("A", "B", "C"):
        run.work(work)
    assert run.ended == "COMPLETED"
    assert [event.type for event in run.events].count("INSTANCE_COMPLETED") == 1


@pytest.mark.parametrize(
    ("chosen", "waiting"), [(["B"], ["B"]), (["A", "B"], ["A", "B"]), ([], ["Z"]), (["Q"], ["sub"])]
)
def test_ad_hoc__begins_what_is_chosen(chosen: list[str], waiting: list[str]) -> None:
    graph = draw("start s > subprocess sub > external Z", "external A", "external B", scopes={"sub": ("A", "B")},
                 sub={"ad_hoc": True, "ad_hoc_active": Formula(text="${chosen}")})  # fmt: skip
    assert Run(graph, variables={"chosen": chosen}).waiting == waiting
