"""Rules of data: inputs and outputs, their sets, associations, and the types on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bpm.compiler.document import child, children, flag, local, tag, text
from bpm.compiler.rules import EVENTS, Breach, Index, Rule, named
from bpm.compiler.triggers import DEFINITIONS
from bpm.compiler.xml import Element

# What an event definition carries: definition -> (reference attribute, attribute of the target that names its item).
_CARRIED: Final = {
    "messageEventDefinition": ("messageRef", "itemRef"),
    "signalEventDefinition": ("signalRef", "structureRef"),
    "escalationEventDefinition": ("escalationRef", "structureRef"),
    "errorEventDefinition": ("errorRef", "structureRef"),
}
_ITEMS_AWARE: Final = ("dataObject", "dataObjectReference", "dataInput", "dataOutput", "property", "dataStoreReference")


def same_item(index: Index, one: str | None, other: str | None) -> bool:
    """Whether two references mean the same kind of item: the same definition, or definitions of the same structure."""
    if one is None or other is None:
        return one is other
    if local(one) == local(other):
        return True
    first, second = index.resolve(one), index.resolve(other)
    if first is None or second is None:
        return False
    structure = first.get("structureRef")
    return structure is not None and structure == second.get("structureRef")


def item_of(index: Index, element: Element) -> str | None:
    """The item definition of a data element; that of the data object behind a reference."""
    if tag(element) == "dataObjectReference":
        target = index.resolve(element.get("dataObjectRef"))
        return None if target is None else item_of(index, target)
    found = element.get("itemSubjectRef")
    return None if found is None else str(found)


def collection_differs(index: Index) -> Iterator[Breach]:
    """A data element is a collection where its item definition is one."""
    for element in index.all("dataObject", "dataInput", "dataOutput"):
        item = index.resolve(element.get("itemSubjectRef"))
        said = element.get("isCollection")
        if item is not None and said is not None and (said == "true") != flag(item, "isCollection"):
            yield element, f"The {named(element)} and its item definition disagree about isCollection."


def optional_output(index: Index) -> Iterator[Breach]:
    """Optional inputs and outputs of a set are in the set."""
    for name, kinds in (("dataInputRefs", "inputSet"), ("dataOutputRefs", "outputSet")):
        extra = ("optionalInputRefs", "whileExecutingInputRefs", "optionalOutputRefs", "whileExecutingOutputRefs")
        for found in index.all(kinds):
            members = {text(item) for item in children(found, name)}
            for item in children(found, *extra):
                if text(item) not in members:
                    yield item, f"{text(item)!r} is not among the {name} of its set."


def sets_mutual(index: Index) -> Iterator[Breach]:
    """An input set that names an output set is named by it, and the other way round."""
    for one, to_other, back in (
        ("inputSet", "outputSetRefs", "inputSetRefs"),
        ("outputSet", "inputSetRefs", "outputSetRefs"),
    ):
        for found in index.all(one):
            for reference in children(found, to_other):
                other = index.resolve(text(reference))
                if other is not None and found.get("id") not in [text(item) for item in children(other, back)]:
                    yield reference, f"The {named(other)} does not name this {one} in its {back}."


def association_ends(index: Index) -> Iterator[Breach]:
    """A data association fills a data input from data, or data from a data output."""
    for association in index.all("dataInputAssociation", "dataOutputAssociation"):
        filling = tag(association) == "dataInputAssociation"
        for name in ("sourceRef", "targetRef"):
            for reference in children(association, name):
                end = index.resolve(text(reference))
                if end is not None and tag(end) not in _ITEMS_AWARE:
                    yield reference, f"A data association cannot connect to the {named(end)}: it is no data."
                elif end is not None and name == "targetRef" and not filling and tag(end) == "dataInput":
                    yield reference, f"The data input {end.get('id')!r} is no place to put a result."


def association_items(index: Index) -> Iterator[Breach]:
    """Both ends of a data association are of the same item, unless a transformation is between them."""
    for association in index.all("dataInputAssociation", "dataOutputAssociation"):
        if child(association, "transformation") is not None or child(association, "assignment") is not None:
            continue
        sources = [
            found for item in children(association, "sourceRef") if (found := index.resolve(text(item))) is not None
        ]
        target = index.resolve(text(child(association, "targetRef")))
        if len(sources) != 1 or target is None:
            continue
        one, other = item_of(index, sources[0]), item_of(index, target)
        if one is not None and other is not None and not same_item(index, one, other):
            yield (
                association,
                "Source and target of the data association are of different items and nothing transforms them.",
            )


def event_data(index: Index) -> Iterator[Breach]:
    """An event with several definitions has one data element for each that carries something, of its item."""
    for event in index.all(*EVENTS):
        carrying = [item for item in event if tag(item) in _CARRIED]
        data = list(children(event, "dataInput", "dataOutput"))
        if not data:
            continue
        if len(carrying) == 1 and len([item for item in event if tag(item) in DEFINITIONS]) == 1:
            if len(data) == 1 and not _carries(index, carrying[0], data[0]):
                yield data[0], f"The data of {named(event)} is of another item than what the event carries."
        elif len(carrying) > 1 and len(data) != len(carrying):
            yield event, f"The {named(event)} carries {len(carrying)} things, but has {len(data)} data elements."
        elif len(carrying) > 1:
            for definition, item in zip(carrying, data, strict=True):
                if not _carries(index, definition, item):
                    yield item, f"The {named(item)} is of another item than what its event definition carries."


def _carries(index: Index, definition: Element, data: Element) -> bool:
    reference, attribute = _CARRIED[tag(definition)]
    target = index.resolve(definition.get(reference))
    item = target.get(attribute) if target is not None else None
    return item is None or data.get("itemSubjectRef") is None or same_item(index, item, data.get("itemSubjectRef"))


def reference_state(index: Index) -> Iterator[Breach]:
    """A reference to a data object in a state is named `<data object> [<state>]`."""
    for reference in index.all("dataObjectReference"):
        state, name = child(reference, "dataState"), reference.get("name", "")
        if state is not None and name.endswith("]") and not name.endswith(f"[{state.get('name')}]"):
            yield reference, f"The name {name!r} speaks of another state than the reference has: {state.get('name')!r}."


def loop_data(index: Index) -> Iterator[Breach]:
    """A multi-instance goes over a collection of the activity's data; its items have the collection's item."""
    for loop in index.all("multiInstanceLoopCharacteristics"):
        for reference_name, item_name in (
            ("loopDataInputRef", "inputDataItem"),
            ("loopDataOutputRef", "outputDataItem"),
        ):
            reference, item = child(loop, reference_name), child(loop, item_name)
            data = index.resolve(text(reference)) if reference is not None else None
            if reference is None or data is None:
                continue
            if tag(data) not in _ITEMS_AWARE:
                yield reference, f"{reference_name} names the {named(data)}, which is no data."
                continue
            definition = index.resolve(item_of(index, data))
            if definition is not None and not flag(definition, "isCollection"):
                yield reference, f"{reference_name} names {data.get('id')!r}, which is no collection."
            elif item is not None and item.get("itemSubjectRef") and definition is not None:
                own = index.resolve(item.get("itemSubjectRef"))
                if own is not None and flag(own, "isCollection"):
                    yield (
                        item,
                        f"The {item_name} is one item of the collection, but its item definition is a collection.",
                    )
                elif not same_item(index, item.get("itemSubjectRef"), definition.get("id")):
                    yield item, f"The {item_name} is of another item than the collection {data.get('id')!r}."


RULES: Final = (
    Rule("collection-differs", "warning", "10.4.1, tables 10.52, 10.59 and 10.60", collection_differs),
    Rule("set-member-missing", "warning", "10.4.1, tables 10.61 and 10.62", optional_output),
    Rule("sets-not-mutual", "warning", "10.4.1, tables 10.61 and 10.62", sets_mutual),
    Rule("data-association-end", "warning", "10.4.2, data associations", association_ends),
    Rule("data-association-items", "warning", "10.4.2, table 10.63", association_items),
    Rule("event-data", "warning", "10.5.1, data modeling and events", event_data),
    Rule("data-state-name", "warning", "10.4.1, data object references", reference_state),
    Rule("loop-data", "warning", "10.3.8, table 10.30", loop_data),
)
