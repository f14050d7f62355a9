"""Gateways: what they take, what they wait for, who goes on."""

from __future__ import annotations

import pytest

from bpm.semantics import commands as c
from tests.pure.semantics.drawing import Run, draw


def types(events: tuple[object, ...]) -> list[str]:
    return [e.type for e in events]  # type: ignore[attr-defined]


def test_sequence__one_commit_completes_and_advances() -> None:
    run = Run(draw("start s > external A > external B > end e"))
    task = run.lock("A")

    events = run.do(c.CompleteExternalTask, task=task, worker="w")

    assert types(events) == ["TASK_COMPLETED", "TOKEN_MOVED", "TASK_CREATED", "TOKEN_STATE_CHANGED"]
    run.work("B")
    assert run.ended == "COMPLETED"
    assert len(run.state.tokens) == 1


@pytest.mark.parametrize(("x", "there"), [(1, ["A"]), (5, ["B"]), (0, ["C"])])
def test_exclusive__takes_the_first_that_holds_else_the_default(x: int, there: list[str]) -> None:
    graph = draw("start s > exclusive g", "g > external A [x == 1]", "g > external B [x > 0]", "g > external C [*]")

    assert Run(graph, variables={"x": x}).waiting == there


def test_exclusive__no_flow_holds_opens_an_incident_that_a_retry_resolves() -> None:
    graph = draw("start s > exclusive g", "g > external A [x == 1]")
    run = Run(graph, variables={"x": 0})
    assert [(i.kind, i.state) for i in run.state.incidents.values()] == [("no_flow", "OPEN")]

    run.do(c.SetVariables, variables={"x": 1})
    run.do(c.RetryIncident, incident=next(iter(run.state.incidents)))

    assert run.waiting == ["A"]


def test_parallel__the_fork_token_goes_on_after_the_join() -> None:
    graph = draw("start s > parallel f > external A > parallel j > external D > end e", "f > external B > j")
    run = Run(graph)
    assert run.waiting == ["A", "B"]

    run.work("B")
    assert run.waiting == ["A", "j"]
    run.work("A")

    assert run.waiting == ["D"]
    fork = run.state.tokens[1]
    assert (fork.node, fork.state) == ("D", "WAITING")
    assert {link.type for link in run.state.links.values()} == {"FORK", "JOIN"}
    run.work("D")
    assert run.ended == "COMPLETED"


def test_parallel__nested_forks_unwind() -> None:
    graph = draw(
        "start s > parallel f > parallel g > external A > parallel j > external Z > end e",
        "g > external B > j",
        "f > external C > j",
    )
    run = Run(graph)
    for node in "ABC":
        run.work(node)

    assert run.waiting == ["Z"]
    open_tokens = [t.id for t in run.state.tokens.values() if t.state in ("ACTIVE", "WAITING")]
    assert open_tokens == [1]


def test_parallel__a_branch_beside_the_join_stays_and_the_join_gets_a_new_token() -> None:
    graph = draw(
        "start s > parallel f > external A > parallel j > external Z > end e", "f > external B > j", "f > external C"
    )
    run = Run(graph)
    run.work("A")
    run.work("B")

    assert run.waiting == ["C", "Z"]
    run.work("Z")
    assert run.ended == "RUNNING"
    run.work("C")
    assert run.ended == "COMPLETED"


def test_parallel__two_tokens_on_one_flow_do_not_fire() -> None:
    graph = draw(
        "start s > parallel f > external A > exclusive m > parallel j > end e",
        "f > external B > m",
        "f > external C > j",
    )
    run = Run(graph)
    run.work("A")
    run.work("B")
    assert run.waiting == ["C", "j", "j"]

    run.work("C")
    assert run.waiting == ["j"]
    assert run.ended == "RUNNING"


def test_loop__a_fork_in_a_loop_does_not_nest() -> None:
    graph = draw("start s > exclusive m > parallel f > external A > m", "f > pass B > end e")
    run = Run(graph)
    for _ in range(20):
        run.work("A")

    deepest = 0
    for token in run.state.tokens.values():
        depth = 0
        while token.parent:
            token = run.state.tokens[token.parent]
            depth += 1
        deepest = max(deepest, depth)
    assert deepest == 1
    assert sum(t.state in ("ACTIVE", "WAITING") for t in run.state.tokens.values()) == 2


@pytest.mark.parametrize(("a", "b", "waits"), [(True, True, ["A", "B"]), (True, False, ["A"]), (False, False, ["C"])])
def test_inclusive__joins_what_it_split(a: bool, b: bool, waits: list[str]) -> None:
    graph = draw(
        "start s > inclusive f",
        "f > external A [a]",
        "f > external B [b]",
        "f > external C [*]",
        "A > inclusive j > external Z > end e",
        "B > j",
        "C > j",
    )
    run = Run(graph, variables={"a": a, "b": b})
    assert run.waiting == waits

    for node in waits:
        assert "Z" not in run.waiting
        run.work(node)

    assert run.waiting == ["Z"]
    run.work("Z")
    assert run.ended == "COMPLETED"


def test_inclusive__fires_when_the_last_other_token_turns_away() -> None:
    graph = draw(
        "start s > parallel f > external A > inclusive j > external Z > end e",
        "f > external B > exclusive x",
        "x > j [back]",
        "x > end away [*]",
    )
    run = Run(graph, variables={"back": False})
    run.work("A")
    assert run.waiting == ["B", "j"]

    run.work("B")

    assert run.waiting == ["Z"]


def test_activity__conditional_flows_split_implicitly() -> None:
    graph = draw("start s > external A", "A > external B [x]", "A > external C [y]", "A > external D [*]")
    both = Run(graph, variables={"x": True, "y": True})
    both.work("A")
    neither = Run(graph, variables={"x": False, "y": False})
    neither.work("A")

    assert both.waiting == ["B", "C"]
    assert neither.waiting == ["D"]
