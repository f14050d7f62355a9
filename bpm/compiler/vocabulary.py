"""The words of the vendors: which namespaces mean the same, and what is done with each attribute and element.

Camunda 7, Operaton, Flowable and Activiti share one vocabulary (each began as a copy of the one before), so their four
namespaces are one here: the *camunda family*. Zeebe (Camunda 8) has its own.

Every word has a use: "honoured"; "noted" (no effect here: the reader of the deployment's findings is told); "refused"
(running the model without it would do something else). Words that are not in the tables are noted. What
becomes of listeners stands in `listeners`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from bpm.compiler.document import child
from bpm.compiler.xml import Element

type Use = Literal["honoured", "noted", "refused", "listener"]

FAMILY: Final = {
    "http://camunda.org/schema/1.0/bpmn": "camunda",
    "http://operaton.org/schema/1.0/bpmn": "operaton",
    "http://flowable.org/bpmn": "flowable",
    "http://activiti.org/bpmn": "activiti",
}
ZEEBE: Final = "http://camunda.org/schema/zeebe/1.0"

# The camunda family's attributes: use, and for what is not honoured the reason.
ATTRIBUTES: Final[dict[str, tuple[Use, str]]] = {
    **dict.fromkeys(
        [
            "assignee",
            "asyncAfter",
            "asyncBefore",
            "async",
            "calledElementBinding",
            "calledElementVersion",
            "calledElementVersionTag",
            "candidateGroups",
            "candidateUsers",
            "class",
            "collection",
            "decisionRef",
            "decisionRefBinding",
            "decisionRefVersion",
            "decisionRefVersionTag",
            "delegateExpression",
            "dueDate",
            "elementIndexVariable",
            "elementVariable",
            "errorCodeVariable",
            "errorMessage",
            "errorMessageVariable",
            "escalationCodeVariable",
            "expression",
            "followUpDate",
            "formKey",
            "inheritVariables",
            "jobPriority",
            "mapDecisionResult",
            "priority",
            "resource",
            "resultVariable",
            "resultVariableName",
            "sameDeployment",
            "taskPriority",
            "topic",
            "type",
            "variableEvents",
            "variableName",
            "versionTag",
            "calledElementType",
        ],
        ("honoured", ""),
    ),
    "autoStoreVariables": ("noted", "a script's variables are those that its worker returns"),
    "businessCalendarName": ("noted", "times are ISO 8601 or cron"),
    "calledElementTenantId": ("noted", "there are no tenants"),
    "candidateStarterGroups": ("noted", "who may start a process is the site's permission"),
    "candidateStarterUsers": ("noted", "who may start a process is the site's permission"),
    "decisionRefTenantId": ("noted", "there are no tenants"),
    "diagramRelationId": ("noted", "a mark of the modelling tool"),
    "exclusive": ("noted", "one transaction advances one instance at a time, always"),
    "fallbackToDefaultTenant": ("noted", "there are no tenants"),
    "formHandlerClass": ("noted", "Java code of a form does not run here"),
    "formRef": ("noted", "forms are shown by their key"),
    "formRefBinding": ("noted", "forms are shown by their key"),
    "formRefVersion": ("noted", "forms are shown by their key"),
    "historyTimeToLive": ("noted", "how long history is kept is the site's setting"),
    "initiator": ("noted", "who started an instance is in its history"),
    "isStartableInTasklist": ("noted", "who may start a process is the site's permission"),
    "modelerTemplate": ("noted", "a mark of the modelling tool"),
    "modelerTemplateVersion": ("noted", "a mark of the modelling tool"),
    "modelerTemplateIcon": ("noted", "a mark of the modelling tool"),
    "skipExpression": ("refused", "whether an activity is skipped would not be asked: draw a gateway"),
    "triggerable": ("refused", "an activity that waits for a trigger after its work: draw a receive task"),
    "variableMappingClass": ("refused", "Java code does not run here: use in and out mappings"),
    "variableMappingDelegateExpression": ("refused", "Java code does not run here: use in and out mappings"),
    "caseBinding": ("refused", "CMMN cases are not run"),
    "caseRef": ("refused", "CMMN cases are not run"),
    "caseTenantId": ("noted", "there are no tenants"),
    "caseVersion": ("refused", "CMMN cases are not run"),
    "caseDefinitionKey": ("refused", "CMMN cases are not run"),
}

# The camunda family's elements within extensionElements.
ELEMENTS: Final[dict[str, tuple[Use, str]]] = {
    **dict.fromkeys(
        [
            "inputOutput",
            "in",
            "out",
            "field",
            "formData",
            "formProperty",
            "properties",
            "failedJobRetryTimeCycle",
            "connector",
            "errorEventDefinition",
            "script",
            "value",
            "string",
            "expression",
            "constraint",
            "validation",
            "entry",
            "inputParameter",
            "outputParameter",
            "property",
            "formField",
            "connectorId",
            "list",
            "map",
        ],
        ("honoured", ""),
    ),
    "potentialStarter": ("noted", "who may start a process is the site's permission"),
    "executionListener": ("listener", ""),
    "taskListener": ("listener", ""),
    "eventListener": ("listener", ""),
    "eventType": ("refused", "Flowable's event registry is not run: use a message event"),
    "variableListenerEventDefinition": ("refused", "use a conditional event"),
    "mapException": ("refused", "Java exceptions are not seen here: let the worker report a BPMN error"),
    "variableAggregation": ("refused", "collect results with an output collection"),
}

# Zeebe's elements within extensionElements.
ZEEBE_ELEMENTS: Final[dict[str, tuple[Use, str]]] = {
    **dict.fromkeys(
        [
            "taskDefinition",
            "taskHeaders",
            "ioMapping",
            "calledElement",
            "subscription",
            "assignmentDefinition",
            "formDefinition",
            "taskSchedule",
            "loopCharacteristics",
            "calledDecision",
            "script",
            "userTask",
            "priorityDefinition",
            "versionTag",
            "properties",
            "jobPriorityDefinition",
            "adHoc",
        ],
        ("honoured", ""),
    ),
    "executionListeners": ("listener", ""),
    "taskListeners": ("listener", ""),
    "userTaskForm": ("noted", "forms are shown by their key"),
    "linkedResources": ("noted", "workers find their resources themselves"),
    "conditionalFilter": ("honoured", ""),
}


@dataclass(frozen=True, slots=True)
class Extensions:
    """What the vendors' namespaces say about one element: attributes and elements of the family, elements of Zeebe by
    name."""

    attributes: dict[str, str]
    elements: tuple[tuple[str, Element], ...]
    zeebe: dict[str, Element]

    def get(self, name: str) -> str | None:
        """An attribute of the family, stripped; None where it is absent or empty."""
        return self.attributes.get(name, "").strip() or None

    def flag(self, name: str) -> bool:
        """A boolean attribute of the family; false where it is absent."""
        return self.get(name) == "true"

    def all(self, name: str) -> list[Element]:
        """The family's elements of that name in extensionElements."""
        return [element for found, element in self.elements if found == name]

    def one(self, name: str) -> Element | None:
        """The first of them."""
        return next(iter(self.all(name)), None)


def extensions(element: Element) -> Extensions:
    """What the vendors say about a BPMN element."""
    attributes: dict[str, str] = {}
    for key, value in element.attrib.items():
        namespace, name = split(str(key))
        if namespace in FAMILY:
            attributes.setdefault(name, str(value))
    elements: list[tuple[str, Element]] = []
    zeebe: dict[str, Element] = {}
    holder = child(element, "extensionElements")
    for item in holder if holder is not None else ():
        namespace, name = split(item.tag)
        if namespace in FAMILY:
            elements.append((name, item))
        elif namespace == ZEEBE:
            zeebe.setdefault(name, item)
    return Extensions(attributes, tuple(elements), zeebe)


def inner(element: Element | None, *names: str) -> Iterator[Element]:
    """The children of a vendor's element in any vendor's namespace, of the given local names (any, where none is
    given)."""
    for item in element if element is not None else ():
        namespace, name = split(item.tag)
        if (namespace in FAMILY or namespace == ZEEBE) and (not names or name in names):
            yield item


def split(name: str) -> tuple[str, str]:
    """Namespace ("" for none) and local name."""
    if name.startswith("{"):
        namespace, _, rest = name[1:].partition("}")
        return namespace, rest
    return "", name
