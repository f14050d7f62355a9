"""Random drawings: BPMN files as somebody might draw who knows the elements and not what they mean.

Elements are thrown into scopes and joined by whatever flows chance gives. Many are refused by the compiler; those that
are not must be run without a defect, however little sense they make.
"""

from __future__ import annotations

from random import Random

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="tests">'
    '<message id="m" name="m"/><signal id="sig" name="sig"/><error id="err" errorCode="E"/>'
    '<escalation id="esc" escalationCode="E"/>'
)
TASKS = ("task", "userTask", "serviceTask", "receiveTask", "sendTask", "scriptTask", "manualTask", "callActivity")
GATEWAYS = ("exclusiveGateway", "parallelGateway", "inclusiveGateway", "complexGateway", "eventBasedGateway")
SCOPES = ("subProcess", "transaction", "adHocSubProcess")
DEFINITIONS = {
    "message": '<messageEventDefinition messageRef="m"/>',
    "signal": '<signalEventDefinition signalRef="sig"/>',
    "timer": "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>",
    "cycle": "<timerEventDefinition><timeCycle>R3/PT1H</timeCycle></timerEventDefinition>",
    "conditional": (
        '<conditionalEventDefinition><condition xsi:type="tFormalExpression">${c == 3}</condition>'
        "</conditionalEventDefinition>"
    ),
    "error": '<errorEventDefinition errorRef="err"/>',
    "escalation": '<escalationEventDefinition escalationRef="esc"/>',
    "compensation": "<compensateEventDefinition/>",
    "terminate": "<terminateEventDefinition/>",
    "cancel": "<cancelEventDefinition/>",
    "none": "",
}
CAUGHT = ("message", "signal", "timer", "cycle", "conditional")
THROWN = ("none", "message", "signal", "escalation", "compensation")
LOOPS = (
    '<multiInstanceLoopCharacteristics isSequential="true"><loopCardinality>${c}</loopCardinality>'
    "</multiInstanceLoopCharacteristics>",
    "<multiInstanceLoopCharacteristics><loopCardinality>2</loopCardinality><completionCondition>"
    "${nrOfCompletedInstances == 1}</completionCondition></multiInstanceLoopCharacteristics>",
    '<standardLoopCharacteristics loopMaximum="2"><loopCondition>${c != 1}</loopCondition>'
    "</standardLoopCharacteristics>",
)


class Drawing:
    """One drawing: what chance makes of its seed."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)  # noqa: S311
        self._count = 0

    def xml(self) -> bytes:
        """The file."""
        content = self._scope(depth=0, kind="process")
        return f'{HEAD}<process id="p" isExecutable="true">{content}</process></definitions>'.encode()

    def _id(self) -> str:
        self._count += 1
        return f"n{self._count}"

    def _scope(self, depth: int, kind: str) -> str:
        chance = self.chance
        elements: list[str] = []
        sources: list[str] = []
        targets: list[str] = []
        for _ in range(0 if kind == "adHocSubProcess" else 1):
            id = self._id()
            caught = chance.choice((*CAUGHT, "error", "escalation", "compensation")) if kind == "event" else "none"
            quiet = ' isInterrupting="false"' if kind == "event" and chance.random() < 0.4 else ""
            elements.append(f'<startEvent id="{id}"{quiet}>{DEFINITIONS[caught]}</startEvent>')
            sources.append(id)
        activities: list[str] = []
        for _ in range(chance.randint(1, 6 if depth == 0 else 4)):
            id = self._id()
            element = self._element(id, depth, kind)
            elements.append(element)
            sources.append(id)
            targets.append(id)
            if element.startswith(tuple(f"<{tag} " for tag in (*TASKS, *SCOPES))):
                activities.append(id)
        for _ in range(chance.randint(0, 2) if activities else 0):
            id, host = self._id(), chance.choice(activities)
            caught = chance.choice((*CAUGHT, "error", "escalation", "cancel"))
            quiet = ' cancelActivity="false"' if chance.random() < 0.4 else ""
            elements.append(
                f'<boundaryEvent id="{id}" attachedToRef="{host}"{quiet}>{DEFINITIONS[caught]}</boundaryEvent>'
            )
            sources.append(id)
        for _ in range(chance.randint(0, 2) if kind != "adHocSubProcess" else 0):
            id = self._id()
            thrown = chance.choice((*THROWN, "error", "terminate", "cancel", "none"))
            elements.append(f'<endEvent id="{id}">{DEFINITIONS[thrown]}</endEvent>')
            targets.append(id)
        if depth < 2 and chance.random() < 0.3:
            elements.append(
                f'<subProcess id="{self._id()}" triggeredByEvent="true">{self._scope(depth + 1, "event")}</subProcess>'
            )
        if activities and chance.random() < 0.3:
            elements += self._undone(chance.choice(activities))
        return "".join(elements + self._flows(sources, targets))

    def _element(self, id: str, depth: int, kind: str) -> str:
        chance = self.chance
        luck = chance.random()
        if luck < 0.2 and depth < 2:
            tag = chance.choice(SCOPES)
            return f'<{tag} id="{id}">{self._scope(depth + 1, tag)}{self._loop()}</{tag}>'
        if luck < 0.45:
            return f'<{chance.choice(GATEWAYS)} id="{id}"/>'
        if luck < 0.55:
            return f'<intermediateCatchEvent id="{id}">{DEFINITIONS[chance.choice(CAUGHT)]}</intermediateCatchEvent>'
        if luck < 0.65:
            return f'<intermediateThrowEvent id="{id}">{DEFINITIONS[chance.choice(THROWN)]}</intermediateThrowEvent>'
        tag = chance.choice(TASKS)
        said = {
            "receiveTask": ' messageRef="m"',
            "sendTask": ' messageRef="m"',
            "serviceTask": ' camunda:type="external" camunda:topic="t"',
            "scriptTask": ' scriptFormat="juel" camunda:resultVariable="c"',
            "callActivity": ' calledElement="q"',
        }.get(tag, "")
        inner = "<script>${(c + 1) % 4}</script>" if tag == "scriptTask" else ""
        quantity = ' startQuantity="2"' if chance.random() < 0.05 else ' completionQuantity="2"' if luck > 0.97 else ""
        return f'<{tag} id="{id}"{said}{quantity}>{inner}{self._loop()}</{tag}>'

    def _loop(self) -> str:
        return self.chance.choice(LOOPS) if self.chance.random() < 0.2 else ""

    def _undone(self, host: str) -> list[str]:
        """A compensation handler for an activity."""
        event, handler, link = self._id(), self._id(), self._id()
        return [
            f'<boundaryEvent id="{event}" attachedToRef="{host}">{DEFINITIONS["compensation"]}</boundaryEvent>',
            f'<userTask id="{handler}" isForCompensation="true"/>',
            f'<association id="{link}" associationDirection="One" sourceRef="{event}" targetRef="{handler}"/>',
        ]

    def _flows(self, sources: list[str], targets: list[str]) -> list[str]:
        """Flows at random, and some to what no flow has reached."""
        chance = self.chance
        found = []
        for source in sources:
            for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
                if targets:
                    found.append((source, chance.choice(targets)))
        found += [(chance.choice(sources), target) for target in targets if chance.random() < 0.5]
        asked = '<conditionExpression xsi:type="tFormalExpression">${c %% %d == 0}</conditionExpression>'
        return [
            f'<sequenceFlow id="{self._id()}" sourceRef="{source}" targetRef="{target}">'
            f"{asked % chance.randint(1, 3) if chance.random() < 0.4 else ''}</sequenceFlow>"
            for source, target in dict.fromkeys(found)
        ]
