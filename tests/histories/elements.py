"""Small models that together use every element the engine runs, and what happens to an instance of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bpm.semantics import commands as c
from tests.pure.scenarios.writing import boundary, call, end, gateway, person, process, start, timer, work


@dataclass(frozen=True)
class Case:
    """One recorded history. `node`: the start event that begins the instance, where its key alone does not say;
    `commands`: what is asked of it after its steps.
    """

    name: str
    models: tuple[str, ...]
    steps: str = ""
    node: str = ""
    variables: dict[str, Any] = field(default_factory=dict)
    start: str = "process: p"
    ends: bool = True
    commands: tuple[tuple[type[c.Command], dict[str, Any]], ...] = ()


BESIDE = "".join(
    [
        *(f'<message id="{id}" name="{id}"/>' for id in ("m1", "m2", "m3", "m4")),
        *(f'<signal id="{id}" name="{id}"/>' for id in ("s1", "s2", "s3")),
        '<error id="x1" errorCode="x1" name="x1"/>',
        *(f'<escalation id="{id}" escalationCode="{id}" name="{id}"/>' for id in ("u1", "u2")),
    ]
)
YES = "<conditionalEventDefinition><condition>${go == 1}</condition></conditionalEventDefinition>"


def message(id: str) -> str:
    return f'<messageEventDefinition messageRef="{id}"/>'


def signal(id: str) -> str:
    return f'<signalEventDefinition signalRef="{id}"/>'


def escalation(id: str) -> str:
    return f'<escalationEventDefinition escalationRef="{id}"/>'


ERROR = '<errorEventDefinition errorRef="x1"/>'
COMPENSATE = "<compensateEventDefinition/>"
CANCEL = "<cancelEventDefinition/>"
TERMINATE = "<terminateEventDefinition/>"


def catch(id: str, inner: str, mark: str = "") -> str:
    return f'<intermediateCatchEvent id="{id}"{mark}>{inner}</intermediateCatchEvent>'


def throw(id: str, inner: str = "") -> str:
    return f'<intermediateThrowEvent id="{id}">{inner}</intermediateThrowEvent>'


def inside(id: str, *parts: str, element: str = "subProcess", mark: str = "") -> str:
    """A subprocess of these parts; chains are its sequence flows."""
    inner = process(id, *parts).partition('isExecutable="true">')[2].removesuffix("</process></definitions>")
    return f'<{element} id="{id}"{mark}>{inner}</{element}>'


def reacting(id: str, inner: str, *, interrupting: bool = True) -> str:
    """An event subprocess that starts with that event."""
    said = str(interrupting).lower()
    begin = f'<startEvent id="{id}S" isInterrupting="{said}">{inner}</startEvent>'
    return inside(id, begin, end(f"{id}E"), f"{id}S > {id}E", mark=' triggeredByEvent="true"')


def p(*parts: str) -> str:
    return process("p", *parts, beside=BESIDE)


def at_boundary(inner: str, *, interrupting: bool = True, mark: str = "") -> str:
    """A task with a boundary event, which leads to an end of its own."""
    event = boundary("B", "W", inner, interrupting=interrupting).replace(">", f"{mark}>", 1)
    return p(start("s"), work("W"), event, end("e"), end("b"), "s > W > e", "B > b")


def in_scope(inner: str, *, interrupting: bool = True) -> str:
    """A task in a process with an event subprocess."""
    return p(start("s"), work("W"), end("e"), "s > W > e", reacting("E", inner, interrupting=interrupting))


def beginning(inner: str, mark: str = "") -> str:
    """A process with that start event beside a plain one."""
    return p(f'<startEvent id="x"{mark}>{inner}</startEvent>', start("s"), end("e"), "x > e", "s > e")


CHILD = process("child", start("cs"), work("cw"), end("ce"), "cs > cw > ce")
BOTH = message("m1") + signal("s1")
PARALLEL = ' parallelMultiple="true"'
DONE = "- complete: {activity: W}"
SENT = "- message: {name: m1}"
HEARD = "- signal: {name: s1}"
SET = "- set_variables: {go: 1}"
LATER = "- advance: PT2H"


def steps(*lines: str) -> str:
    return "steps:\n" + "\n".join(f"  {line}" for line in lines)


HANDLER = '<serviceTask id="H" isForCompensation="true" camunda:type="external" camunda:topic="h"/>'
UNDONE = boundary("BC", "W", COMPENSATE).replace(' cancelActivity="true"', "")
ASSOCIATION = '<association id="as" associationDirection="One" sourceRef="BC" targetRef="H"/>'
UNDOING = (work("W"), UNDONE, HANDLER, ASSOCIATION)

ACTIVITIES = (
    Case(
        "tasks",
        (
            p(
                start("s"),
                '<task id="t"/>',
                '<manualTask id="h"/>',
                work("W"),
                person("U"),
                '<receiveTask id="R" messageRef="m1"/>',
                call("C", "child"),
                end("e"),
                "s > t > h > W > U > R > C > e",
            ),
            CHILD,
        ),
        steps(
            "- complete: {activity: W, variables: {a: 1.50, b: {c: [1, null]}}}",
            "- complete: {activity: U}",
            SENT,
            "- complete: {activity: cw, variables: {z: 1}}",
        ),
        variables={"n": 1},
    ),
    Case(
        "work that fails",
        (p(start("s"), work("W"), end("e"), "s > W > e"),),
        steps(
            "- fail: {activity: W, message: timeout, retries: 2}",
            "- fail: {activity: W, message: gone, retries: 1}",
            DONE,
        ),
    ),
    Case(
        "subprocess",
        (p(start("s"), inside("S", start("is"), work("W"), end("ie"), "is > W > ie"), end("e"), "s > S > e"),),
        steps(DONE),
    ),
    Case(
        "transaction",
        (
            p(
                start("s"),
                inside("S", start("is"), *UNDOING, end("ie", CANCEL), "is > W > ie", element="transaction"),
                boundary("BX", "S", CANCEL),
                end("e"),
                end("x"),
                "s > S > e",
                "BX > x",
            ),
        ),
        steps(DONE, "- complete: {activity: H}"),
    ),
    Case(
        "ad hoc subprocess",
        (p(start("s"), inside("S", work("W"), work("V"), element="adHocSubProcess"), end("e"), "s > S > e"),),
        steps(DONE, "- complete: {activity: V}"),
    ),
    *(
        Case(
            name,
            (p(start("s"), work("W", inner=inner), end("e"), "s > W > e"),),
            steps(DONE, DONE, DONE),
            variables={"items": [1, 2, 3], "go": 1},
        )
        for name, inner in (
            (
                "multi-instance in parallel",
                '<multiInstanceLoopCharacteristics camunda:collection="items" camunda:elementVariable="i"/>',
            ),
            (
                "multi-instance in sequence",
                '<multiInstanceLoopCharacteristics isSequential="true">'
                "<loopCardinality>3</loopCardinality></multiInstanceLoopCharacteristics>",
            ),
            (
                "standard loop",
                '<standardLoopCharacteristics loopMaximum="3"><loopCondition>${go == 1}</loopCondition>'
                "</standardLoopCharacteristics>",
            ),
        )
    ),
)

GATEWAYS = (
    Case(
        "exclusive and parallel gateway",
        (
            p(
                start("s"),
                gateway("exclusive", "x"),
                gateway("parallel", "f"),
                work("W"),
                work("V"),
                gateway("parallel", "j"),
                end("e"),
                end("n"),
                "s > x",
                "x > f?${n == 1}",
                "x > n?${n != 1}",
                "f > W > j > e",
                "f > V > j",
            ),
        ),
        steps("- complete: {activity: V}", DONE),
        variables={"n": 1},
    ),
    Case(
        "inclusive gateway",
        (
            p(
                start("s"),
                gateway("inclusive", "o"),
                work("W"),
                work("V"),
                work("N"),
                gateway("inclusive", "j"),
                end("e"),
                "s > o",
                "o > W?${n > 0}",
                "o > V?${n > 1}",
                "o > N?${n > 2}",
                "W > j > e",
                "V > j",
                "N > j",
            ),
        ),
        steps(DONE, "- complete: {activity: V}"),
        variables={"n": 2},
    ),
    Case(
        "event-based gateway",
        (
            p(
                start("s"),
                gateway("eventBased", "g"),
                catch("c", message("m1")),
                catch("t", timer("PT1H")),
                end("e"),
                end("l"),
                "s > g",
                "g > c > e",
                "g > t > l",
            ),
        ),
        steps(LATER),
    ),
    Case(
        "complex gateway",
        (
            p(
                start("s"),
                gateway("parallel", "f"),
                work("W"),
                work("V"),
                work("N"),
                '<complexGateway id="g"><activationCondition>${activationCount &gt;= 2}</activationCondition>'
                "</complexGateway>",
                end("e"),
                "s > f",
                "f > W > g > e",
                "f > V > g",
                "f > N > g",
            ),
        ),
        steps(DONE, "- complete: {activity: V}", "- complete: {activity: N}"),
    ),
)

STARTS = tuple(
    Case(f"{name} start", (beginning(inner, mark),), node="x")
    for name, inner, mark in (
        ("message", message("m1"), ""),
        ("signal", signal("s1"), ""),
        ("timer", timer("PT1H"), ""),
        ("conditional", YES, ""),
        ("multiple", BOTH, ""),
        ("parallel multiple", BOTH, PARALLEL),
    )
)

# The event that comes, and what makes it come.
EVENTS = (
    ("message", message("m1"), SENT),
    ("timer", timer("PT1H"), LATER),
    ("signal", signal("s1"), HEARD),
    ("conditional", YES, SET),
    ("multiple", BOTH, HEARD),
)

CAUGHT = (
    *(
        Case(f"{name} catch", (p(start("s"), catch("c", inner), end("e"), "s > c > e"),), steps(comes))
        for name, inner, comes in EVENTS
    ),
    Case(
        "parallel multiple catch",
        (p(start("s"), catch("c", BOTH, PARALLEL), end("e"), "s > c > e"),),
        steps(HEARD, SENT),
    ),
    Case(
        "links",
        (
            p(
                start("s"),
                throw("t", '<linkEventDefinition name="l"/>'),
                catch("c", '<linkEventDefinition name="l"/>'),
                end("e"),
                "s > t",
                "c > e",
            ),
        ),
    ),
    *(
        Case(
            f"{name} {'interrupting' if stops else 'non-interrupting'} {place}",
            (make(inner, interrupting=stops),),
            steps(comes, *([] if stops else [DONE])),
        )
        for name, inner, comes in EVENTS
        for stops in (True, False)
        for place, make in (("boundary", at_boundary), ("event subprocess", in_scope))
    ),
    *(
        Case(
            f"parallel multiple {'interrupting' if stops else 'non-interrupting'} boundary",
            (at_boundary(BOTH, interrupting=stops, mark=PARALLEL),),
            steps(HEARD, SENT, *([] if stops else [DONE])),
        )
        for stops in (True, False)
    ),
    *(
        Case(
            f"parallel multiple {'interrupting' if stops else 'non-interrupting'} event subprocess",
            (in_scope(BOTH, interrupting=stops).replace('<startEvent id="ES"', f'<startEvent id="ES"{PARALLEL}'),),
            steps(HEARD, SENT, *([] if stops else [DONE])),
        )
        for stops in (True, False)
    ),
    Case("error boundary", (at_boundary(ERROR),), steps("- error: {activity: W, code: x1, message: sold out}")),
    Case("error event subprocess", (in_scope(ERROR),), steps("- error: {activity: W, code: x1}")),
)

THROWN = (
    Case("none throw", (p(start("s"), throw("t"), end("e"), "s > t > e"),)),
    Case(
        "message throw and end",
        (
            p(start("s"), throw("t", message("m1")), end("e", message("m2")), "s > t > e"),
            process(
                "q", start("qs", message("m1")), catch("qc", message("m2")), end("qe"), "qs > qc > qe", beside=BESIDE
            ),
        ),
    ),
    Case(
        "signal throw and end",
        (
            p(
                start("s"),
                gateway("parallel", "f"),
                catch("c", signal("s1")),
                work("W"),
                throw("t", signal("s1")),
                end("e"),
                end("d", signal("s2")),
                "s > f",
                "f > c > e",
                "f > W > t > d",
            ),
        ),
        steps(DONE),
    ),
    Case(
        "multiple throw and end",
        (p(start("s"), throw("t", BOTH), end("e", message("m2") + signal("s2")), "s > t > e"),),
    ),
    *(
        Case(
            f"escalation {'interrupting' if stops else 'non-interrupting'} boundary",
            (
                p(
                    start("s"),
                    inside(
                        "S",
                        start("is"),
                        throw("t", escalation("u1")),
                        work("W"),
                        end("ie", escalation("u2")),
                        "is > t > W > ie",
                    ),
                    boundary("B", "S", escalation("u1"), interrupting=stops),
                    end("e"),
                    end("b"),
                    "s > S > e",
                    "B > b",
                ),
            ),
            "" if stops else steps(DONE),
        )
        for stops in (True, False)
    ),
    *(
        Case(
            f"escalation {'interrupting' if stops else 'non-interrupting'} event subprocess",
            (
                p(
                    start("s"),
                    throw("t", escalation("u1")),
                    work("W"),
                    end("e"),
                    "s > t > W > e",
                    reacting("E", escalation("u1"), interrupting=stops),
                ),
            ),
            "" if stops else steps(DONE),
        )
        for stops in (True, False)
    ),
    Case(
        "compensation throw and end",
        (
            p(
                start("s"),
                *UNDOING,
                throw("t", COMPENSATE),
                work("V"),
                end("e", COMPENSATE),
                "s > W > t > V > e",
            ),
        ),
        steps(DONE, "- complete: {activity: H}", "- complete: {activity: V}"),
    ),
    Case(
        "compensation event subprocess",
        (
            p(
                start("s"),
                inside("S", start("is"), work("W"), end("ie"), "is > W > ie", reacting("E", COMPENSATE)),
                throw("t", COMPENSATE),
                end("e"),
                "s > S > t > e",
            ),
        ),
        steps(DONE),
    ),
    Case("error end", (p(start("s"), end("e", ERROR), "s > e"),)),
    Case(
        "terminate end",
        (
            p(
                start("s"),
                gateway("parallel", "f"),
                work("W"),
                work("V"),
                end("e", TERMINATE),
                end("n"),
                "s > f",
                "f > W > e",
                "f > V > n",
            ),
        ),
        steps(DONE),
    ),
    Case("a timer that does not matter any more", (at_boundary(timer("PT1H")),), steps(DONE)),
    Case("a message that does not matter any more", (at_boundary(message("m1")),), steps(DONE)),
)

ONE = (p(start("s"), work("W"), end("e"), "s > W > e"),)
PERSON = (p(start("s"), person("U"), end("e"), "s > U > e"),)

OPERATED = (
    Case(
        "an incident that is retried",
        (p(start("s"), work("W", "${nothing}"), end("e"), "s > W > e"),),
        ends=False,
        commands=(
            (c.SetVariables, {"variables": {"nothing": "t"}}),
            (c.RetryIncident, {"incident": 2}),
            (c.CancelInstance, {"text": "enough"}),
        ),
    ),
    Case(
        "a task that is failed for good and retried",
        ONE,
        steps("- fail: {activity: W, message: gone, retries: 0}"),
        ends=False,
        commands=((c.RetryIncident, {"incident": 3, "retries": 2}),),
    ),
    Case(
        "an instance that is suspended",
        ONE,
        ends=False,
        variables={"n": 1},
        commands=(
            (c.SuspendInstance, {"text": "wait"}),
            (c.SetVariables, {"variables": {"m": 2}, "unset": ("n",)}),
            (c.ResumeInstance, {}),
            (c.CancelInstance, {}),
        ),
    ),
    Case(
        "a user task that is claimed and given back",
        PERSON,
        ends=False,
        commands=(
            (c.ClaimUserTask, {"user_task": 2, "user": "ada"}),
            (c.UnclaimUserTask, {"user_task": 2}),
            (c.ClaimUserTask, {"user_task": 2, "user": "bob"}),
            (c.CancelInstance, {}),
        ),
    ),
)

CASES = (*ACTIVITIES, *GATEWAYS, *STARTS, *CAUGHT, *THROWN, *OPERATED)
