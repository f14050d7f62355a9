"""Small processes with a fault each, and sound ones that come close to one."""

from __future__ import annotations

from tests.pure.scenarios.writing import boundary, call, end, gateway, person, process, start, timer, work

ERROR = '<error id="no" errorCode="NO"/>'
ESCALATION = '<escalation id="up" escalationCode="UP"/>'
THROW_ERROR = '<errorEventDefinition errorRef="no"/>'
THROW_ESCALATION = '<escalationEventDefinition escalationRef="up"/>'
MESSAGE = '<message id="m" name="come"/>'
COME = '<messageEventDefinition messageRef="m"/>'

# name -> (the findings that it must have, as "code element"; its XML)
BAD: dict[str, tuple[list[str], str]] = {
    "a parallel join after an exclusive split": (
        ["deadlock j"],
        process("p", start("s"), gateway("exclusive", "x", "p_4"), work("A"), work("B"), gateway("parallel", "j"),
                end("e"), "s > x > A?${a} > j", "x > B > j > e"),
    ),
    "a join that a branch leaves out": (
        ["deadlock j"],
        process("p", start("s"), gateway("parallel", "f"), person("A"), person("B"),
                gateway("exclusive", "x", "p_7"), gateway("parallel", "j"), end("e"), end("out"),
                "s > f > A > j > e", "f > B > x", "x > j", "x > out?${gone}"),
    ),
    "two tokens by one flow, none by the other": (
        ["deadlock j"],
        process("p", start("s"), gateway("exclusive", "x", "p_4"), person("A"), person("B"), person("C"),
                gateway("parallel", "j"), end("e"),
                "s > x > A?${a} > j", "x > C > j > e", "s > B > j"),
    ),
    "a round without a way out": (
        ["never-ends A+B", "never-reached e2"],
        process("p", start("s"), person("A"), person("B"), gateway("exclusive", "x"), gateway("exclusive", "y"),
                end("e"), "s > x > A > y > B > x", "e2 > e", '<userTask id="e2"/>'),
    ),
    "a fork in a round": (
        ["grows A"],
        process("p", start("s"), gateway("exclusive", "x"), gateway("parallel", "f"), person("A"), end("e"),
                "s > x > f > A > e", "f > T > x", person("T")),
    ),
    "a fork that an exclusive gateway closes": (
        ["several-at-once C"],
        process("p", start("s"), gateway("parallel", "f"), person("A"), person("B"), gateway("exclusive", "x"),
                person("C"), end("e"), "s > f > A > x > C > e", "f > B > x"),
    ),
    "no flow for some data": (
        ["no-flow x"],
        process("p", start("s"), gateway("exclusive", "x"), person("A"), person("B"), end("e"),
                "s > x > A?${n &gt; 10} > e", "x > B?${n &lt; 10} > e"),
    ),
    "conditions that never hold": (
        ["no-way-out x"],
        process("p", start("s"), gateway("exclusive", "x"), person("A"), person("B"), end("e"),
                "s > x > A?${false} > e", "x > B?${1 == 2} > e"),
    ),
    "an error that nobody catches": (
        ["error-uncaught bad"],
        process("p", start("s"), gateway("exclusive", "x", "p_2"), person("A"), end("e"), end("bad", THROW_ERROR),
                "s > x > A > e", "x > bad?${n &gt; 10}", beside=ERROR),
    ),
    "an escalation that nobody catches": (
        ["escalation-uncaught up_"],
        process("p", start("s"), f'<intermediateThrowEvent id="up_">{THROW_ESCALATION}</intermediateThrowEvent>',
                end("e"), "s > up_ > e", beside=ESCALATION),
    ),
    "a boundary event for an error that its subprocess never throws": (
        ["never-reached b"],
        process("p", start("s"),
                '<subProcess id="sub"><startEvent id="is"/><manualTask id="im"/><endEvent id="ie"/>'
                '<sequenceFlow id="f1" sourceRef="is" targetRef="im"/><sequenceFlow id="f2" sourceRef="im"'
                ' targetRef="ie"/></subProcess>',
                boundary("b", "sub", THROW_ERROR), end("e"), end("be"), "s > sub > e", "b > be", beside=ERROR),
    ),
    "an inclusive fork that a parallel join closes": (
        ["deadlock j"],
        process("p", start("s"), gateway("inclusive", "i", "p_4"), person("A"), person("B"), gateway("parallel", "j"),
                end("e"), "s > i > A?${a} > j", "i > B > j > e"),
    ),
    "a join in a loop's subprocess": (
        ["deadlock j"],
        process("p", start("s"),
                '<subProcess id="sub"><multiInstanceLoopCharacteristics><loopCardinality>${n}</loopCardinality>'
                '</multiInstanceLoopCharacteristics><startEvent id="is"/><exclusiveGateway id="x" default="g1"/>'
                '<parallelGateway id="j"/><endEvent id="ie"/><userTask id="A"/>'
                '<sequenceFlow id="g0" sourceRef="is" targetRef="x"/>'
                '<sequenceFlow id="g1" sourceRef="x" targetRef="A"/>'
                '<sequenceFlow id="g2" sourceRef="x" targetRef="j"><conditionExpression>${c == 1}</conditionExpression>'
                '</sequenceFlow><sequenceFlow id="g3" sourceRef="A" targetRef="j"/>'
                '<sequenceFlow id="g4" sourceRef="j" targetRef="ie"/></subProcess>',
                end("e"), "s > sub > e"),
    ),
}  # fmt: skip

GOOD: dict[str, str] = {
    "a line": process("p", start("s"), person("A"), end("e"), "s > A > e"),
    "fork and join": process("p", start("s"), gateway("parallel", "f"), person("A"), work("B"),
                             gateway("parallel", "j"), end("e"), "s > f > A > j > e", "f > B > j"),
    "conditions that leave nothing out": process(
        "p", start("s"), gateway("exclusive", "x"), person("A"), person("B"), person("C"), end("e"),
        "s > x > A?${n &gt; 10} > e", "x > B?${n == 10} > e", "x > C?${n &lt; 10} > e"),
    "conditions on what may be empty": process(
        "p", start("s"), gateway("exclusive", "x"), person("A"), person("B"), end("e"),
        "s > x > A?${!empty flags.ON and flags.ON} > e", "x > B?${empty flags.ON or !flags.ON} > e"),
    "an inclusive fork and join": process(
        "p", start("s"), gateway("inclusive", "i", "p_4"), person("A"), person("B"),
        gateway("inclusive", "j"), end("e"), "s > i > A?${a} > j", "i > B > j > e"),
    "a loop": process("p", start("s"), gateway("exclusive", "x"), person("A"), gateway("exclusive", "y", "p_4"),
                      end("e"), "s > x > A > y > e", "y > x?${again}"),
    "an automatic loop": process(
        "p", start("s"), gateway("exclusive", "x"), '<manualTask id="A"/>', gateway("exclusive", "y", "p_4"), end("e"),
        "s > x > A > y > e", "y > x?${again}"),
    "a fork in a round that leaves nothing behind": process(
        "p", start("s"), gateway("exclusive", "x"), person("A"), gateway("exclusive", "y", "p_4"), end("e"),
        "s > x > A > y > e", "y > f?${again}", gateway("parallel", "f"), end("noted"), "f > x", "f > noted"),
    "a reminder": process("p", start("s"), person("A"), boundary("b", "A", timer("R/PT1H", "timeCycle"),
                          interrupting=False), person("B"), end("e"), end("e2"), "s > A > e", "b > B > e2"),
    "an error that is caught": process("p", start("s"), work("A"), boundary("b", "A", THROW_ERROR), end("e"),
                                       end("e2"),
                                       "s > A > e", "b > e2", beside=ERROR),
    "a called process": process("p", start("s"), call("C", "other"), boundary("b", "C", THROW_ERROR), end("e"),
                                end("e2"),
                                "s > C > e", "b > e2", beside=ERROR),
    "a message": process("p", start("s"), f'<intermediateCatchEvent id="c">{COME}</intermediateCatchEvent>',
                         end("e"),
                         "s > c > e", beside=MESSAGE),
    "a terminate end beside waiting work": process(
        "p", start("s"), gateway("parallel", "f"), person("A"), person("B"), end("e", "<terminateEventDefinition/>"),
        end("e2"), "s > f > A > e", "f > B > e2"),
}  # fmt: skip
