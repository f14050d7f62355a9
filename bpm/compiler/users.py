"""User tasks: who may do it, until when, and its form."""

from __future__ import annotations

import json
from typing import Any

from bpm.compiler import formulas
from bpm.compiler.activities import activity
from bpm.compiler.document import child, child_text, children, text
from bpm.compiler.place import Place, words
from bpm.compiler.vocabulary import inner
from bpm.compiler.xml import Element
from bpm.graph import Formula, Node, UserSpec


def user(place: Place) -> Node:
    """userTask: camunda attributes, zeebe:assignmentDefinition and the like, or the standard's humanPerformer and
    potentialOwner."""
    said, zeebe = place.extensions, place.extensions.zeebe
    assignment, schedule, priority = (
        zeebe.get(name) for name in ("assignmentDefinition", "taskSchedule", "priorityDefinition")
    )
    users, groups = _potential_owners(place)

    def one(name: str, element: Element | None, attribute: str) -> Formula | None:
        raw = said.get(name) or (None if element is None else element.get(attribute))
        return formulas.formula(place, raw, at=element)

    def many(name: str, attribute: str) -> tuple[Formula, ...]:
        raw = said.get(name) or (None if assignment is None else assignment.get(attribute))
        # Zeebe's list expression (=["a", "b"]) is one formula whose value is a list.
        parts = [raw] if raw and raw.startswith("=") else words(raw)
        return tuple(found for part in parts if (found := formulas.formula(place, part)))

    return activity(
        place,
        "user",
        user=UserSpec(
            assignee=one("assignee", assignment, "assignee") or _performer(place),
            candidate_users=many("candidateUsers", "candidateUsers") + users,
            candidate_groups=many("candidateGroups", "candidateGroups") + groups,
            due=one("dueDate", schedule, "dueDate"),
            follow_up=one("followUpDate", schedule, "followUpDate"),
            priority=one("priority", priority, "priority"),
            form_key=_form_key(place),
            form_fields=_fields(place),
        ),
    )


def form(place: Place) -> UserSpec | None:
    """The form of a start event; None where it has none."""
    key, fields = _form_key(place), _fields(place)
    return UserSpec(form_key=key, form_fields=fields) if key or fields else None


def _form_key(place: Place) -> Formula | None:
    zeebe = place.extensions.zeebe.get("formDefinition")
    raw = place.extensions.get("formKey")
    if raw is None and zeebe is not None:
        raw = zeebe.get("formKey") or zeebe.get("formId")
    return formulas.formula(place, raw, at=zeebe)


def _fields(place: Place) -> tuple[str, ...]:
    """camunda:formData/formField and the older formProperty, as JSON texts."""
    found = [_form_field(item) for holder in place.extensions.all("formData") for item in inner(holder, "formField")]
    for holder in place.extensions.all("formData"):
        for item in inner(holder, "formField"):
            if not item.get("type", "").strip():
                place.report("form-field-untyped", f"The form field {item.get('id')!r} has no type.", at=item)
    found += [_form_property(item) for item in place.extensions.all("formProperty")]
    return tuple(json.dumps(field, sort_keys=True, ensure_ascii=False) for field in found)


def _form_field(element: Element) -> dict[str, Any]:
    field = _kept(
        id=element.get("id"), label=element.get("label"), type=element.get("type"), default=element.get("defaultValue")
    )
    if values := {item.get("id", ""): item.get("name", "") for item in inner(element, "value")}:
        field["values"] = values
    for holder in inner(element, "validation"):
        constraints = {item.get("name", ""): item.get("config", "true") for item in inner(holder, "constraint")}
        field["required"] = constraints.pop("required", "false") != "false"
        if constraints.pop("readonly", "false") != "false":
            field["writable"] = False
        if constraints:
            field["constraints"] = constraints
    for holder in inner(element, "properties"):
        field["properties"] = {item.get("id", ""): item.get("value", "") for item in inner(holder, "property")}
    return field


def _form_property(element: Element) -> dict[str, Any]:
    field = _kept(
        id=element.get("id"),
        label=element.get("name"),
        type=element.get("type"),
        default=element.get("default"),
        variable=element.get("variable"),
        expression=element.get("expression"),
        pattern=element.get("datePattern"),
    )
    field |= {name: False for name in ("writable", "readable") if element.get(name) == "false"}
    if element.get("required") == "true":
        field["required"] = True
    if values := {item.get("id", ""): item.get("name", "") for item in inner(element, "value")}:
        field["values"] = values
    return field


def _kept(**values: str | None) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _performer(place: Place) -> Formula | None:
    """humanPerformer or performer (BPMN 2.0.2, 10.3.4): the person who does it."""
    for element in children(place.element, "humanPerformer", "performer"):
        if expression := _assignment(element):
            return formulas.formula(place, expression, at=element)
    return None


def _potential_owners(place: Place) -> tuple[tuple[Formula, ...], tuple[Formula, ...]]:
    """potentialOwner: `user(kermit), group(management)`; a word alone is a group, as Camunda reads it."""
    users: list[Formula] = []
    groups: list[Formula] = []
    for element in children(place.element, "potentialOwner"):
        for word in words(_assignment(element)):
            into, name = groups, word
            for prefix, list_ in (("user(", users), ("group(", groups)):
                if word.startswith(prefix) and word.endswith(")"):
                    into, name = list_, word[len(prefix) : -1]
            if found := formulas.formula(place, name, at=element):
                into.append(found)
    return tuple(users), tuple(groups)


def _assignment(element: Element) -> str:
    holder = child(element, "resourceAssignmentExpression")
    if holder is None:
        return ""
    return child_text(holder, "formalExpression") or text(holder)
