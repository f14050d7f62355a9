"""The engine driver beside the core's: what the corpus does not try, each scenario both ways."""

from __future__ import annotations

import pytest

from bpm.management import driving
from bpm.scenarios import CoreDriver, read_scenarios, run_document
from tests.pure.scenarios.writing import call, end, person, process, start, timer, told, work, write


@pytest.fixture
def both_ways(database, tmp_path):
    """A function that runs scenarios on the core and through the engine; what failed, which must be the same."""

    def run(scenario: str, **models: str) -> list[str]:
        documents = read_scenarios(write(tmp_path, scenario, **models))
        core = [run_document(document, lambda: CoreDriver(tmp_path)) for document in documents]
        engine = [driving.perform(document, tmp_path, database).result for document in documents]
        assert told(engine) == told(core)
        assert engine == core
        return told(engine)

    return run


NIGHTLY = start("nightly", timer("R3/P1D", "timeCycle"))


def test_start_timers(both_ways):
    scenario = """
        start: {process: daily}
        steps:
          - advance: P1D
        expect: {waiting: [Look, Look]}
    """
    daily = process("daily", start("s"), NIGHTLY, person("Look"), end("e"), "s > Look > e", "nightly > Look")
    assert both_ways(scenario, daily=daily) == []
    early = """
        start: {process: daily}
        steps:
          - fire_timer: {activity: nightly}
          - expect: {waiting: [Look, Look]}
          - advance: PT23H
          - expect: {waiting: [Look, Look]}
          - advance: P9D
        expect: {passed_times: {nightly: 3}, waiting: [Look, Look, Look, Look]}
    """
    assert both_ways(early, daily=daily) == []
    alone = process("daily", NIGHTLY, person("Look"), end("e"), "nightly > Look > e")
    assert both_ways("start: {process: daily}", daily=alone) == []  # the only start event there is


SENDER = process(
    "sender",
    start("s"),
    '<intermediateThrowEvent id="tell"><messageEventDefinition messageRef="M"/></intermediateThrowEvent>',
    person("Rest"),
    end("e"),
    "s > tell > Rest > e",
    beside='<message id="M" name="News"/><signal id="S" name="Bell"/>',
)
LISTENER = process(
    "listener",
    start("ls", '<signalEventDefinition signalRef="S"/>'),
    person("Wake"),
    '<receiveTask id="Hear" messageRef="M"/>',
    end("le"),
    "ls > Wake > Hear > le",
    beside='<message id="M" name="News"/><signal id="S" name="Bell"/>',
)


def test_a_message_waits_for_who_waits_for_it(both_ways):
    scenario = """
        start: {process: sender}
        steps:
          - signal: {name: Bell}
          - expect: {waiting: [Rest, Wake], passed: [s, tell, ls]}
          - complete: {activity: Wake}
          - expect: {waiting: [Rest], passed: [Wake, Hear, le]}
          - expect_error: {step: {message: {name: News}}}
        ---
        start: {signal: Bell}
        steps:
          - complete: {activity: Wake}
          - complete: {activity: Hear, variables: {heard: true}}
        expect: {ended: true, variables: {heard: true}}
        ---
        start: {signal: Silence}
    """
    assert both_ways(scenario, sender=SENDER, listener=LISTENER) == [
        "start: the step is carried out / no process of the models starts with the signal Silence"
    ]


def test_calls_that_the_scenario_answers_need_no_model(both_ways):
    bound = call("Sub", "elsewhere").replace("<callActivity", '<callActivity camunda:calledElementBinding="deployment"')
    caller = process("caller", start("s"), bound, end("e"), "s > Sub > e")
    scenario = """
        start: {process: caller, variables: {x: 1}}
        called: {elsewhere: {variables: {y: 2}}}
        expect: {ended: true, variables: {x: 1, y: 2}, passed: [s, Sub, e]}
        ---
        start: {process: caller}
        called: {elsewhere: {error: {code: GONE}}}
        expect: {state: FAILED}
        ---
        start: {process: caller}
        expect: {incidents: 1, waiting: [Sub]}
    """
    assert both_ways(scenario, caller=caller) == []


def test_workers_take_the_oldest_and_give_back_what_they_did_not_mean(both_ways):
    model = process(
        "p", start("s"), '<parallelGateway id="g"/>', work("A", "t"), work("B", "t"), end("a"), end("b"),
        "s > g > A > a", "g > B > b",
    )  # fmt: skip
    scenario = """
        start: {process: p}
        steps:
          - complete: {activity: B, inputs: {}, variables: {b: 1}}
          - expect: {waiting: [A], trace: [t]}
          - error: {activity: A, code: LOST}
        expect: {state: FAILED, passed: [s, g, B, b], variables: {b: 1}}
    """
    assert both_ways(scenario, p=model) == []


def test_what_the_clock_does_to_locks_and_retries(both_ways):
    model = process("p", start("s"), work("A"), person("B"), end("e"), "s > A > B > e")
    scenario = """
        start: {process: p}
        steps:
          - fail: {activity: A, message: away, retries: 1}
          - advance: P40D
          - fail: {activity: A, message: away}
          - expect: {incidents: 1, waiting: [A]}
          - set_variables: {seen: true}
          - advance: P400D
        expect: {variables: {seen: true}, ended: false}
    """
    assert both_ways(scenario, p=model) == []
