"""Large instances: what a step copies does not grow with the instance, and nothing recurses."""

from __future__ import annotations

import sys

import pytest

from bpm.graph import Formula, LoopSpec
from bpm.semantics import Decided, decide, evolve
from bpm.semantics import commands as c
from bpm.semantics.layers import SMALL, Members, Table, split_members, split_table
from tests.pure.semantics.drawing import START, decide_from_nothing, draw
from tests.pure.semantics.sizes import Big, nested, rounds


@pytest.mark.parametrize("kind", ["parallel", "sequential"])
def test_a_multi_instance_of_2000(kind: str) -> None:
    big = rounds(kind, 2000)
    assert big.state.instances[0].state == "COMPLETED"
    assert sum(event.state == "DONE" for event in big.state.tasks.values()) == 2000


def test_a_step_copies_a_small_part_of_a_large_instance() -> None:
    big = Big(
        draw("start s > external A > end e", A={"loop": LoopSpec(kind="parallel", cardinality=Formula(text="${n}"))})
    )
    big.start(n=10_000)
    active = [token.id for token in big.state.tokens.values() if token.state == "ACTIVE"]
    assert len(active) == 10_000
    copied = 0
    for token in active[:300]:
        before = big.state.copy()
        copied = max(copied, len(before.tokens._own) + len(before.tickets) + len(before.tasks))
        big.do(c.AdvanceToken(at=START, token=token))
    assert copied < 1_000


def test_cancelling_10000_tokens() -> None:
    big = Big(
        draw("start s > external A > end e", A={"loop": LoopSpec(kind="parallel", cardinality=Formula(text="${n}"))})
    )
    big.start(n=10_000)
    decided = big.do(c.CancelInstance(at=START))
    assert sum(event.type == "TOKEN_CANCELLED" for event in decided.events) == 10_001


def test_2000_nested_scopes_are_entered_and_cancelled_without_recursion() -> None:
    big = Big(nested(2_000))
    assert sys.getrecursionlimit() < 2_000
    big.start()
    big.settle()
    assert len([token for token in big.state.tokens.values() if token.state == "WAITING"]) == 2_001
    command = c.CancelInstance(at=START)
    decided = decide(big.process, big.state, command)
    assert isinstance(decided, Decided)
    assert sum(event.type == "TOKEN_CANCELLED" for event in decided.events) == 2_001


def test_an_error_climbs_through_2000_nested_scopes() -> None:
    big = Big(nested(2_000))
    big.start()
    big.settle()
    task = next(iter(big.state.tasks))
    big.do(c.LockTask(at=START, task=task, worker="w", until=START.replace(year=2031)))
    big.do(c.ThrowBpmnError(at=START, task=task, worker="w", code="E"))
    assert big.state.instances[0].state == "FAILED"


def test_part_and_whole_agree_on_a_large_instance() -> None:
    big = Big(
        draw("start s > external A > end e", A={"loop": LoopSpec(kind="parallel", cardinality=Formula(text="${n}"))})
    )
    big.start(n=1_000)
    big.settle()
    task = max(big.state.tasks)
    big.do(c.LockTask(at=START, task=task, worker="w", until=START.replace(year=2031)))
    command = c.CompleteExternalTask(at=START, task=task, worker="w")
    decided = decide(big.process, big.state, command)
    assert isinstance(decided, Decided)
    assert decide_from_nothing(big.process, big.state, command) == decided.events
    assert evolve(big.state, decided.events) == decided.state


def test_a_large_table_is_a_dict_in_layers() -> None:
    plain = {number: str(number) for number in range(2 * SMALL)}
    kept, copied = split_table(dict(plain))
    assert isinstance(copied, Table)
    for number in range(0, 3 * SMALL, 2):
        copied[number] = "changed"
        plain[number] = "changed"
        assert copied.get(number) == "changed"
        _, again = split_table(copied)
        assert again == copied
    assert dict(copied) == plain
    assert (len(copied), list(copied)) == (len(plain), list(plain))
    assert kept == {number: str(number) for number in range(2 * SMALL)}
    assert (copied.get(-1), copied.get(-1, "none"), -1 in copied) == (None, "none", False)
    with pytest.raises(KeyError):
        copied[-1]
    with pytest.raises(TypeError):
        del copied[0]


def test_a_large_set_is_a_set_in_layers() -> None:
    plain = dict.fromkeys(range(2 * SMALL))
    members = split_members(plain)
    assert isinstance(members, Members)
    expected = set(plain)
    for number in range(0, 3 * SMALL, 3):
        if number in members:
            del members[number]
            expected.discard(number)
        else:
            members[number] = None
            expected.add(number)
        assert (number in members) == (number in expected)
        members = split_members(members)
    assert set(members) == expected
    assert (len(members), bool(members), members == dict.fromkeys(expected)) == (len(expected), True, True)
    assert len(plain) == 2 * SMALL
