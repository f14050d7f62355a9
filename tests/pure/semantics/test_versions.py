"""Living with versions: modifying an instance, and migrating it to another definition."""

from __future__ import annotations

import dataclasses

import pytest

from bpm.graph import Formula, Trigger
from bpm.semantics import commands as c
from bpm.semantics.migrating import plan
from tests.pure.semantics.drawing import Run, draw

ORDER = ("start s > external A > external B > end e",)


def test_modify__moves_a_token_in_one_step() -> None:
    run = Run(draw(*ORDER))

    run.do(c.ModifyInstance, start=({"before": "B"},), cancel=({"node": "A"},), text="A is not needed")

    assert run.waiting == ["B"]
    assert run.state.tasks[2].state == "CANCELLED"
    run.work("B")
    assert run.ended == "COMPLETED"


def test_modify__after_a_node_takes_its_flow() -> None:
    run = Run(draw(*ORDER))
    run.do(c.ModifyInstance, start=({"after": "A", "variables": {"x": 1}},))
    assert run.waiting == ["A", "B"]


def test_modify__opens_the_scopes_around_the_node() -> None:
    graph = draw("start s > external A > subprocess sub > end e", "start t > external B > end u",
                 scopes={"sub": ("t", "B", "u")})  # fmt: skip
    run = Run(graph)

    run.do(c.ModifyInstance, start=({"before": "B"},), cancel=({"node": "A"},))

    assert run.waiting == ["B"]
    run.work("B")
    assert run.ended == "COMPLETED"


def test_modify__cancelling_the_last_token_ends_the_instance() -> None:
    run = Run(draw(*ORDER))
    run.do(c.ModifyInstance, cancel=({"node": "A"},))
    assert run.ended == "COMPLETED"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "invalid"),
        ({"start": ({"before": "nowhere"},)}, "not_found"),
        ({"cancel": ({"node": "B"},)}, "not_found"),
        ({"cancel": ({"token": 99},)}, "not_found"),
        ({"start": ({"after": "e"},)}, "invalid"),
    ],
)
def test_modify__refuses_what_makes_no_sense_as_a_whole(arguments: dict[str, object], code: str) -> None:
    assert Run(draw(*ORDER)).refused(c.ModifyInstance, **arguments) == code


TIMER = Trigger(kind="timer", timer_kind="duration", timer=Formula(text="PT1H"))


def test_migrate__sets_what_is_open_to_its_new_nodes_and_waits_for_what_is_new() -> None:
    old = draw(*ORDER)
    new = draw("start s > external A2 > external B > external C > end e", "boundary b > external L",
               b={"attached_to": "A2", "trigger": TIMER})  # fmt: skip
    paired = plan(old, new, {"A": "A2"})
    assert paired.problems == ()
    run = Run(old)
    run.process = new

    run.do(c.MigrateInstance, definition="p:2", nodes={"A": "A2"}, text="new version")

    assert run.waiting == ["A2"]
    assert [(t.node, t.state) for t in run.state.tasks.values()] == [("A2", "READY")]
    run.wait(3600)
    assert run.waiting == ["L"]


def test_migrate__is_refused_where_something_would_be_lost() -> None:
    run = Run(draw(*ORDER))
    run.process = draw("start s > external B > end e")
    assert run.refused(c.MigrateInstance, definition="p:2") == "invalid"


def test_migrate__drops_what_it_is_told_to() -> None:
    old = draw("start s > external A > end e", "boundary b > external L", b={"attached_to": "A", "trigger": TIMER})
    run = Run(old)
    run.process = draw("start s > external A > end e")
    assert run.refused(c.MigrateInstance, definition="p:2") == "invalid"

    run.do(c.MigrateInstance, definition="p:2", drop=("b",))

    assert [t.state for t in run.state.timers.values()] == ["CANCELLED"]


def test_plan__does_not_depend_on_the_order_of_stored_graphs() -> None:
    lines = ("start s > subprocess A > end e", "boundary z > external L", "start t > external B > end u")
    old = draw(*lines, scopes={"A": ("t", "B", "u")}, z={"attached_to": "A", "trigger": TIMER})
    renamed = ("start s > subprocess Longer > end e", *lines[1:])
    new = draw(*renamed, scopes={"Longer": ("t", "B", "u")}, z={"attached_to": "Longer", "trigger": TIMER})
    stored = dataclasses.replace(
        old, scopes=dict(reversed(old.scopes.items())), nodes=dict(reversed(old.nodes.items()))
    )

    assert plan(old, new, {"A": "Longer"}) == plan(stored, new, {"A": "Longer"})
    assert plan(old, new, {"A": "Longer"}).problems == ()


def test_plan__names_each_node_that_does_not_fit() -> None:
    old = draw("start s > external A > user U > end e")
    new = draw("start s > user A > end e")

    assert plan(old, new).problems == (
        "A and A differ: a external became a user",
        "U has no partner: U is not in the new definition",
    )
    assert plan(old, dataclasses.replace(old, id="q")).problems == ()


def test_modify__does_not_end_a_suspended_instance() -> None:
    run = Run(draw(*ORDER))
    run.do(c.SuspendInstance)
    assert run.refused(c.ModifyInstance, cancel=({"node": "A"},)) == "wrong_state"
