"""What is wrong with a DMN file: unreadable texts, languages it cannot be run with, references to nothing, circles."""

from __future__ import annotations

from typing import Final

from bpm.compiler.diagnostics import Problems, Severity
from bpm.compiler.dmn_elements import attribute, part, parts, tag, text_in
from bpm.compiler.dmn_logic import is_juel, language_of
from bpm.compiler.xml import Element
from bpm.decisions.model import Decision, Decisions, Knowledge, Service
from bpm.decisions.names import difficult_names
from bpm.decisions.tables import AGGREGATIONS, HIT_POLICIES
from bpm.expressions import ExpressionError, compile_text, compile_unary_tests

DMN_SEVERITY: Final[dict[str, Severity]] = {
    "not-dmn": "error",
    "foreign-dmn": "error",
    "id-missing": "error",
    "id-duplicate": "error",
    "decision-duplicate": "error",
    "expression-broken": "error",
    "unsupported-language": "error",
    "hit-policy-unknown": "error",
    "reference-missing": "error",
    "import-missing": "error",
    "requirements-circular": "error",
    "no-decision": "warning",
    "external-function": "warning",
}
"""Findings of DMN files: code to severity, as `diagnostics.SEVERITY` has them for BPMN."""

_TESTS: Final = frozenset({"inputEntry", "inputValues", "outputValues", "allowedValues", "typeConstraint"})
_EXPRESSIONS: Final = frozenset({"literalExpression", "inputExpression", "outputEntry", "defaultOutputEntry"})
_FLOWABLE: Final = ("flowable", "activiti")


def report(problems: Problems, code: str, element: Element | None, message: str, *, id: str | None = None) -> None:
    """Add a finding of a DMN file."""
    problems.add(code, DMN_SEVERITY[code], element, message, id=id)


def check(root: Element, decisions: Decisions, problems: Problems) -> None:
    """Report all that is wrong with a file that could be read."""
    if any(vendor in attribute(root, "namespace").lower() for vendor in _FLOWABLE):
        said = 'The cells of Flowable\'s decision tables are not FEEL (== "x", .startsWith(..)); write them in FEEL.'
        report(problems, "foreign-dmn", root, said)
        return
    names = difficult_names(decisions)
    for element in root.iter("*"):
        if tag(element) in _TESTS | _EXPRESSIONS:
            _text(element, names, problems)
        elif tag(element) == "decisionTable":
            _policy(element, problems)
        elif attribute(element, "kind").upper() in ("JAVA", "PMML"):
            report(problems, "external-function", element, "A function in Java or PMML is not run: it gives null.")
    _ids(root, problems)
    _references(root, decisions, problems)
    if not any(isinstance(element, Decision | Service) for element in decisions.own.elements):
        report(problems, "no-decision", root, "The file has no decision: there is nothing to evaluate.")


def _text(element: Element, names: frozenset[str], problems: Problems) -> None:
    text, language = text_in(element), language_of(element)
    if not text or text == "-":
        return
    try:
        if is_juel(text, language):
            compile_text(text, language="juel")
        elif language and "feel" not in language.lower():
            said = f"The expression language {language!r} cannot be run; FEEL and JUEL can."
            report(problems, "unsupported-language", element, said)
        elif tag(element) in _TESTS:
            compile_unary_tests(text, names=names)
        else:
            compile_text(text, language="feel", names=names)
    except ExpressionError as fault:
        report(problems, "expression-broken", element, f"{fault}.")


def _policy(element: Element, problems: Problems) -> None:
    policy, aggregation = attribute(element, "hitPolicy").upper(), attribute(element, "aggregation").upper()
    if policy and policy not in HIT_POLICIES:
        known = ", ".join(HIT_POLICIES)
        report(problems, "hit-policy-unknown", element, f"The hit policy {policy!r} is none of {known}.")
    if aggregation and aggregation not in AGGREGATIONS:
        known = ", ".join(AGGREGATIONS)
        report(problems, "hit-policy-unknown", element, f"The aggregation {aggregation!r} is none of {known}.")


def _ids(root: Element, problems: Problems) -> None:
    seen: set[str] = set()
    for element in parts(root, "decision", "inputData", "businessKnowledgeModel", "decisionService"):
        id = attribute(element, "id") or attribute(element, "name")
        if not id:
            report(problems, "id-missing", element, f"The {tag(element)} has no id: nothing can refer to it.")
        elif id in seen:
            report(problems, "id-duplicate", element, f"The id {id!r} is taken already.")
        seen.add(id)


def _references(root: Element, decisions: Decisions, problems: Problems) -> None:
    elements = {
        (model.namespace if model is not decisions.own else "", element.id): element
        for model in decisions.models
        for element in model.elements
    }
    spaces = {model.namespace for model in decisions.models}
    for known in decisions.own.imports:
        if known.namespace not in spaces:
            said = f"No file with the namespace {known.namespace!r} is deployed together with this one."
            report(problems, "import-missing", root, said, id=known.name)
    for element in decisions.own.elements:
        for reference in _required(element):
            namespace, _, id = reference.rpartition("#")
            if (namespace, id) not in elements and (not namespace or namespace in spaces):
                report(problems, "reference-missing", root, f"There is no {reference!r}.", id=element.id)
    circle = _circle({element.id: _local(_required(element)) for element in decisions.own.elements})
    if circle:
        said = f"The decisions require each other in a circle: {' - '.join(circle)}."
        report(problems, "requirements-circular", root, said, id=circle[0])


def _required(element: object) -> tuple[str, ...]:
    if isinstance(element, Decision | Knowledge):
        return element.requires
    if isinstance(element, Service):
        return element.outputs + element.input_data + element.input_decisions
    return ()


def _local(references: tuple[str, ...]) -> list[str]:
    return [reference[1:] for reference in references if reference.startswith("#")]


def _circle(requires: dict[str, list[str]]) -> list[str]:
    """Ids that require each other in a circle; [] when there is none."""
    done: set[str] = set()
    for start in requires:
        path: list[str] = []
        waiting = [(start, iter(requires.get(start, [])))] if start not in done else []
        while waiting:
            id, rest = waiting[-1]
            if len(path) < len(waiting):
                path.append(id)
            for other in rest:
                if other in path:
                    return [*path[path.index(other) :], other]
                if other not in done:
                    waiting.append((other, iter(requires.get(other, []))))
                    break
            else:
                done.add(id)
                path.pop()
                waiting.pop()
    return []


def variable_of(element: Element) -> tuple[str, str]:
    """What an element's value is called, and its type: those of its variable or else its own name."""
    variable = part(element, "variable")
    return attribute(variable, "name") or attribute(element, "name"), attribute(variable, "typeRef")
