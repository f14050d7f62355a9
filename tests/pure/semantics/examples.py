"""One small model for each feature of `bpm.compiler.supported`, and one way through it.

    example(("boundary", "timer", "interrupting")) -> the BPMN file
    play(...)                                      -> what happens, as text

At each moment the first of these is done: an ACTIVE token goes on; what is awaited comes, once a node (a message, a
signal, a time, a condition); a called process returns; a worker or a person completes what waits longest.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from datetime import timedelta

from bpm.compiler import compile_or_raise
from bpm.compiler.supported import Feature
from bpm.decisions import Evaluator
from bpm.graph import Process
from bpm.semantics import Decided, Event, State
from bpm.semantics import commands as c
from bpm.semantics.starts import beginnings
from tests.pure.compiler.writing import written
from tests.pure.decisions.writing import compiled as compiled_dmn
from tests.pure.decisions.writing import decision, literal
from tests.pure.semantics.drawing import START, answered

AROUND = (
    '<message id="m" name="ordered"/><signal id="sig" name="alarm"/><error id="err" errorCode="E"/>'
    '<escalation id="esc" escalationCode="E"/>'
)
CONDITION = '<condition xsi:type="tFormalExpression">${ready}</condition>'
DEFINITIONS = {
    "none": "",
    "message": '<messageEventDefinition messageRef="m"/>',
    "signal": '<signalEventDefinition signalRef="sig"/>',
    "timer": "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>",
    "conditional": f"<conditionalEventDefinition>{CONDITION}</conditionalEventDefinition>",
    "error": '<errorEventDefinition errorRef="err"/>',
    "escalation": '<escalationEventDefinition escalationRef="esc"/>',
    "compensation": "<compensateEventDefinition/>",
    "terminate": "<terminateEventDefinition/>",
    "cancel": "<cancelEventDefinition/>",
    "link": '<linkEventDefinition name="there"/>',
    "multiple": '<messageEventDefinition messageRef="m"/><signalEventDefinition signalRef="sig"/>',
    "parallel_multiple": '<messageEventDefinition messageRef="m"/><signalEventDefinition signalRef="sig"/>',
}
LOOPS = {
    "parallel": "<multiInstanceLoopCharacteristics><loopCardinality>2</loopCardinality>"
    "</multiInstanceLoopCharacteristics>",
    "sequential": '<multiInstanceLoopCharacteristics isSequential="true"><loopCardinality>2</loopCardinality>'
    "</multiInstanceLoopCharacteristics>",
    "standard": '<standardLoopCharacteristics loopMaximum="2"><loopCondition>${true}</loopCondition>'
    "</standardLoopCharacteristics>",
}
TASKS = {
    "pass": '<task id="X"/>',
    "external": '<serviceTask id="X" camunda:type="external" camunda:topic="x"/>',
    "user": '<userTask id="X" camunda:assignee="ann"/>',
    "receive": '<receiveTask id="X" messageRef="m"/>',
    "send": '<sendTask id="X" messageRef="m"/>',
    "call": '<callActivity id="X" calledElement="other"/>',
    "decision": '<businessRuleTask id="X" camunda:decisionRef="D" camunda:resultVariable="r"/>',
}


def work(id: str, inner: str = "") -> str:
    return f'<serviceTask id="{id}" camunda:type="external" camunda:topic="{id.lower()}">{inner}</serviceTask>'


def flow(*chain: str) -> str:
    """Sequence flows along a chain of ids; `id?condition` tells of the flow to it."""
    found = []
    for source, target in itertools.pairwise(chain):
        source, target, condition = source.partition("?")[0], *target.partition("?")[::2]
        asked = (
            f'<conditionExpression xsi:type="tFormalExpression">{condition}</conditionExpression>' if condition else ""
        )
        found.append(
            f'<sequenceFlow id="{source}_{target}" sourceRef="{source}" targetRef="{target}">{asked}</sequenceFlow>'
        )
    return "".join(found)


def event(tag: str, id: str, trigger: str, attributes: str = "") -> str:
    parallel = ' parallelMultiple="true"' if trigger == "parallel_multiple" else ""
    return f'<{tag} id="{id}"{parallel} {attributes}>{DEFINITIONS[trigger]}</{tag}>'


def start(id: str = "s") -> str:
    return f'<startEvent id="{id}"/>'


def end(id: str = "e", trigger: str = "none") -> str:
    return event("endEvent", id, trigger)


def line(middle: str, *ids: str) -> str:
    """Start, what is in the middle, end."""
    return start() + middle + end() + flow("s", *ids, "e")


def undone(host: str) -> str:
    """A compensation handler U of an activity."""
    return (
        event("boundaryEvent", "undo", "compensation", f'attachedToRef="{host}"')
        + work("U").replace("<serviceTask ", '<serviceTask isForCompensation="true" ')
        + '<association id="a" associationDirection="One" sourceRef="undo" targetRef="U"/>'
    )


def example(feature: Feature) -> bytes:
    """The BPMN file that has the feature."""
    kind, mark, position = feature
    if kind in TASKS and not mark:
        return _file(line(TASKS[kind], "X"))
    if kind == "loop":
        return _file(line(work("X", LOOPS[mark]), "X"))
    if kind == "start":
        return _file(_start(mark, position))
    if kind == "boundary":
        return _file(_boundary(mark, position))
    if kind in ("catch", "throw"):
        return _file(_intermediate(kind, mark))
    return _file(_end(mark) if kind == "end" else CONTENT[feature])


def _file(content: str) -> bytes:
    return written(content, AROUND)


def _start(trigger: str, position: str) -> str:
    if position == "process":
        return event("startEvent", "s", trigger) + work("A") + end() + flow("s", "A", "e")
    if position == "subprocess":
        return line(f'<subProcess id="X">{start("t")}{work("A")}{end("u")}{flow("t", "A", "u")}</subProcess>', "X")
    quiet = ' isInterrupting="false"' if position == "non-interrupting" else ""
    began = event("startEvent", "t", trigger, quiet)
    handler = (
        f'<subProcess id="H" triggeredByEvent="true">{began}{work("B")}{end("u")}{flow("t", "B", "u")}</subProcess>'
    )
    if trigger == "error":
        return start() + end("e", "error") + flow("s", "e") + handler
    if trigger == "escalation":
        return line(event("intermediateThrowEvent", "X", trigger) + work("A"), "X", "A") + handler
    if trigger == "compensation":
        inner = start("v") + work("A") + end("w") + flow("v", "A", "w") + handler
        return line(
            f'<subProcess id="X">{inner}</subProcess>' + event("intermediateThrowEvent", "Y", trigger), "X", "Y"
        )
    return line(work("A"), "A") + handler


def _boundary(trigger: str, position: str) -> str:
    quiet = ' cancelActivity="false"' if position == "non-interrupting" else ""
    caught = event("boundaryEvent", "X", trigger, f'attachedToRef="A"{quiet}') + work("B") + flow("X", "B")
    if trigger == "compensation":
        return line(work("A") + undone("A") + event("intermediateThrowEvent", "Y", trigger), "A", "Y")
    if trigger in ("error", "cancel", "escalation"):
        tag = "transaction" if trigger == "cancel" else "subProcess"
        inside = start("t") + end("u", trigger) + flow("t", "u")
        return line(f'<{tag} id="A">{inside}</{tag}>', "A") + caught
    return line(work("A"), "A") + caught


def _intermediate(kind: str, trigger: str) -> str:
    if trigger == "link":
        thrown, caught = (event(f"intermediate{name}Event", name, trigger) for name in ("Throw", "Catch"))
        return start() + thrown + flow("s", "Throw") + caught + end() + flow("Catch", "e")
    if trigger == "compensation":
        return line(work("A") + undone("A") + event("intermediateThrowEvent", "X", trigger), "A", "X")
    tag = "intermediateCatchEvent" if kind == "catch" else "intermediateThrowEvent"
    return line(event(tag, "X", trigger) + work("A"), "X", "A")


def _end(trigger: str) -> str:
    if trigger == "terminate":
        forked = start() + '<parallelGateway id="f"/>' + work("A") + work("B")
        return forked + end("e", trigger) + flow("s", "f", "A", "e") + flow("f", "B")
    if trigger == "cancel":
        inside = start("t") + work("A") + undone("A") + end("u", trigger) + flow("t", "A", "u")
        left = event("boundaryEvent", "left", trigger, 'attachedToRef="X"') + work("B") + flow("left", "B")
        return line(f'<transaction id="X">{inside}</transaction>', "X") + left
    if trigger == "compensation":
        return start() + work("A") + undone("A") + end("e", trigger) + flow("s", "A", "e")
    return start() + end("e", trigger) + flow("s", "e")


def _gateway(kind: str, *, conditions: bool, inner: str = "") -> str:
    """A split and a join of one kind, two branches between them."""
    split, join = f'<{kind}Gateway id="X"/>', f'<{kind}Gateway id="Y">{inner}</{kind}Gateway>'
    asked = "?${n == 1}" if conditions else ""
    drawn = start() + split + work("A") + work("B") + join + end()
    return (
        drawn + flow("s", "X") + flow("X", f"A{asked}") + flow("X", f"B{asked}") + flow("A", "Y", "e") + flow("B", "Y")
    )


CONTENT: dict[Feature, str] = {
    ("subprocess", "", ""): _start("none", "subprocess"),
    ("subprocess", "transaction", ""): line(
        f'<transaction id="X">{start("t")}{work("A")}{end("u")}{flow("t", "A", "u")}</transaction>', "X"
    ),
    ("subprocess", "ad_hoc", ""): line(f'<adHocSubProcess id="X">{work("A")}{work("B")}</adHocSubProcess>', "X"),
    ("event_subprocess", "", ""): _start("message", "interrupting"),
    ("activity", "compensation", ""): _intermediate("throw", "compensation"),
    ("exclusive", "", ""): _gateway("exclusive", conditions=True),
    ("parallel", "", ""): _gateway("parallel", conditions=False),
    ("inclusive", "", ""): _gateway("inclusive", conditions=True),
    ("complex", "", ""): _gateway(
        "complex", conditions=True, inner="<activationCondition>${activationCount >= 1}</activationCondition>"
    ),
    ("event_based", "", ""): start()
    + '<eventBasedGateway id="X"/>'
    + event("intermediateCatchEvent", "M", "message")
    + event("intermediateCatchEvent", "T", "timer")
    + work("A")
    + work("B")
    + flow("s", "X", "M", "A")
    + flow("X", "T", "B"),
    ("event_based", "instantiate", ""): '<eventBasedGateway id="X" instantiate="true"/>'
    + event("intermediateCatchEvent", "M", "message")
    + event("intermediateCatchEvent", "N", "signal")
    + work("A")
    + work("B")
    + flow("X", "M", "A")
    + flow("X", "N", "B"),
    ("receive", "instantiate", ""): '<receiveTask id="X" messageRef="m" instantiate="true"/>'
    + work("A")
    + flow("X", "A"),
}

DECISIONS = {"D": Evaluator(compiled_dmn(decision("D", literal('"high"'))).decisions)}


def play(content: bytes) -> str:
    """One way through the model: each commit with its command and its events, a line each."""
    (process,) = compile_or_raise(content).processes
    state = State(thread="i")
    lines: list[str] = []
    came: set[tuple[str, str]] = set()
    command: c.Command | None = _begin(process)
    while command is not None:
        command, decided = answered(process, state, command, DECISIONS)
        assert isinstance(decided, Decided), decided
        lines.append(f"{type(command).__name__} {_text(c.to_json(command))}".rstrip())
        lines += [f"    {_line(one)}".rstrip() for one in decided.events]
        state = decided.state.sealed()
        command = next(_next(process, state, came), None)
    assert state.instances[0].state != "RUNNING", "it waits for something that does not come"
    return "\n".join(lines) + "\n"


def _begin(process: Process) -> c.Command:
    found = next(iter(beginnings(process)), None)
    if found is None:
        return c.StartInstance(at=START, variables={"n": 1})
    node, trigger = found
    return c.StartInstance(
        at=START, node=node.id, trigger=trigger.kind, name=trigger.name.text if trigger.name else None
    )


def _next(process: Process, state: State, came: set[tuple[str, str]]) -> Iterator[c.Command]:
    """What happens next; several where the first is refused by nothing but order."""
    at = START + timedelta(minutes=state.version)
    if state.instances[0].state != "RUNNING":
        return
    yield from (c.AdvanceToken(at=at, token=t.id) for t in state.tokens.values() if t.state == "ACTIVE")
    for ticket in state.tickets.values():
        interrupting = process.nodes[ticket.node].interrupting
        if ticket.state != "OPEN" or ((ticket.node, ticket.kind) in came and not interrupting):
            continue
        if ticket.kind in ("MESSAGE", "SIGNAL"):
            came.add((ticket.node, ticket.kind))
            yield c.Correlate(at=at, ticket=ticket.id)
        elif ticket.kind == "CONDITION":
            came.add((ticket.node, ticket.kind))
            yield c.SetVariables(at=at, variables={"ready": True})
        elif ticket.kind == "CALL":
            yield c.CallReturned(at=at, ticket=ticket.id, outcome="completed")
    yield from (c.FireTimer(at=at, timer=t.id, early=True) for t in state.timers.values() if t.state == "SCHEDULED")
    yield from (c.CompleteUserTask(at=at, user_task=t.id) for t in state.user_tasks.values() if t.state != "DONE")
    for task in state.tasks.values():
        if task.state == "READY":
            yield c.LockTask(at=at, task=task.id, worker="w", until=at + timedelta(hours=1))
        elif task.state == "LOCKED":
            yield c.CompleteExternalTask(at=at, task=task.id, worker="w")


def _line(one: Event) -> str:
    states = "" if one.to_state is None else f" {one.from_state or '-'} > {one.to_state}"
    where = f" @{one.node}" if one.node else ""
    return f"{one.type} {one.id}{where}{states}{f' ({one.reason})' if one.reason else ''} {_text(one.payload)}"


def _text(values: dict[str, object]) -> str:
    return json.dumps(values, sort_keys=True, default=str) if values else ""
