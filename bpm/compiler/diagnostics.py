"""What the compiler has to say about a model: every problem at once, each with code, severity, element, line and a
sentence that helps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from bpm.compiler.xml import Element, line

type Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One finding. `element` is the id of the BPMN element ("" where it has none), `line` counts from 1 (0: the whole
    file)."""

    code: str
    severity: Severity
    element: str
    line: int
    message: str
    file: str = ""

    def __str__(self) -> str:
        where = ":".join(part for part in (self.file, str(self.line) if self.line else "") if part)
        about = f" {self.element}:" if self.element else ""
        return f"{where + ': ' if where else ''}{self.severity} {self.code}:{about} {self.message}"


class CompileError(Exception):
    """A model that cannot be run. `diagnostics` holds everything that was found, errors first."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("\n".join(str(d) for d in diagnostics if d.severity == "error"))
        self.diagnostics = diagnostics


# Findings of reading and lowering: code -> (severity, what it says). The static rules have their own tables (`rules`).
FINDINGS: Final[dict[str, tuple[Severity, str]]] = {
    # the file
    "xml-too-large": ("error", "The file is larger than 8 MB."),
    "xml-too-deep": ("error", "Elements are nested deeper than a model ever is."),
    "xml-too-many-nodes": ("error", "The file has more elements and attributes than a model ever has."),
    "xml-doctype": (
        "error",
        "The file has a document type declaration, which could make a reader expand or fetch things.",
    ),
    "xml-malformed": ("error", "The file is no well-formed XML."),
    "not-bpmn": ("error", "The root of the file is no BPMN 2.0."),
    "process-not-executable": ("note", 'A process says isExecutable="false" and is left out.'),
    "process-executable-assumed": ("note", "A process says nothing of isExecutable and is run."),
    "no-executable-process": ("warning", "There is nothing to run in the file."),
    # what the model says and the engine cannot do
    "unsupported-element": ("error", "An element of choreographies or conversations stands in a process."),
    "unsupported-feature": ("error", "BPMN that the engine does not run (see the tables above)."),
    "unsupported-language": (
        "error",
        "An expression or script in a language that the engine does not evaluate stands where it decides.",
    ),
    "unsupported-extension": ("error", "A vendor's word without which the model would do something else."),
    "listener-not-run": ("error", "A listener has no place where a token passes it (`--ignore` accepts that)."),
    "listener-as-task": ("note", "What a listener does is a step of its own here."),
    "extension-ignored": ("note", "A vendor's word that has no effect here."),
    "element-ignored": ("note", "A BPMN element that has no effect here."),
    # references
    "id-missing": ("error", "An element has no id, so that nothing could refer to it and history could not name it."),
    "id-duplicate": ("error", "Two elements have one id."),
    "reference-missing": ("error", "A reference names what the file does not have."),
    "reference-wrong": ("error", "A reference names something of the wrong kind or place."),
    "process-duplicate": ("error", "Two different processes of one deployment have one id."),
    "called-process-missing": ("warning", "A called process is not in the deployment: it must be there already."),
    # expressions and values
    "expression-broken": ("error", "An expression cannot be read."),
    "expression-missing": ("error", "There is no expression where one must be."),
    "timer-broken": ("error", "A constant time cannot be read."),
    "text-not-expression": ("warning", "A condition is plain text that is no expression: asking it opens an incident."),
    "read-as-feel": ("note", "A condition names no language and is read as FEEL."),
    "value-wrong": ("error", "A value is not one of those that are possible."),
    "expression-as-topic": ("note", "An expression of several calls is the topic of its task as a whole."),
    "argument-dropped": ("note", "An argument of a call is an object of the Java engine and is not passed."),
    # events and activities
    "message-missing": ("error", "An event or task waits for a message and names none."),
    "message-unnamed": ("warning", "A message has no name; its id is taken."),
    "receive-without-message": ("note", "A receive task without a message goes on only when an operator says so."),
    "signal-missing": ("error", "An event names no signal."),
    "timer-missing": ("error", "A timer says no time."),
    "timer-several": ("error", "A timer says several times."),
    "error-code-missing": ("warning", "An error or escalation has no code; its id is taken."),
    "error-undeclared": ("warning", "errorRef names no error of the file and is taken as the code."),
    "called-element-missing": ("error", "A call activity or decision task says nothing to call."),
    "collection-missing": ("error", "A multi-instance says neither how often nor over which list."),
    "implementation-missing": ("warning", "A task does not say how it is done; its id is its topic."),
    "topic-missing": ("error", "An external task has no topic."),
    "form-field-untyped": ("error", "A field of a form has no type (Camunda 7 refuses it, too)."),
    "name-computed": (
        "error",
        "The name of a message or signal that starts a process is computed; there are no variables yet.",
    ),
    "subscription-twice": ("error", "Two events wait for the same message or condition at the same time."),
    "script-missing": ("error", "A script task has no script."),
    "start-never": ("warning", "A start event waits for nothing and so never starts its process."),
}

# Errors that whoever deploys may accept: the model runs, and what is named is not done.
IGNORABLE: Final = frozenset({"listener-not-run"})


@dataclass(slots=True)
class Problems:
    """Where the findings of one file gather while it is compiled."""

    file: str = ""
    strict: bool = False
    # Codes of errors that whoever deploys accepts: they are warnings.
    ignored: frozenset[str] = frozenset()
    found: list[Diagnostic] = field(default_factory=list)

    def report(self, code: str, element: Element | None, message: str, *, id: str | None = None) -> None:
        """Add a finding about an element; its severity is in the table FINDINGS. KeyError for a code that is not
        there."""
        self.add(code, FINDINGS[code][0], element, message, id=id)

    def add(
        self, code: str, severity: Severity, element: Element | None, message: str, *, id: str | None = None
    ) -> None:
        """Add a finding whose severity the caller knows (a static rule)."""
        if code in self.ignored and severity == "error":
            severity = "warning"
        about = id if id is not None else nearest_id(element)
        self.found.append(
            Diagnostic(code=code, severity=severity, element=about, line=line(element), message=message, file=self.file)
        )

    def sorted(self) -> tuple[Diagnostic, ...]:
        """Errors first, then by line; the same finding once."""
        order = {"error": 0, "warning": 1, "note": 2}
        unique = dict.fromkeys(self.found)
        return tuple(sorted(unique, key=lambda d: (order[d.severity], d.line)))


def nearest_id(element: Element | None) -> str:
    """The id of the element or of the nearest element around it that has one."""
    while element is not None:
        if found := element.get("id"):
            return str(found)
        element = element.getparent()
    return ""
