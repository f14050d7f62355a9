"""From the bytes of a BPMN file to its processes and everything that is to be said about it."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bpm.compiler import subscriptions, supported
from bpm.compiler.diagnostics import IGNORABLE, CompileError, Diagnostic, Problems
from bpm.compiler.document import BPMN, Document, children, document
from bpm.compiler.lowering import lower
from bpm.compiler.review import review
from bpm.compiler.rulebook import RULES
from bpm.compiler.rules import judge
from bpm.compiler.xml import Element, XmlFault, line, read
from bpm.graph import Process

_NO_DOCUMENT: Final = "The root of the file is {0!r}, not the definitions element of BPMN 2.0."


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a file became. The processes can be run only when there are no `errors`."""

    processes: tuple[Process, ...]
    diagnostics: tuple[Diagnostic, ...]
    file: str = ""
    # File names of the BPMN files that this one imports.
    imports: tuple[str, ...] = ()
    namespace: str = ""
    strict: bool = False

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """What refuses the model."""
        return tuple(found for found in self.diagnostics if found.severity == "error")


def compile_bpmn(data: bytes, *, file: str = "", strict: bool = False, ignore: Collection[str] = ()) -> Compiled:
    """Compile a BPMN file. Never raises for what is in it: every problem is in the result's diagnostics, all at once.

    `strict` makes errors of the standard's rules that are warnings otherwise. `file` is the name for findings.
    `ignore`: codes of IGNORABLE errors that do not refuse the model.
    """
    problems = Problems(file, strict, frozenset(ignore) & IGNORABLE)
    try:
        root = read(data)
    except XmlFault as fault:
        found = Diagnostic(
            code=fault.code, severity="error", element="", line=fault.line, message=fault.message, file=file
        )
        return Compiled((), (found,), file, strict=strict)
    if root.tag != f"{{{BPMN}}}definitions":
        problems.report("not-bpmn", root, _NO_DOCUMENT.format(str(root.tag)))
        return Compiled((), problems.sorted(), file, strict=strict)
    source = document(root, file)
    _ids(source, problems)
    judge(RULES, source, problems)
    processes = tuple(_process(source, element, problems) for element in _executable(source, problems))
    return Compiled(
        processes, problems.sorted(), file, tuple(_imports(source)), root.get("targetNamespace", ""), strict
    )


def compile_or_raise(data: bytes, *, file: str = "", strict: bool = False) -> Compiled:
    """As compile_bpmn; raises CompileError with all diagnostics where one of them is an error."""
    compiled = compile_bpmn(data, file=file, strict=strict)
    if compiled.errors:
        raise CompileError(compiled.diagnostics)
    return compiled


def check_together(compiled: Sequence[Compiled]) -> tuple[Diagnostic, ...]:
    """What can only be seen of files that are deployed together.

    Two different processes of one id; a called process or an imported file that is not among them (a warning: it may be
    deployed already; strict compilation refuses the missing import)."""
    problems = Problems()
    files = {item.file.rpartition("/")[2] for item in compiled}
    owners: dict[str, list[tuple[Process, Compiled]]] = {}
    for item in compiled:
        problems.file, problems.strict = item.file, item.strict
        for process in item.processes:
            others = owners.setdefault(process.id, [])
            _unique(process, item, others, problems)
            others.append((process, item))
        for name in item.imports:
            if name.rpartition("/")[2] not in files:
                said = f"The imported file {name!r} is not among the files that are deployed."
                problems.add("import-missing", "error" if item.strict else "warning", None, said)
    for item in compiled:
        problems.file = item.file
        for process in item.processes:
            _calls(process, owners.keys(), problems)
    return problems.sorted()


def _unique(process: Process, item: Compiled, others: list[tuple[Process, Compiled]], problems: Problems) -> None:
    """An id names one process. The same process in two files is one, but a namespace holds an id once (8.2, xsd:ID)."""
    for other, origin in others:
        if _drawn(other) != _drawn(process):
            said = f"Another process of this id is in {origin.file or 'another file'}; an id names one process."
            problems.report("process-duplicate", None, said, id=process.id)
        elif origin.namespace == item.namespace:
            said = f"The same process is in {origin.file or 'another file'}, in the same target namespace."
            problems.add("process-twice", "error" if item.strict else "warning", None, said, id=process.id)


def _drawn(process: Process) -> Process:
    """The process without the lines where its elements stand: what is left is what it does."""
    return replace(process, nodes={id: replace(node, line=0) for id, node in process.nodes.items()})


def _imports(source: Document) -> Iterator[str]:
    """The locations of imported BPMN files (8.4.9 imports anything; schemas and services are not needed to run a
    model)."""
    for element in children(source.root, "import"):
        if element.get("importType") == BPMN and (location := element.get("location")):
            yield location


def _calls(process: Process, known: Container[str], problems: Problems) -> None:
    for node in process.nodes.values():
        target = node.call.target if node.call else None
        if (
            target is None
            or target.language
            or "{" in target.text
            or target.text.startswith("=")
            or target.text in known
        ):
            continue
        said = f"The called process {target.text!r} is in none of the files; it must be deployed already."
        problems.report("called-process-missing", None, said, id=node.id)


def _executable(source: Document, problems: Problems) -> list[Element]:
    """The processes to run. As in Camunda 7, isExecutable="false" leaves a process out and an absent attribute means
    true."""
    found = []
    for element in children(source.root, "process"):
        said = element.get("isExecutable")
        if said is not None and said.strip() not in ("true", "1"):
            problems.report(
                "process-not-executable", element, 'The process is not executable (isExecutable="false") and left out.'
            )
            continue
        if said is None:
            problems.report(
                "process-executable-assumed",
                element,
                "The process says nothing of isExecutable and is taken as executable.",
            )
        found.append(element)
    if not found:
        problems.report(
            "no-executable-process", source.root, "The file has no executable process: there is nothing to run."
        )
    return found


def _process(source: Document, element: Element, problems: Problems) -> Process:
    process = lower(source, element, problems)
    review(element, problems)
    supported.check(process, source, problems)
    subscriptions.check(process, source, problems)
    return process


def _ids(source: Document, problems: Problems) -> None:
    """An id is one element's own in its file (XML Schema, xsd:ID)."""
    for element in source.root.iter(f"{{{BPMN}}}*"):
        id = element.get("id", "").strip()
        if id and source.by_id[id] is not element:
            problems.report(
                "id-duplicate", element, f"The id {id!r} is taken by the element in line {line(source.by_id[id])}."
            )
