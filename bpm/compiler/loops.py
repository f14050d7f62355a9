"""How often an activity is done: multiInstanceLoopCharacteristics and standardLoopCharacteristics (BPMN 2.0.2,
10.3.8)."""

from __future__ import annotations

import re
from typing import Final

from bpm.compiler import formulas
from bpm.compiler.document import child, child_text, children, flag, tag
from bpm.compiler.place import Place
from bpm.compiler.triggers import DEFINITIONS, triggers
from bpm.compiler.vocabulary import extensions
from bpm.compiler.xml import Element
from bpm.graph import Formula, LoopSpec, Trigger

# An expression that is a variable or a part of it: `=item.price`.
_PATH: Final = re.compile(r"=\s*(?!(?:null|true|false)\b)([A-Za-z_]\w*)(?:\.\w+)*")
# An expression that is the name of a variable and nothing more: `${items}`, `=items`.
_NAME: Final = re.compile(r"[$#]\{\s*(?P<juel>[A-Za-z_]\w*)\s*\}|=\s*(?P<feel>[A-Za-z_]\w*)")


def loop(place: Place) -> LoopSpec | None:
    """The activity's loop; None where it is done once. Reported: neither cardinality nor collection."""
    standard = child(place.element, "standardLoopCharacteristics")
    if standard is not None:
        return _standard(place, standard)
    multiple = child(place.element, "multiInstanceLoopCharacteristics")
    return None if multiple is None else _multiple(place, multiple)


def _standard(place: Place, element: Element) -> LoopSpec:
    asked = child(element, "loopCondition")
    maximum = element.get("loopMaximum", "").strip()
    if maximum and not maximum.isdecimal():
        place.report("value-wrong", f"loopMaximum is {maximum!r}, not a whole number.", at=element)
    return LoopSpec(
        kind="standard",
        loop_condition=None if asked is None else formulas.condition(place, asked, what="The loop condition"),
        test_before=flag(element, "testBefore"),
        loop_maximum=int(maximum) if maximum.isdecimal() else None,
    )


def _multiple(place: Place, element: Element) -> LoopSpec:
    said = extensions(element)
    zeebe = said.zeebe.get("loopCharacteristics")
    cardinality = formulas.formula(place, child_text(element, "loopCardinality"), at=child(element, "loopCardinality"))
    collection = _collection(place, element)
    element_variable = said.get("elementVariable") or _item_name(element, "inputDataItem")
    output_collection = _data_name(place, element, "loopDataOutputRef")
    output_item = _item_name(element, "outputDataItem")
    output_element = formulas.variable(output_item) if output_item and output_collection else None
    if zeebe is not None:
        collection = _list(place, zeebe.get("inputCollection"), zeebe)
        element_variable = zeebe.get("inputElement")
        output_collection = zeebe.get("outputCollection")
        output_element = formulas.formula(place, zeebe.get("outputElement"), at=zeebe)
    if cardinality is None and collection is None:
        place.report("collection-missing", "A multi-instance needs a loopCardinality or a collection.", at=element)
    done = child(element, "completionCondition")
    return LoopSpec(
        kind="sequential" if flag(element, "isSequential") else "parallel",
        cardinality=cardinality,
        collection=collection,
        element_variable=element_variable,
        index_variable=said.get("elementIndexVariable"),
        first_index=0 if zeebe is None else 1,
        completion_condition=None if done is None else formulas.condition(place, done, what="The completion condition"),
        output_collection=output_collection,
        output_element=output_element,
        output_variable=_filled(output_element) if output_collection else None,
        behavior=element.get("behavior", "All").lower(),
        thrown=_thrown(place, element),
    )


def _thrown(place: Place, element: Element) -> tuple[tuple[Formula | None, Trigger], ...]:
    """What the end of a round throws (BPMN 2.0.2, 10.3.8, behavior)."""
    found: list[tuple[Formula | None, Trigger]] = []
    for definition in children(element, "complexBehaviorDefinition"):
        asked = child(definition, "condition")
        said = None if asked is None else formulas.condition(place, asked, what="The condition of the behavior")
        for event in children(definition, "event"):
            found += [(said, one) for one in triggers(place, event)]
    referred = place.document.resolve(element.get("oneBehaviorEventRef") or element.get("noneBehaviorEventRef"))
    if referred is not None and tag(referred) in DEFINITIONS:
        found.append((None, DEFINITIONS[tag(referred)](place, referred)))
    return tuple(found)


def _collection(place: Place, element: Element) -> Formula | None:
    """camunda:collection is an expression or the name of a variable; loopDataInputRef names a data object or input."""
    said = extensions(element)
    text = said.get("collection")
    if text is None:
        name = _data_name(place, element, "loopDataInputRef")
        return formulas.variable(name) if name else None
    return _list(place, text, element) if "{" in text or text.startswith("=") else formulas.variable(text)


def _list(place: Place, text: str | None, element: Element) -> Formula | None:
    """A collection; one that is just a variable is read as such, since each round of a sequential loop reads it."""
    if name := _NAME.fullmatch((text or "").strip()):
        return formulas.variable(name["juel"] or name["feel"])
    return formulas.formula(place, text, at=element)


def _filled(output: Formula | None) -> str | None:
    """The variable that each round fills, where its output is just that, or a part of it: every round has one of its
    own then, null at first (Zeebe, MultiInstanceBodyProcessor.setLoopVariables)."""
    if output is None or output.kind == "variable":
        return None if output is None else output.text
    found = _PATH.fullmatch(output.text)
    return found[1] if found else None


def _data_name(place: Place, element: Element, name: str) -> str | None:
    """The variable that a reference to data means: the name of the data element, or its id."""
    reference = child_text(element, name)
    if not reference:
        return None
    found = place.document.resolve(reference)
    if found is None:
        return reference  # Activiti writes the variable's name here
    if tag(found) == "dataObjectReference":
        found = place.document.resolve(found.get("dataObjectRef"))
    return reference if found is None else found.get("name") or found.get("id") or reference


def _item_name(element: Element, name: str) -> str | None:
    item = child(element, name)
    return None if item is None else item.get("name") or item.get("id")
