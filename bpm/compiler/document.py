"""A BPMN file as read: its elements by id, its language, and small questions to elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bpm.compiler.xml import Element

BPMN: Final = "http://www.omg.org/spec/BPMN/20100524/MODEL"
XSI_TYPE: Final = "{http://www.w3.org/2001/XMLSchema-instance}type"
_PREFIX: Final = "{" + BPMN + "}"

# Elements that name a value: variables of the process in the words of the standard.
DATA: Final = ("dataObject", "dataObjectReference", "property", "dataInput", "dataOutput")


@dataclass(frozen=True, slots=True)
class Document:
    """One file.

    `by_id` holds the BPMN elements by id (the first of each, where a broken file repeats one); `names` the names of its
    data, which FEEL must know where they contain spaces."""

    root: Element
    file: str
    by_id: dict[str, Element]
    names: frozenset[str]

    @property
    def language(self) -> str:
        """The default expression language that the file names ("" where none)."""
        return str(self.root.get("expressionLanguage", ""))

    def resolve(self, reference: str | None) -> Element | None:
        """The element of this file that a reference (an id, or a QName with prefix) names."""
        return self.by_id.get(local(reference)) if reference else None


def document(root: Element, file: str = "") -> Document:
    """The document below a `definitions` element."""
    by_id: dict[str, Element] = {}
    for element in root.iter(_PREFIX + "*"):
        if id := element.get("id"):
            by_id.setdefault(id.strip(), element)
    data = (item.get("name", "").strip() for name in DATA for item in root.iter(_PREFIX + name))
    return Document(root, file, by_id, frozenset(name for name in data if name))


def tag(element: Element) -> str:
    """The local name of a BPMN element; "" for an element of another namespace."""
    name = element.tag
    return name[len(_PREFIX) :] if name.startswith(_PREFIX) else ""


def local(reference: str) -> str:
    """A QName without its prefix; ids of BPMN files have no colon."""
    return reference.strip().rpartition(":")[2]


def children(element: Element, *names: str) -> Iterator[Element]:
    """The BPMN children of the given names (all, where none is given), in document order."""
    for item in element:
        name = tag(item)
        if name and (not names or name in names):
            yield item


def child(element: Element, name: str) -> Element | None:
    """The first BPMN child of that name."""
    return element.find(_PREFIX + name)


def text(element: Element | None) -> str:
    """All text in the element, stripped; "" for no element."""
    return "".join(str(part) for part in element.itertext()).strip() if element is not None else ""


def child_text(element: Element, name: str) -> str:
    """The stripped text of the first BPMN child of that name; "" without one."""
    return text(child(element, name))


def flag(element: Element, attribute: str, default: bool = False) -> bool:
    """An xsd:boolean attribute."""
    value = element.get(attribute)
    return default if value is None else value.strip() in ("true", "1")
