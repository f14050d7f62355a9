"""An element of the model and where it stands: what every lowering function is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bpm.compiler.diagnostics import Problems
from bpm.compiler.document import Document, tag
from bpm.compiler.vocabulary import Extensions
from bpm.compiler.xml import Element, line
from bpm.graph import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`scope` is the id of the process or subprocess around the element."""

    element: Element
    id: str
    scope: str
    document: Document
    problems: Problems
    extensions: Extensions

    @property
    def tag(self) -> str:
        """The BPMN tag."""
        return tag(self.element)

    def report(self, code: str, message: str, *, at: Element | None = None) -> None:
        """Report a finding about this element; `at` gives the line of something inside it."""
        self.problems.report(code, self.element if at is None else at, message, id=self.id)

    def resolve(self, element: Element, attribute: str) -> Element | None:
        """What a reference attribute of the element (or of something in it) names; an absent target is reported."""
        reference = element.get(attribute)
        if reference is None:
            return None
        found = self.document.resolve(reference)
        if found is None:
            self.report(
                "reference-missing", f"{attribute} names {reference!r}, which this file does not have.", at=element
            )
        return found


def node(place: Place, kind: str, **fields: Any) -> Node:
    """A node of that kind for the element."""
    return Node(
        id=place.id,
        kind=kind,
        element=place.tag,
        scope=place.scope,
        name=place.element.get("name", ""),
        line=line(place.element),
        **fields,
    )


def words(text: str | None) -> Iterator[str]:
    """The parts of a comma list, stripped, without empty ones. A comma within ${...} does not separate."""
    part, depth = "", 0
    for character in text or "":
        if character == "," and depth == 0:
            if part.strip():
                yield part.strip()
            part = ""
            continue
        depth += (character in "{(") - (character in "})")
        part += character
    if part.strip():
        yield part.strip()
