"""Activities done several times."""

from __future__ import annotations

import pytest

from bpm.graph import Formula, LoopSpec, Mapping, Trigger
from bpm.semantics import commands as c
from tests.pure.semantics.drawing import Run, draw


def loop(kind: str, **fields: object) -> dict[str, object]:
    return {"loop": LoopSpec(kind=kind, **fields)}


def each(kind: str = "parallel", **fields: object) -> dict[str, object]:
    return loop(kind, collection=Formula(text="${items}"), element_variable="item", **fields)


ONE = "start s > external A > external Z > end e"


def test_parallel__does_all_at_once_each_with_its_element() -> None:
    run = Run(draw(ONE, A=each()), variables={"items": ["a", "b", "c"]})
    assert run.waiting == ["A", "A", "A"]
    seen = [run.variable("item", run.state.tokens[t.token].local) for t in run.state.tasks.values()]
    assert seen == ["a", "b", "c"]

    for _ in range(3):
        assert "Z" not in run.waiting
        run.work("A")

    assert run.waiting == ["Z"]
    assert [t.state for t in run.state.tickets.values()] == ["CONSUMED"]


def test_sequential__does_one_after_the_other() -> None:
    run = Run(draw(ONE, A=each("sequential")), variables={"items": [1, 2]})
    assert run.waiting == ["A"]
    run.work("A")
    assert run.waiting == ["A"]
    run.work("A")
    assert run.waiting == ["Z"]


@pytest.mark.parametrize("kind", ["parallel", "sequential"])
def test_an_empty_collection_is_passed(kind: str) -> None:
    assert Run(draw(ONE, A=each(kind)), variables={"items": []}).waiting == ["Z"]


def test_completion_condition__cancels_the_rest() -> None:
    condition = Formula(text="${nrOfCompletedInstances / nrOfInstances >= 0.5}")
    run = Run(draw(ONE, A=each(completion_condition=condition)), variables={"items": [1, 2, 3, 4]})
    run.work("A")
    assert run.waiting == ["A", "A", "A"]

    run.work("A")

    assert run.waiting == ["Z"]
    assert sorted(t.state for t in run.state.tasks.values() if t.node == "A") == ["CANCELLED"] * 2 + ["DONE"] * 2


def test_output_collection__keeps_the_order_of_the_elements() -> None:
    graph = draw(ONE, A=each(output_collection="results", output_element=Formula(text="${item * 10 + r}")))
    run = Run(graph, variables={"items": [1, 2, 3]})
    tasks = [t.id for t in run.state.tasks.values()]
    for task, r in zip(reversed(tasks), (7, 8, 9), strict=True):
        run.do(c.LockTask, task=task, worker="w", until=run.at.replace(year=2031))
        run.do(c.CompleteExternalTask, task=task, worker="w", local_variables={"r": r})

    assert run.variable("results") == [19, 28, 37]


def test_subprocess__a_round_is_a_scope_of_its_own() -> None:
    graph = draw("start s > subprocess sub > external Z", "start t > external A > external B > end u",
                 scopes={"sub": ("t", "A", "B", "u")}, sub=each())  # fmt: skip
    run = Run(graph, variables={"items": [1, 2]})
    run.work("A")
    assert run.waiting == ["A", "B"]
    for node in "ABB":
        run.work(node)
    assert run.waiting == ["Z"]


def test_boundary__interrupts_all_rounds() -> None:
    graph = draw(ONE, "boundary b > external B", A=each(),
                 b={"attached_to": "A", "trigger": Trigger(kind="error")})  # fmt: skip
    run = Run(graph, variables={"items": [1, 2, 3]})

    run.do(c.ThrowBpmnError, task=run.lock("A"), worker="w", code="X")

    assert run.waiting == ["B"]
    assert {t.state for t in run.state.tasks.values() if t.node == "A"} == {"DONE", "CANCELLED"}


def test_standard_loop__goes_on_while_its_condition_holds() -> None:
    graph = draw(ONE, A=loop("standard", loop_condition=Formula(text="${x < 3}")))
    run = Run(graph, variables={"x": 0})
    for x in (1, 2, 3):
        assert run.waiting == ["A"]
        run.work("A", x=x)
    assert run.waiting == ["Z"]


@pytest.mark.parametrize(("test_before", "waits"), [(True, ["Z"]), (False, ["A"])])
def test_standard_loop__tests_before_or_after(test_before: bool, waits: list[str]) -> None:
    graph = draw(ONE, A=loop("standard", loop_condition=Formula(text="${false}"), test_before=test_before))
    assert Run(graph).waiting == waits


def test_parallel__has_a_bound() -> None:
    run = Run(draw(ONE, A=loop("parallel", cardinality=Formula(text="1000000000"))))
    assert [i.kind for i in run.state.incidents.values()] == ["expression"]
    assert len(run.state.tokens) == 1


def test_a_collection_that_is_no_list_opens_an_incident() -> None:
    run = Run(draw(ONE, A=each()), variables={"items": 5})
    assert [i.kind for i in run.state.incidents.values()] == ["expression"]

    run.do(c.SetVariables, variables={"items": [1]})
    run.do(c.RetryIncident, incident=next(iter(run.state.incidents)))
    assert run.waiting == ["A"]


def test_counts_are_seen_inside_the_rounds() -> None:
    graph = draw(
        "start s > subprocess sub > end e",
        "start t > external A > end u",
        scopes={"sub": ("t", "A", "u")},
        sub={"loop": LoopSpec(kind="parallel", cardinality=Formula(text="${n}"))},
        A={
            "inputs": (
                Mapping(target="all", source=Formula(text="${nrOfInstances}")),
                Mapping(target="left", source=Formula(text="${nrOfActiveInstances}")),
                Mapping(target="done", source=Formula(text="${nrOfCompletedInstances}")),
            )
        },
    )
    run = Run(graph, variables={"n": 2})
    run.work("A")

    seen = {name: run.state.variables[key].value for key in run.state.variables for name in [key[1]]}
    assert (seen["all"], seen["left"], seen["done"]) == (2, 2, 0)


def test_loop_counter_begins_where_the_model_says() -> None:
    graph = draw(
        "start s > external A > end e",
        A={"loop": LoopSpec(kind="sequential", cardinality=Formula(text="${2}"), first_index=1)},
    )
    run = Run(graph)
    run.work("A")
    assert sorted(v.value for (_, name), v in run.state.variables.items() if name == "loopCounter") == [1, 2]


@pytest.mark.parametrize(
    "trigger",
    [
        Trigger(kind="signal", name=Formula(text="round")),
        Trigger(kind="escalation", code=Formula(text="round")),
    ],
)
def test_what_each_round_throws_does_not_interrupt_the_loop(trigger: Trigger) -> None:
    loop = LoopSpec(kind="sequential", cardinality=Formula(text="${3}"), behavior="none", thrown=((None, trigger),))
    graph = draw(
        "start s > external A > external Z > end e",
        "boundary b > external B > end f",
        A={"loop": loop},
        b={"attached_to": "A", "trigger": trigger},
    )
    run = Run(graph)
    for _ in range(3):
        run.work("A")
    assert run.waiting == ["B", "B", "B", "Z"]


def test_an_empty_collection_gives_an_empty_output_collection() -> None:
    """Zeebe, MultiInstanceBodyProcessor.activate: the output collection is there before the first round."""
    graph = draw(ONE, A=each(output_collection="results", output_element=Formula(text="${item}")))
    assert Run(graph, variables={"items": []}).variable("results") == []


@pytest.mark.parametrize("condition", ["=numberOfCompletedInstances >= 1", "=item = 1", "=numberOfInstances = 3"])
def test_completion_condition__knows_the_names_of_zeebe_and_what_the_round_knows(condition: str) -> None:
    """Camunda 8, Multi-instance, "Completion condition"; MultiInstanceBodyProcessor evaluates it for the round."""
    done = Formula(text=condition[1:], language="feel")
    gathers = {"output_collection": "results", "output_element": Formula(text="${item}")}
    run = Run(draw(ONE, A=each("sequential", completion_condition=done, **gathers)), variables={"items": [1, 2, 3]})
    run.work("A")
    assert run.waiting == ["Z"]
    assert run.variable("results") == [1, None, None]


def test_of_a_sequential_loop_one_round_is_active_always() -> None:
    """Camunda 7, Task Markers: nrOfActiveInstances of a sequential loop "will always be 1"."""
    never = Formula(text="${nrOfActiveInstances == 0}")
    run = Run(draw(ONE, A=loop("sequential", cardinality=Formula(text="${3}"), completion_condition=never)))
    for _ in range(3):
        assert run.waiting == ["A"]
        run.work("A")
    assert run.waiting == ["Z"]


def test_what_each_round_gives_is_its_own() -> None:
    """Zeebe, MultiInstanceBodyProcessor.setLoopVariables: a variable that is the output element is null at first."""
    gathers = {"output_collection": "results", "output_element": Formula(text="=r"), "output_variable": "r"}
    mapped = Mapping(target="r", source=Formula(text="=x + 1"))
    for outputs, brought in (((), {"r": 2}), ((mapped,), {"x": 1})):
        graph = draw(ONE, A=each(**gathers) | {"outputs": outputs, "outputs_only": bool(outputs)})
        run = Run(graph, variables={"items": ["a", "b"], "r": 99, "x": None})
        run.work("A", **brought)
        run.work("A", **({"x": None} if outputs else {}))
        assert run.variable("results") == [2, None]
        assert run.variable("r") == 99


@pytest.mark.parametrize(("before", "most", "rounds"), [(True, 2, 2), (False, 2, 2), (True, 0, 0), (False, 0, 1)])
def test_standard_loop__that_says_only_its_maximum_has_so_many_rounds(before: bool, most: int, rounds: int) -> None:
    """BPMN 2.0.2, table 10.28: loopMaximum caps the iterations; loopCondition is optional."""
    run = Run(draw(ONE, A=loop("standard", loop_maximum=most, test_before=before)))
    for _ in range(rounds):
        assert run.waiting == ["A"]
        run.work("A")
    assert run.waiting == ["Z"]
