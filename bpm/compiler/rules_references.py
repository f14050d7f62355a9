"""Rules of references: what a reference names is there and of the right kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bpm.compiler.document import tag, text
from bpm.compiler.rules import ACTIVITIES, Breach, Index, Rule, named

_ITEM: Final = ("itemDefinition",)

# Attribute that refers -> the tags that it may name (() any). What has a prefix may be in an imported file and is left
# alone.
ATTRIBUTES: Final[dict[str, tuple[str, ...]]] = {
    "messageRef": ("message",),
    "signalRef": ("signal",),
    "escalationRef": ("escalation",),
    "itemRef": _ITEM,
    "itemSubjectRef": _ITEM,
    "processRef": ("process", "callConversation"),
    "attachedToRef": ACTIVITIES,
    "activityRef": ACTIVITIES,
    "operationRef": ("operation",),
    "dataObjectRef": ("dataObject",),
    "dataStoreRef": ("dataStore",),
    "categoryValueRef": ("categoryValue",),
    "parameterRef": ("resourceParameter",),
    "correlationKeyRef": ("correlationKey",),
    "correlationPropertyRef": ("correlationProperty",),
}
# The same for references that are elements.
ELEMENTS: Final[dict[str, tuple[str, ...]]] = {
    "interfaceRef": ("interface",),
    "supportedInterfaceRef": ("interface",),
    "inMessageRef": ("message",),
    "outMessageRef": ("message",),
    "errorRef": ("error",),
    "operationRef": ("operation",),
    "dataInputRefs": ("dataInput",),
    "dataOutputRefs": ("dataOutput",),
    "inputSetRefs": ("inputSet",),
    "outputSetRefs": ("outputSet",),
    "correlationPropertyRef": ("correlationProperty",),
    "participantRef": ("participant",),
    "messageFlowRef": ("messageFlow",),
    "resourceRef": ("resource",),
    "eventDefinitionRef": (),
}
# What may be described outside of BPMN (WSDL): judged only where it is in the file.
_ELSEWHERE: Final = ("operationRef",)
# Elements whose structureRef names a definition of items, not a type of XML Schema.
_STRUCTURED: Final = ("signal", "escalation", "error")


def dangling(index: Index) -> Iterator[Breach]:
    """What an element refers to exists in the file and is of the right kind."""
    for name in index.tagged:
        for element in index.all(name):
            for attribute, allowed in ATTRIBUTES.items():
                reference = element.get(attribute)
                if reference is not None:
                    yield from ((element, said) for said in _judge(index, attribute, reference, allowed))
            if name in ELEMENTS:
                yield from ((element, said) for said in _judge(index, name, text(element), ELEMENTS[name]))
            if name in _STRUCTURED and (reference := element.get("structureRef")):
                yield from ((element, said) for said in _judge(index, "structureRef", reference, _ITEM))


def message_flow_ends(index: Index) -> Iterator[Breach]:
    """Both ends of a message flow, and of an association, exist."""
    for element in index.all("messageFlow", "association"):
        for attribute in ("sourceRef", "targetRef"):
            reference = element.get(attribute, "")
            if ":" not in reference and reference and index.resolve(reference) is None:
                yield element, f"{attribute} names {reference!r}, which this file does not have."


def _judge(index: Index, name: str, reference: str, allowed: tuple[str, ...]) -> Iterator[str]:
    if not reference or ":" in reference:
        return
    target = index.resolve(reference)
    if target is None and name in _ELSEWHERE:
        return
    if target is None:
        yield f"{name} names {reference!r}, which this file does not have."
    elif allowed and tag(target) not in allowed:
        yield f"{name} names the {named(target)}, which is no {allowed[0]}."


RULES: Final = (
    Rule("reference-dangling", "warning", "8.2 and the schema: references by id", dangling),
    Rule("flow-dangling", "warning", "7.5.1 and 9.3", message_flow_ends),
)
