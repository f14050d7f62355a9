"""Rules of services and calls: operations, the inputs and outputs that fit them, called elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bpm.compiler.document import child, children, local, tag, text
from bpm.compiler.rules import Breach, Index, Rule, named
from bpm.compiler.rules_data import same_item
from bpm.compiler.xml import Element

GLOBAL_TASKS: Final = ("globalTask", "globalUserTask", "globalManualTask", "globalScriptTask", "globalBusinessRuleTask")


def operation_data(index: Index) -> Iterator[Breach]:
    """A service task has one input and at most one output, which fit the messages of its operation."""
    for task in index.all("serviceTask"):
        operation = index.resolve(task.get("operationRef"))
        if operation is None:
            continue
        data = child(task, "ioSpecification")
        if data is None:
            yield (
                task,
                f"The operation of {named(task)} takes a message: the task needs an ioSpecification with one input.",
            )
            continue
        yield from _one(data, "inputSet", "dataInput", task)
        for kind, name in (("dataInput", "inMessageRef"), ("dataOutput", "outMessageRef")):
            message = index.resolve(text(child(operation, name)))
            for item in children(data, kind):
                if message is not None and not same_item(index, item.get("itemSubjectRef"), message.get("itemRef")):
                    yield item, f"The {named(item)} is of another item than the message of the operation."


def message_data(index: Index) -> Iterator[Breach]:
    """A send task has one input, a receive task one output, of the item of its message."""
    for name, kind, sets in (("sendTask", "dataInput", "inputSet"), ("receiveTask", "dataOutput", "outputSet")):
        for task in index.all(name):
            data, message = child(task, "ioSpecification"), index.resolve(task.get("messageRef"))
            if data is None:
                continue
            yield from _one(data, sets, kind, task)
            for item in children(data, kind):
                if message is not None and not same_item(index, item.get("itemSubjectRef"), message.get("itemRef")):
                    yield item, f"The {named(item)} is of another item than the message of {named(task)}."


def _one(data: Element, sets: str, kind: str, task: Element) -> Iterator[Breach]:
    for name in (sets, kind):
        found = list(children(data, name))
        if len(found) > 1:
            yield found[1], f"The {named(task)} has {len(found)} {name} elements; it may have one."


def operation_message(index: Index) -> Iterator[Breach]:
    """The message of a send or receive task is that of its operation."""
    for task in index.all("sendTask", "receiveTask"):
        operation, said = index.resolve(task.get("operationRef")), task.get("messageRef")
        if operation is not None and said and local(text(child(operation, "inMessageRef"))) != local(said):
            yield task, f"The {named(task)} names another message than its operation."


def called_without_start(index: Index) -> Iterator[Breach]:
    """A called process begins at a none start event."""
    for call in index.all("callActivity"):
        process = index.resolve(call.get("calledElement"))
        if process is None or tag(process) != "process":
            continue
        starts = list(children(process, "startEvent"))
        if starts and all(_definition(start) for start in starts):
            yield call, f"The called process {process.get('id')!r} has no none start event."


def _definition(start: Element) -> bool:
    return any(tag(item).endswith("EventDefinition") or tag(item) == "eventDefinitionRef" for item in start)


def called_data(index: Index) -> Iterator[Breach]:
    """A call activity has the inputs and outputs of what it calls, item for item."""
    for call in index.all("callActivity"):
        called = index.resolve(call.get("calledElement"))
        if called is None or tag(called) not in ("process", *GLOBAL_TASKS):
            continue
        theirs, ours = child(called, "ioSpecification"), child(call, "ioSpecification")
        if theirs is None and ours is None:
            continue
        for kind in ("dataInput", "dataOutput"):
            wanted = list(children(theirs, kind)) if theirs is not None else []
            given = list(children(ours, kind)) if ours is not None else []
            if len(wanted) != len(given):
                yield call, f"The call has {len(given)} {kind} elements, the called {named(called)} has {len(wanted)}."
                continue
            for item, other in zip(given, wanted, strict=True):
                if not same_item(index, item.get("itemSubjectRef"), other.get("itemSubjectRef")):
                    yield item, f"The {named(item)} is of another item than that of the called {named(called)}."


def called_wrong(index: Index) -> Iterator[Breach]:
    """A call activity calls a process or a global task."""
    for call in index.all("callActivity"):
        called = index.resolve(call.get("calledElement"))
        if called is not None and tag(called) not in ("process", *GLOBAL_TASKS):
            yield call, f"calledElement names the {named(called)}; only a process or a global task can be called."


def interface_bindings(index: Index) -> Iterator[Breach]:
    """What offers an interface binds each of its operations to its inputs and outputs, of the messages' items."""
    for element in index.all("process", *GLOBAL_TASKS):
        bindings = list(children(element, "ioBinding"))
        for reference in children(element, "supportedInterfaceRef"):
            interface = index.resolve(text(reference))
            for operation in children(interface, "operation") if interface is not None else ():
                if not any(_names(item.get("operationRef"), operation) for item in bindings):
                    yield reference, f"No ioBinding binds the {named(operation)} of the interface."
        for binding in bindings:
            operation = index.resolve(binding.get("operationRef"))
            if operation is None:
                continue
            for attribute, name in (("inputDataRef", "inMessageRef"), ("outputDataRef", "outMessageRef")):
                data = index.resolve(binding.get(attribute))
                message = index.resolve(text(child(operation, name)))
                if data is None or message is None:
                    continue
                if not same_item(index, data.get("itemSubjectRef"), message.get("itemRef")):
                    yield binding, f"The {named(data)} is of another item than the message of its operation."


def _names(reference: str | None, element: Element) -> bool:
    return reference is not None and local(reference) == element.get("id")


RULES: Final = (
    Rule("operation-data", "warning", "10.3.3, service task", operation_data),
    Rule("message-data", "warning", "10.3.3, send and receive task", message_data),
    Rule("operation-message", "warning", "10.3.3, tables 10.9 and 10.10", operation_message),
    Rule("called-without-start", "warning", "10.3.6, call activity; 10.5.2", called_without_start),
    Rule("called-data", "warning", "10.3.6, call activity", called_data),
    Rule("called-wrong", "warning", "10.3.6, table 10.22", called_wrong),
    Rule("interface-binding", "warning", "8.4.7 and 10.2, table 10.2", interface_bindings),
)
