"""Writing small DMN files in tests."""

from __future__ import annotations

from collections.abc import Mapping

from bpm.compiler.dmn import CompiledDecisions, compile_dmn, compile_dmn_or_raise
from bpm.decisions import Evaluation, Evaluator

DMN = "https://www.omg.org/spec/DMN/20191111/MODEL/"
HEAD = f'<definitions xmlns="{DMN}" xmlns:camunda="http://camunda.org/schema/1.0/dmn" id="d" name="d" namespace="own">'


def file(*elements: str, head: str = HEAD) -> bytes:
    return (head + "".join(elements) + "</definitions>").encode()


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def literal(text: str, tag: str = "literalExpression", attributes: str = "") -> str:
    return f"<{tag} {attributes}><text>{escaped(text)}</text></{tag}>"


def decision(id: str, logic: str, requires: str = "", type: str = "") -> str:
    """requires: ids, those of functions with a `!` before them."""
    links = []
    for name in requires.split():
        if name.startswith("!"):
            wanted = f'<requiredKnowledge href="#{name[1:]}"/>'
            links.append(f"<knowledgeRequirement>{wanted}</knowledgeRequirement>")
        else:
            kind = "requiredInput" if name.startswith("in_") else "requiredDecision"
            links.append(f'<informationRequirement><{kind} href="#{name}"/></informationRequirement>')
    typed = f'typeRef="{escaped(type)}"' if type else ""
    variable = f'<variable name="{id}" {typed}/>'
    return f'<decision id="{id}" name="{id}">{variable}{"".join(links)}{logic}</decision>'


def table(
    inputs: list[str], outputs: list[str], rules: list[list[str]], attributes: str = "", values: Mapping[str, str] = {}
) -> str:
    """inputs: expressions; outputs: names; rules: cells, inputs first; values: of outputs, `name` or `default name`."""
    written = [f'<input id="i{at}">{literal(text, "inputExpression")}</input>' for at, text in enumerate(inputs)]
    for name in outputs:
        parts = literal(values[name], "outputValues") if name in values else ""
        if f"default {name}" in values:
            parts += literal(values[f"default {name}"], "defaultOutputEntry")
        written.append(f'<output name="{name}">{parts}</output>')
    for at, cells in enumerate(rules):
        tags = ["inputEntry"] * len(inputs) + ["outputEntry"] * len(outputs)
        row = "".join(literal(cell, tag) for cell, tag in zip(cells, tags, strict=True))
        written.append(f'<rule id="r{at + 1}">{row}</rule>')
    return f'<decisionTable id="t" {attributes}>{"".join(written)}</decisionTable>'


def compiled(*elements: str, head: str = HEAD) -> CompiledDecisions:
    return compile_dmn(file(*elements, head=head))


def evaluate(key: str, variables: Mapping[str, object], *elements: str) -> Evaluation:
    return Evaluator(compile_dmn_or_raise(file(*elements))).evaluate(key, variables)
