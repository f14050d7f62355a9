"""The steps of a scenario on the core: completing, errors, failures, messages, signals, time, variables."""

from __future__ import annotations

from tests.pure.scenarios.writing import (
    boundary,
    call,
    end,
    gateway,
    perform,
    person,
    process,
    start,
    timer,
    told,
    work,
)

ERROR = '<errorEventDefinition errorRef="E"/>'
ORDER = process(
    "order",
    start("s"),
    work("Charge"),
    boundary("Declined", "Charge", ERROR),
    person("Approve"),
    end("paid"),
    end("refused"),
    "s > Charge > Approve > paid",
    "Declined > refused",
    beside='<error id="E" errorCode="DECLINED"/>',
)


def test_work_and_people_are_completed_in_order(tmp_path):
    scenario = """
        start: {process: order, business_key: A-1, variables: {amount: 12.50}}
        steps:
          - expect: {waiting: [Charge], passed: [s], ended: false, state: RUNNING, trace: []}
          - complete: {activity: Charge, topic: charge, inputs: {amount: 12.5}, variables: {paid: true}}
          - expect: {waiting: [Approve], trace: [charge], variables: {paid: true, amount: 12.5}}
          - complete: {activity: Approve, variables: {by: Ann}}
        expect:
          waiting: []
          ended: true
          state: COMPLETED
          passed: [s, Charge, Approve, paid]
          passed_once: [Charge]
          passed_times: {Charge: 1, refused: 0}
          not_passed: [refused, Declined]
          end_events: [paid]
          variables: {by: Ann}
          incidents: 0
    """
    assert told(perform(tmp_path, scenario, order=ORDER)) == []


def test_an_error_takes_the_boundary_event(tmp_path):
    scenario = """
        start: {process: order}
        steps:
          - error: {activity: Charge, code: DECLINED, message: "", variables: {why: poor}}
        expect: {ended: true, end_events: [refused], not_passed: [Charge], trace: [], variables: {why: poor}}
    """
    assert told(perform(tmp_path, scenario, order=ORDER)) == []


def test_an_error_that_nobody_catches_fails_the_instance(tmp_path):
    scenario = """
        start: {process: order}
        steps:
          - error: {topic: charge, code: OTHER}
        expect: {state: FAILED, ended: true, waiting: []}
    """
    assert told(perform(tmp_path, scenario, order=ORDER)) == []


def test_a_failure_counts_down_and_ends_in_an_incident(tmp_path):
    scenario = """
        start: {process: order}
        steps:
          - fail: {activity: Charge, message: timeout}
          - expect: {waiting: [Charge], incidents: 0}
          - fail: {activity: Charge, message: timeout, retries: 0}
          - expect: {waiting: [Charge], incidents: 1, ended: false}
          - expect_error: {step: {complete: {activity: Charge}}}
    """
    assert told(perform(tmp_path, scenario, order=ORDER)) == []


def test_retries_wait_for_the_clock(tmp_path):
    cycle = "<camunda:failedJobRetryTimeCycle>R3/PT10M</camunda:failedJobRetryTimeCycle>"
    model = process(
        "p", start("s"), work("A", inner=f"<extensionElements>{cycle}</extensionElements>"), end("e"), "s > A > e"
    )
    scenario = """
        start: {process: p}
        steps:
          - fail: {activity: A, message: away, retries: 2}
          - expect_error: {step: {complete: {activity: A}}}
          - advance: PT10M
          - complete: {activity: A}
        expect: {ended: true}
    """
    assert told(perform(tmp_path, scenario, p=model)) == []


def test_what_no_step_can_do_is_refused_with_words(tmp_path):
    scenario = """
        start: {process: order}
        steps: [{complete: {activity: Approve}}]
        ---
        start: {process: order}
        steps: [{fail: {activity: Charge}}, {complete: {activity: Charge}}, {fail: {activity: Approve}}]
        ---
        start: {process: order}
        steps: [{message: {name: Nobody}}]
        ---
        start: {process: order}
        steps: [{fire_timer: {activity: Charge}}]
        ---
        start: {process: nothing}
        ---
        start: {message: nothing}
        ---
        start: {process: order}
        steps: [{expect_error: {step: {complete: {activity: Charge}}}}]
        ---
        start: {process: order}
        steps: [{complete: {activity: Charge, inputs: {amount: 1}}}]
    """
    assert told(perform(tmp_path, scenario, order=ORDER)) == [
        "step 1 (complete Approve): the step is carried out / Approve does not wait; waiting: [Charge (topic charge)]",
        "step 3 (fail Approve): the step is carried out / only external tasks can fail",
        "step 1 (message Nobody): the step is carried out / nobody waits for the message Nobody, "
        "and no process starts with it",
        "step 1 (fire_timer Charge): the step is carried out / no timer waits at Charge; timers: []",
        "start: the step is carried out / there is no process nothing in the models; there are order",
        "start: the step is carried out / no process of the models starts with the message nothing",
        "step 1 (expect_error complete Charge): complete Charge is refused / it was carried out",
        "step 1 (complete Charge): Charge sees {amount: 1} / {amount: (no such variable)}",
    ]


TIMED = process(
    "timed",
    start("s"),
    person("Wait"),
    boundary("Remind", "Wait", timer("R3/PT1H", "timeCycle"), interrupting=False),
    boundary("Late", "Wait", timer("P1D")),
    end("e"),
    end("reminded"),
    end("late"),
    "s > Wait > e",
    "Remind > reminded",
    "Late > late",
)


def test_the_clock_fires_what_is_due_in_order(tmp_path):
    scenario = """
        start: {process: timed}
        steps:
          - advance: PT59M
          - expect: {passed: [s], not_passed: [Remind]}
          - advance: PT1M
          - expect: {passed_times: {Remind: 1}, waiting: [Wait]}
          - advance: P2D
        expect: {passed: [Remind, Remind, Remind, Late], ended: true, end_events: [reminded, late]}
        ---
        start: {process: timed}
        steps:
          - fire_timer: {activity: Late}
        expect: {ended: true, not_passed: [Remind, Wait]}
    """
    assert told(perform(tmp_path, scenario, timed=TIMED)) == []


MESSAGE = '<message id="M" name="Paid"/><message id="N" name="Begin"/>'
PAYMENT = process(
    "payment",
    start("s"),
    start("begin", '<messageEventDefinition messageRef="N"/>'),
    '<receiveTask id="Money" messageRef="M"/>',
    end("e"),
    "s > Money > e",
    "begin > Money",
    beside=MESSAGE,
)


def test_messages_find_the_instance_they_mean(tmp_path):
    scenario = """
        start: {process: payment, business_key: A-1, variables: {orderId: 5}}
        steps:
          - expect: {waiting: [Money]}
          - message: {name: Begin, business_key: A-2}
          - expect: {waiting: [Money, Money]}
          - expect_error: {step: {message: {name: Paid, business_key: A-3}}}
          - expect_error: {step: {message: {name: Paid, correlation: {orderId: 6}}}}
          - message: {name: Paid, business_key: A-2}
          - expect: {ended: false, waiting: [Money], passed_times: {Money: 1}}
          - message: {name: Paid, correlation: {orderId: 5}, variables: {sum: 3}}
        expect: {ended: true, variables: {sum: 3}, passed_times: {e: 2, begin: 1}}
        ---
        start: {message: Begin}
        mocks: {Money: {variables: {sum: 4}}}
        expect: {ended: true, variables: {sum: 4}, passed: [begin, Money, e]}
    """
    assert told(perform(tmp_path, scenario, payment=PAYMENT)) == []


def test_variables_are_set_on_the_process(tmp_path):
    model = process("p", start("s"), person("A"), gateway("exclusive", "g", "p_3"), end("big"), end("small"),
                    "s > A > g", "g > small", "g > big?${amount > 10}")  # fmt: skip
    scenario = """
        start: {process: p, variables: {amount: 1}}
        steps:
          - set_variables: {amount: 11}
          - complete: {activity: A}
        expect: {end_events: [big]}
    """
    assert told(perform(tmp_path, scenario, p=model)) == []


CALLER = process("caller", start("cs"), call("Sub", "called"), boundary("Failed", "Sub", ERROR), end("ce"), end("cf"),
                 "cs > Sub > ce", "Failed > cf", beside='<error id="E" errorCode="E1"/>')  # fmt: skip
CALLED = process("called", start("s"), person("Inner"), end("e"), "s > Inner > e")


def test_a_called_process_is_part_of_the_path(tmp_path):
    scenario = """
        start: {process: caller, variables: {x: 1}}
        steps:
          - expect: {waiting: [Inner], passed: [cs, s]}
          - complete: {activity: Inner, variables: {x: 2}}
        expect: {passed: [cs, s, Inner, e, Sub, ce], end_events: [ce], variables: {x: 2}, ended: true}
    """
    assert told(perform(tmp_path, scenario, caller=CALLER, called=CALLED)) == []


def test_a_called_process_can_be_answered_without_its_model(tmp_path):
    scenario = """
        start: {process: caller}
        called: {called: {variables: {x: 3}}}
        expect: {passed: [cs, Sub, ce], variables: {x: 3}, ended: true}
        ---
        start: {process: caller}
        called: {called: {error: {code: E1}}}
        expect: {end_events: [cf], not_passed: [Sub]}
        ---
        start: {process: caller}
        expect: {waiting: [Sub], incidents: 1}
    """
    assert told(perform(tmp_path, scenario, caller=CALLER)) == []
