"""Case and the words that models of golden histories are written in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bpm.semantics import commands as c
from tests.pure.scenarios.writing import boundary, end, process, start, work


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
    decisions: str = ""
    later: str = ""  # the model of the version that the instance is migrated to


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
