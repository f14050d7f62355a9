"""DMN's boxed expressions and decision tables, from XML to `bpm.decisions.model` (DMN 1.5, 7.3 and 8.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from bpm.compiler.dmn_elements import attribute, extension, part, parts, tag, text_in
from bpm.compiler.xml import Element
from bpm.decisions import model as m

type Iterated = Literal["for", "some", "every"]

JUEL: Final = "juel"


def language_of(element: Element) -> str:
    """The expression language that holds at an element, as it is written; "" where none is named."""
    while True:
        if found := attribute(element, "expressionLanguage"):
            return found
        above = element.getparent()
        if above is None:
            return ""
        element = above


def is_juel(text: str, language: str) -> bool:
    """Whether a text is JUEL: named so, or beginning as no FEEL can (files of older versions of Camunda 7)."""
    return language.lower() == JUEL or (not language and text.startswith(("${", "#{")))


def read_logic(element: Element | None) -> m.Logic | None:
    """The expression that stands directly below an element; None when there is none."""
    found = part(element, *_READERS)
    return _READERS[tag(found)](found) if found is not None else None


def read_function(element: Element) -> m.Function:
    """A function definition; a knowledge model's `encapsulatedLogic` is one."""
    parameters = tuple(
        m.Entry(attribute(item, "name"), None, attribute(item, "typeRef")) for item in parts(element, "formalParameter")
    )
    kind = attribute(element, "kind") or "FEEL"
    return m.Function(parameters, read_logic(element), kind, attribute(element, "typeRef"))


def _literal(element: Element) -> m.Expression:
    text = text_in(element)
    language: m.Language = "juel" if is_juel(text, language_of(element)) else "feel"
    return m.Expression(text, attribute(element, "typeRef"), language)


def _context(element: Element) -> m.Context:
    entries = []
    for item in parts(element, "contextEntry"):
        variable = part(item, "variable")
        entries.append(m.Entry(attribute(variable, "name"), read_logic(item), attribute(variable, "typeRef")))
    return m.Context(tuple(entries), attribute(element, "typeRef"))


def _invocation(element: Element) -> m.Invocation:
    bindings = []
    for item in parts(element, "binding"):
        parameter = part(item, "parameter")
        bindings.append(m.Entry(attribute(parameter, "name"), read_logic(item), attribute(parameter, "typeRef")))
    return m.Invocation(read_logic(element), tuple(bindings), attribute(element, "typeRef"))


def _items(element: Element) -> m.Items:
    items = tuple(_READERS[tag(item)](item) for item in parts(element, *_READERS))
    return m.Items(items, attribute(element, "typeRef"))


def _relation(element: Element) -> m.Relation:
    columns = tuple(
        m.Entry(attribute(item, "name"), None, attribute(item, "typeRef")) for item in parts(element, "column")
    )
    return m.Relation(columns, tuple(_items(row) for row in parts(element, "row")), attribute(element, "typeRef"))


def _conditional(element: Element) -> m.Conditional:
    condition, positive, negative = (read_logic(part(element, name)) for name in ("if", "then", "else"))
    return m.Conditional(condition, positive, negative, attribute(element, "typeRef"))


def _filter(element: Element) -> m.Filter:
    return m.Filter(read_logic(part(element, "in")), read_logic(part(element, "match")), attribute(element, "typeRef"))


def _iteration(kind: Iterated) -> Callable[[Element], m.Iteration]:
    body = "return" if kind == "for" else "satisfies"

    def read(element: Element) -> m.Iteration:
        return m.Iteration(
            kind,
            attribute(element, "iteratorVariable"),
            read_logic(part(element, "in")),
            read_logic(part(element, body)),
            attribute(element, "typeRef"),
        )

    return read


# -- decision tables -------------------------------------------------------------------------------


def _table(element: Element) -> m.Table:
    inputs = tuple(_input(item) for item in parts(element, "input"))
    outputs = tuple(_output(item) for item in parts(element, "output"))
    rules = tuple(_rule(item, len(inputs), len(outputs)) for item in parts(element, "rule"))
    return m.Table(
        inputs,
        outputs,
        rules,
        hit_policy=attribute(element, "hitPolicy").upper() or "UNIQUE",
        aggregation=attribute(element, "aggregation").upper(),
        id=attribute(element, "id"),
        type=attribute(element, "typeRef"),
    )


def _input(element: Element) -> m.Input:
    expression = part(element, "inputExpression")
    return m.Input(
        _literal(expression) if expression is not None else m.Expression(""),
        label=attribute(element, "label"),
        variable=extension(element, "inputVariable") or "?",
        allowed=text_in(part(element, "inputValues")),
        id=attribute(element, "id"),
    )


def _output(element: Element) -> m.Output:
    default = part(element, "defaultOutputEntry")
    return m.Output(
        attribute(element, "name"),
        label=attribute(element, "label"),
        type=attribute(element, "typeRef"),
        values=text_in(part(element, "outputValues")),
        default=_literal(default) if default is not None and text_in(default) else None,
        id=attribute(element, "id"),
    )


def _rule(element: Element, inputs: int, outputs: int) -> m.Rule:
    """A rule with a cell for each column, whatever the file holds."""
    tests = [_literal(item) for item in parts(element, "inputEntry")]
    results = [_literal(item) for item in parts(element, "outputEntry")]
    note = part(element, "description")
    said = ["".join(note.itertext()).strip()] if note is not None else []
    said += [text_in(item) for item in parts(element, "annotationEntry")]
    return m.Rule(
        tuple((tests + [m.Expression("-")] * inputs)[:inputs]),
        tuple((results + [m.Expression("")] * outputs)[:outputs]),
        id=attribute(element, "id"),
        note=" ".join(filter(None, said)),
    )


_READERS: dict[str, Callable[[Element], m.Logic]] = {
    "literalExpression": _literal,
    "decisionTable": _table,
    "context": _context,
    "invocation": _invocation,
    "functionDefinition": read_function,
    "list": _items,
    "relation": _relation,
    "conditional": _conditional,
    "filter": _filter,
    "for": _iteration("for"),
    "some": _iteration("some"),
    "every": _iteration("every"),
}
