"""Activities, gateways, starts, and what operators do; `events` has all that is thrown and caught."""

from __future__ import annotations

from datetime import UTC, datetime

from bpm.semantics import commands as c
from tests.histories.drawing import (
    BOTH,
    CANCEL,
    CHILD,
    DONE,
    HEARD,
    LATER,
    PARALLEL,
    SENT,
    UNDOING,
    YES,
    Case,
    beginning,
    catch,
    inside,
    message,
    p,
    signal,
    steps,
)
from tests.histories.events import CAUGHT, THROWN
from tests.pure.scenarios.writing import boundary, call, end, gateway, person, start, timer, work

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
                '<sendTask id="N" messageRef="m2"/>',
                end("e"),
                "s > t > h > W > U > R > C > N > e",
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

STARTS = (
    *(
        Case(f"{name} start", (beginning(inner),), node="x")
        for name, inner in (
            ("message", message("m1")),
            ("signal", signal("s1")),
            ("timer", timer("PT1H")),
            ("conditional", YES),
            ("multiple", BOTH),
        )
    ),
    Case("parallel multiple start", (beginning(BOTH, PARALLEL),), steps(HEARD), start="message: m1"),
)

RULES = """<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="d" namespace="tests">
<decision id="level" name="level"><variable name="level"/><decisionTable id="t" hitPolicy="UNIQUE">
<input id="i"><inputExpression id="ie"><text>amount</text></inputExpression></input><output id="o" name="level"/>
<rule id="r1"><inputEntry id="a"><text>&lt; 100</text></inputEntry>
<outputEntry id="b"><text>"low"</text></outputEntry></rule>
<rule id="r2"><inputEntry id="e"><text>&gt;= 100</text></inputEntry>
<outputEntry id="f"><text>"high"</text></outputEntry></rule></decisionTable></decision></definitions>"""
DECIDED = (
    Case(
        "decision",
        (
            p(
                start("s"),
                '<businessRuleTask id="D" camunda:decisionRef="level" camunda:mapDecisionResult="singleEntry"'
                ' camunda:resultVariable="level"/>',
                end("e"),
                "s > D > e",
            ),
        ),
        variables={"amount": 120},
        decisions=RULES,
    ),
)

INSTANTIATED = (
    Case(
        "event-based gateway that starts",
        (
            p(
                '<eventBasedGateway id="g" instantiate="true"/>',
                catch("c", message("m1")),
                catch("d", message("m2")),
                end("e"),
                "g > c > e",
                "g > d > e",
            ),
        ),
        start="message: m1",
    ),
    Case(
        "receive task that starts",
        (p('<receiveTask id="R" messageRef="m1" instantiate="true"/>', end("e"), "R > e"),),
        start="message: m1",
    ),
)

HEARD_OF = (
    '<serviceTask id="W" camunda:type="external" camunda:topic="W"><extensionElements>'
    '<camunda:executionListener event="start" class="Before"/>'
    """<camunda:executionListener event="end" expression="${execution.setVariable('told', true)}"/>"""
    "</extensionElements></serviceTask>"
)
LISTENING = (
    Case(
        "listeners",
        (p(start("s"), HEARD_OF, end("e"), "s > W > e"),),
        steps('- complete: {activity: "W:start:1"}', DONE),
    ),
)

ONE = (p(start("s"), work("W"), end("e"), "s > W > e"),)
PERSON = (p(start("s"), person("U"), end("e"), "s > U > e"),)


def both(work_: str, person_: str) -> str:
    """A task with events beside it, and a person's, of these ids."""
    return p(
        start("s"),
        gateway("parallel", "f"),
        work(work_, "t"),
        boundary(f"{work_}B", work_, timer("PT1H"), interrupting=False),
        boundary(f"{work_}M", work_, message("m1")),
        person(person_),
        *(end(id) for id in ("e", "b", "m", "u")),
        "s > f",
        f"f > {work_} > e",
        f"f > {person_} > u",
        f"{work_}B > b",
        f"{work_}M > m",
    )


LATER_THAN = (
    '<camunda:inputParameter name="next">=due + duration("P1D")</camunda:inputParameter>'
    '<camunda:inputParameter name="wait">=date("2026-12-01") - next</camunda:inputParameter>'
    "<camunda:inputParameter name=\"late\">${next > '2026-11-29'}</camunda:inputParameter>"
)
INVOICE = {
    "$type": "file",
    "value": {"name": "a.pdf", "size": 3, "sha256": "0" * 64, "mediaType": "application/pdf"},
}
OPERATED = (
    Case(
        "an instance that is migrated",
        (both("W", "U"),),
        steps("- fail: {activity: W, message: no, retries: 0}"),
        ends=False,
        later=both("V", "P"),
        commands=(
            (
                c.MigrateInstance,
                {
                    "definition": "definition-1-later",
                    "nodes": {"W": "V", "U": "P", "WB": "VB", "WM": "VM"},
                    "text": "the second version",
                },
            ),
            (c.CancelInstance, {}),
        ),
    ),
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
        "a worker that goes on with the next task",
        (p(start("s"), work("W"), work("V"), end("e"), "s > W > V > e"),),
        ends=False,
        commands=(
            (c.LockTask, {"task": 2, "worker": "w", "until": datetime(2100, 1, 1, tzinfo=UTC)}),
            (c.CompleteExternalTask, {"task": 2, "worker": "w", "next_topics": {"v": 60, "elsewhere": 0.5}}),
            (c.CompleteExternalTask, {"task": 3, "worker": "w"}),
        ),
    ),
    Case(
        "retries that an operator sets and a task that is given up",
        ONE,
        ends=False,
        commands=(
            (c.SetRetries, {"task": 2, "retries": 5}),
            (c.GiveUpTask, {"task": 2, "worker": "w", "text": "never done in time"}),
            (c.SetRetries, {"task": 2, "retries": 1}),
            (c.CancelInstance, {}),
        ),
    ),
    Case(
        "dates and what is local to a token",
        (
            p(
                start("s"),
                work(
                    "W",
                    inner=f"<extensionElements><camunda:inputOutput>{LATER_THAN}</camunda:inputOutput>"
                    "</extensionElements>",
                ),
                end("e"),
                "s > W > e",
            ),
        ),
        ends=False,
        variables={"due": {"$type": "date", "value": "2026-11-29"}, "file": INVOICE},
        commands=(
            (c.SetVariables, {"token": 1, "local": True, "variables": {"due": 1, "mine": True}, "unset": ("next",)}),
            (c.SetVariables, {"token": 1, "variables": {"due": 2, "new": [INVOICE]}}),
            (c.SetVariables, {"token": 1, "local": True, "unset": ("due", "new")}),
            (c.CancelInstance, {}),
        ),
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
        "tokens that are put elsewhere",
        ONE,
        ends=False,
        commands=((c.ModifyInstance, {"start": ({"before": "e"},), "cancel": ({"node": "W"},), "text": "skip it"}),),
    ),
    Case(
        "an instance that is restarted",
        ONE,
        steps(DONE),
        variables={"n": 1},
        commands=(
            (c.RestartInstance, {"variables": {"m": 2}, "text": "once more"}),
            (c.CancelInstance, {}),
            (c.RestartInstance, {"start": ({"before": "e"},), "fresh": True, "variables": {"n": 1}}),
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
    Case(
        "a user task that is assigned and delegated",
        PERSON,
        ends=False,
        commands=(
            (c.AssignUserTask, {"user_task": 2, "user": "ada"}),
            (c.DelegateUserTask, {"user_task": 2, "user": "bob"}),
            (c.ResolveUserTask, {"user_task": 2, "variables": {"checked": True}}),
            (c.CompleteUserTask, {"user_task": 2, "user": "ada", "form": True}),
        ),
    ),
)

CASES = (*ACTIVITIES, *GATEWAYS, *STARTS, *INSTANTIATED, *DECIDED, *LISTENING, *CAUGHT, *THROWN, *OPERATED)
