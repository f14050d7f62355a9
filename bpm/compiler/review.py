"""What the vendors' words in a model mean here: what is not honoured is named in the findings, all of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bpm.compiler.diagnostics import Problems
from bpm.compiler.document import BPMN, tag
from bpm.compiler.vocabulary import ATTRIBUTES, ELEMENTS, FAMILY, ZEEBE, ZEEBE_ELEMENTS, Use, split
from bpm.compiler.xml import Element

_UNKNOWN: Final[tuple[Use, str]] = ("noted", "this engine does not know it")

# Flow elements that BPMN has and that change nothing when a process runs.
_SILENT: Final = {
    "dataInputAssociation": "data associations are not run: map variables with inputs and outputs",
    "dataOutputAssociation": "data associations are not run: map variables with inputs and outputs",
    "ioSpecification": "",
}
# use -> code of the finding
CODES: Final = {"noted": "extension-ignored", "refused": "unsupported-extension"}


def review(process: Element, problems: Problems) -> None:
    """Report what of the vendors' vocabularies in a process is not honoured, and BPMN elements without effect."""
    for element in process.iter(f"{{{BPMN}}}*"):
        if tag(element) == "extensionElements":
            for name, item, use, why in _elements(element):
                _report(problems, item, name, use, why)
        elif _SILENT.get(tag(element)):
            problems.report("element-ignored", element, f"The {tag(element)} has no effect: {_SILENT[tag(element)]}.")
        for key in element.attrib:
            namespace, name = split(str(key))
            if namespace in FAMILY:
                use, why = ATTRIBUTES.get(name, _UNKNOWN)
                _report(problems, element, f"{FAMILY[namespace]}:{name}", use, why)


def _elements(holder: Element) -> Iterator[tuple[str, Element, Use, str]]:
    for item in holder:
        namespace, name = split(item.tag)
        if namespace in FAMILY:
            yield f"{FAMILY[namespace]}:{name}", item, *ELEMENTS.get(name, _UNKNOWN)
        elif namespace == ZEEBE:
            yield f"zeebe:{name}", item, *ZEEBE_ELEMENTS.get(name, _UNKNOWN)


def _report(problems: Problems, element: Element, name: str, use: Use, why: str) -> None:
    if use in CODES:  # listeners: see `listeners`
        said = f"{name} {'has no effect' if use == 'noted' else 'is not supported'}: {why}."
        problems.report(CODES[use], element, said)
