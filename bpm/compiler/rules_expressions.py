"""Rules of expressions and loops: what an executable process must be able to compute."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bpm.compiler.document import XSI_TYPE, child, children, tag, text
from bpm.compiler.rules import ACTIVITIES, Breach, Index, Rule, executable, named
from bpm.compiler.xml import Element

# Elements that hold an expression. The standard's schema makes them natural language unless xsi:type says
# tFormalExpression.
_EXPRESSIONS: Final = (
    *("conditionExpression", "completionCondition", "loopCondition", "loopCardinality", "activationCondition"),
    *("timeDate", "timeDuration", "timeCycle", "from", "to", "condition"),
)
# Elements that the schema declares formal: here it is the text that may be missing.
_FORMAL: Final = ("messagePath", "dataPath", "transformation")


def informal(index: Index) -> Iterator[Breach]:
    """Natural language cannot be executed: expressions of an executable process are formal ones."""
    for element in index.all(*_EXPRESSIONS):
        formal = element.get(XSI_TYPE, "").rpartition(":")[2] == "tFormalExpression"
        if not formal and not _within(element, "complexBehaviorDefinition") and executable(element):
            yield element, f'The {tag(element)} is natural language to the standard: add xsi:type="tFormalExpression".'


def _within(element: Element, name: str) -> bool:
    parent = element.getparent()
    return parent is not None and tag(parent) == name


def empty(index: Index) -> Iterator[Breach]:
    """An expression that an executable process needs has a text."""
    for element in index.all("condition", *_FORMAL, *_TIMES):
        of_process = executable(element) or tag(element) in _FORMAL
        if not text(element) and len(element) == 0 and of_process and not element.get("evaluatesToTypeRef"):
            yield element, f"The {tag(element)} is empty."


_TIMES: Final = ("timeDate", "timeDuration", "timeCycle")


def not_boolean(index: Index) -> Iterator[Breach]:
    """A condition answers yes or no: a number never does."""
    for element in index.all("completionCondition", "loopCondition", "conditionExpression", "condition"):
        if _is_number(text(element)):
            yield element, f"The {tag(element)} is the number {text(element)}; a condition is true or false."


def _is_number(source: str) -> bool:
    return source.replace(".", "", 1).removeprefix("-").isdecimal()


def two_loops(index: Index) -> Iterator[Breach]:
    """An activity has one loop marker."""
    for activity in index.all(*ACTIVITIES):
        markers = (
            child(activity, name) for name in ("standardLoopCharacteristics", "multiInstanceLoopCharacteristics")
        )
        if all(marker is not None for marker in markers):
            yield activity, f"The {named(activity)} is a loop and a multi-instance; it can be one of both."


def behavior_event(index: Index) -> Iterator[Breach]:
    """behavior None and One name the event that is thrown when an instance completes."""
    for loop in index.all("multiInstanceLoopCharacteristics"):
        needed = {"One": "oneBehaviorEventRef", "None": "noneBehaviorEventRef"}.get(loop.get("behavior", "All"))
        if needed and not loop.get(needed):
            yield loop, f"behavior={loop.get('behavior')!r} needs {needed}: the event to throw."


def assignment_and_resource(index: Index) -> Iterator[Breach]:
    """Who does an activity is named by a resource or by an expression, not by both."""
    for role in index.all("performer", "humanPerformer", "potentialOwner", "resourceRole"):
        if child(role, "resourceRef") is not None and child(role, "resourceAssignmentExpression") is not None:
            yield role, "A resource role has a resourceRef or a resourceAssignmentExpression, not both."


def text_format(index: Index) -> Iterator[Breach]:
    """textFormat is a MIME type."""
    for element in index.all("documentation", "textAnnotation"):
        said = element.get("textFormat", "text/plain")
        kind, _, rest = said.partition("/")
        if not kind or not rest:
            yield element, f"textFormat is {said!r}, which is no MIME type such as text/plain."


def state_unnamed(index: Index) -> Iterator[Breach]:
    """A data state has a name."""
    for element in index.all("dataState"):
        if not element.get("name"):
            yield element, "The data state has no name."


def property_misplaced(index: Index) -> Iterator[Breach]:
    """Only processes, activities and events have properties."""
    for element in index.all("definitions", "collaboration"):
        for item in children(element, "property"):
            yield item, "A property belongs to a process, an activity or an event."


RULES: Final = (
    Rule("expression-informal", "note", "8.4.6, expressions", informal),
    Rule("expression-empty", "warning", "8.4.6, formal expressions", empty),
    Rule("condition-not-boolean", "error", "8.4.13 and 10.3.8", not_boolean),
    Rule("loop-twice", "error", "10.3.8, loop characteristics", two_loops),
    Rule("behavior-event-missing", "warning", "10.3.8, table 10.30", behavior_event),
    Rule("resource-twice", "warning", "8.4.11, table 8.51", assignment_and_resource),
    Rule("text-format", "warning", "8.2.1, table 8.4; 8.4.1, table 8.30", text_format),
    Rule("data-state-unnamed", "warning", "10.4.1, table 10.54", state_unnamed),
    Rule("property-misplaced", "warning", "10.4.1, property", property_misplaced),
)
