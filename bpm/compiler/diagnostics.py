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


# Findings of reading and lowering: code -> severity. (The standard's static rules have tables of their own: `rules`.)
SEVERITY: Final[dict[str, Severity]] = {
    # the file
    "xml-too-large": "error",
    "xml-too-deep": "error",
    "xml-too-many-nodes": "error",
    "xml-doctype": "error",
    "xml-malformed": "error",
    "not-bpmn": "error",
    "process-not-executable": "note",
    "process-executable-assumed": "note",
    "no-executable-process": "warning",
    # what the model says and the engine cannot do
    "unsupported-element": "error",
    "unsupported-feature": "error",
    "unsupported-language": "error",
    "unsupported-extension": "error",
    "listener-not-run": "warning",
    "extension-ignored": "note",
    "element-ignored": "note",
    # references
    "id-missing": "error",
    "id-duplicate": "error",
    "reference-missing": "error",
    "reference-wrong": "error",
    "process-duplicate": "error",
    "called-process-missing": "warning",
    # expressions and values
    "expression-broken": "error",
    "expression-missing": "error",
    "timer-broken": "error",
    "text-not-expression": "warning",
    "read-as-feel": "note",
    "value-wrong": "error",
    "expression-as-topic": "note",
    "argument-dropped": "note",
    # events and activities
    "message-missing": "error",
    "message-unnamed": "warning",
    "receive-without-message": "note",
    "signal-missing": "error",
    "timer-missing": "error",
    "timer-several": "error",
    "error-code-missing": "warning",
    "error-undeclared": "warning",
    "called-element-missing": "error",
    "collection-missing": "error",
    "implementation-missing": "warning",
    "topic-missing": "error",
    "name-computed": "error",
    "subscription-twice": "error",
    "script-missing": "error",
    "start-never": "warning",
}


@dataclass(slots=True)
class Problems:
    """Where the findings of one file gather while it is compiled."""

    file: str = ""
    strict: bool = False
    found: list[Diagnostic] = field(default_factory=list)

    def report(self, code: str, element: Element | None, message: str, *, id: str | None = None) -> None:
        """Add a finding about an element; its severity is in the table SEVERITY. KeyError for a code that is not
        there."""
        self.add(code, SEVERITY[code], element, message, id=id)

    def add(
        self, code: str, severity: Severity, element: Element | None, message: str, *, id: str | None = None
    ) -> None:
        """Add a finding whose severity the caller knows (a static rule)."""
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
