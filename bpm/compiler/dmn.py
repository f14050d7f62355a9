"""DMN files to decisions: DMN 1.1 to 1.5, imports among files given together, and everything that is wrong with them.

Read are decisions with all their boxed expressions (`dmn_logic`), input data, knowledge models, decision services and
item definitions; diagrams, knowledge sources and annotations are left out. As with BPMN, nothing raises for what a file
says: `dmn_check` reports it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bpm.compiler.diagnostics import CompileError, Diagnostic, Problems
from bpm.compiler.dmn_check import check, report, variable_of
from bpm.compiler.dmn_elements import attribute, part, parts, reference, tag, text_in, version_tag
from bpm.compiler.dmn_logic import read_function, read_logic
from bpm.compiler.xml import Element, XmlFault, read
from bpm.decisions.model import (
    Decision,
    Decisions,
    Import,
    InputData,
    ItemType,
    Knowledge,
    Model,
    Service,
)
from bpm.decisions.model import Element as DecisionElement


@dataclass(frozen=True, slots=True)
class CompiledDecisions:
    """What a file became; it can be deployed only when there are no `errors`. decisions: None for what is no DMN."""

    decisions: Decisions | None
    diagnostics: tuple[Diagnostic, ...]
    file: str = ""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """What refuses the file."""
        return tuple(found for found in self.diagnostics if found.severity == "error")


def is_dmn(data: bytes) -> bool:
    """Whether a file is DMN by its root element; anything that is no XML is not."""
    try:
        return tag(read(data)) == "definitions"
    except XmlFault:
        return False


def compile_dmn(data: bytes, *, file: str = "", others: Sequence[bytes] = ()) -> CompiledDecisions:
    """Compile a DMN file. Never raises for what is in it: every problem is in the diagnostics.

    others: the files it may import, as they are deployed together; those it does not import are not looked at further.
    """
    problems = Problems(file)
    try:
        root = read(data)
    except XmlFault as fault:
        found = Diagnostic(
            code=fault.code, severity="error", element="", line=fault.line, message=fault.message, file=file
        )
        return CompiledDecisions(None, (found,), file)
    if tag(root) != "definitions":
        report(problems, "not-dmn", root, f"The root of the file is {root.tag!s}, not the definitions element of DMN.")
        return CompiledDecisions(None, problems.sorted(), file)
    own = _model(root)
    decisions = Decisions((own, *_imported(own, others)))
    check(root, decisions, problems)
    return CompiledDecisions(decisions, problems.sorted(), file)


def compile_dmn_or_raise(data: bytes, *, file: str = "", others: Sequence[bytes] = ()) -> Decisions:
    """As compile_dmn; raises CompileError with all diagnostics where one of them is an error."""
    compiled = compile_dmn(data, file=file, others=others)
    if compiled.errors or compiled.decisions is None:
        raise CompileError(compiled.diagnostics)
    return compiled.decisions


def check_decisions_together(compiled: Sequence[CompiledDecisions]) -> list[Diagnostic]:
    """What is wrong with files that are deployed together: an id names one decision, in whatever file it stands."""
    problems = Problems()
    seen: dict[str, CompiledDecisions] = {}
    for one in compiled:
        for element in one.decisions.callable if one.decisions else ():
            other = seen.setdefault(element.id, one)
            if other.decisions != one.decisions:
                problems.file = one.file
                said = f"Another decision of this id is in {other.file or 'another file'}; an id names one decision."
                report(problems, "decision-duplicate", None, said, id=element.id)
    return list(problems.sorted())


def _imported(own: Model, others: Sequence[bytes]) -> list[Model]:
    """The models that a model imports, and those they import in turn, each once."""
    available: dict[str, Model] = {}
    if own.imports:
        for data in others:
            try:
                root = read(data)
            except XmlFault:
                continue  # that file's own compilation says so
            if tag(root) == "definitions":
                available.setdefault(attribute(root, "namespace"), _model(root))
    found: dict[str, Model] = {}
    waiting = list(own.imports)
    while waiting:
        namespace = waiting.pop(0).namespace
        if namespace in available and namespace not in found and namespace != own.namespace:
            found[namespace] = available[namespace]
            waiting += available[namespace].imports
    return list(found.values())


def _model(root: Element) -> Model:
    own = attribute(root, "namespace")
    imports = tuple(Import(attribute(item, "name"), attribute(item, "namespace")) for item in parts(root, "import"))
    types = tuple(_item_type(item) for item in parts(root, "itemDefinition"))
    elements = tuple(_READERS[tag(item)](item, own) for item in parts(root, *_READERS))
    return Model(own, attribute(root, "name"), attribute(root, "id"), imports, types, elements)


def _id(element: Element) -> str:
    return attribute(element, "id") or attribute(element, "name")


def _decision(element: Element, own: str) -> Decision:
    name, kind = variable_of(element)
    logic = read_logic(element)
    return Decision(
        _id(element), name, logic, kind, _requires(element, own), attribute(element, "name"), version_tag(element)
    )


def _input_data(element: Element, own: str) -> InputData:
    name, kind = variable_of(element)
    return InputData(_id(element), name, kind)


def _knowledge(element: Element, own: str) -> Knowledge:
    name, kind = variable_of(element)
    logic = part(element, "encapsulatedLogic")
    function = read_function(logic) if logic is not None else None
    return Knowledge(_id(element), name, function, kind, _requires(element, own))


def _service(element: Element, own: str) -> Service:
    name, kind = variable_of(element)

    def all_of(role: str) -> tuple[str, ...]:
        return tuple(reference(item, own) for item in parts(element, role))

    return Service(_id(element), name, all_of("outputDecision"), all_of("inputData"), all_of("inputDecision"), kind)


def _requires(element: Element, own: str) -> tuple[str, ...]:
    return tuple(
        reference(item, own)
        for requirement in parts(element, "informationRequirement", "knowledgeRequirement")
        for item in parts(requirement, "requiredDecision", "requiredInput", "requiredKnowledge")
    )


def _item_type(element: Element) -> ItemType:
    base, function = part(element, "typeRef"), part(element, "functionItem")
    item = ItemType(
        attribute(element, "name"),
        base="".join(base.itertext()).strip() if base is not None else "",
        collection=attribute(element, "isCollection") == "true",
        components=tuple(_item_type(item) for item in parts(element, "itemComponent")),
        allowed=text_in(part(element, "allowedValues")),
        constraint=text_in(part(element, "typeConstraint")),
    )
    return item if function is None else replace(item, function=True, result=attribute(function, "outputTypeRef"))


_READERS: dict[str, Callable[[Element, str], DecisionElement]] = {
    "decision": _decision,
    "inputData": _input_data,
    "businessKnowledgeModel": _knowledge,
    "decisionService": _service,
}
