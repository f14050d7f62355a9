"""Small questions to the elements of a DMN file, whatever version of DMN its namespace says."""

from __future__ import annotations

from typing import Final

from bpm.compiler.xml import Element

VERSIONS: Final = {
    "http://www.omg.org/spec/DMN/20151101/dmn.xsd": "1.1",
    "http://www.omg.org/spec/DMN/20151101/dmn11.xsd": "1.1",
    "http://www.omg.org/spec/DMN/20151101": "1.1",
    "http://www.omg.org/spec/DMN/20180521/MODEL/": "1.2",
    "https://www.omg.org/spec/DMN/20191111/MODEL/": "1.3",
    "https://www.omg.org/spec/DMN/20211108/MODEL/": "1.4",
    "https://www.omg.org/spec/DMN/20230324/MODEL/": "1.5",
}
"""Namespaces of the model, and the version of DMN each belongs to."""

CAMUNDA: Final = ("http://camunda.org/schema/1.0/dmn", "http://operaton.org/schema/1.0/dmn")
"""Namespaces of Camunda's own attributes in DMN."""

ZEEBE: Final = "http://camunda.org/schema/zeebe/1.0"


def tag(element: Element) -> str:
    """The local name of an element of DMN's model; "" for any other element."""
    namespace, _, name = str(element.tag).removeprefix("{").rpartition("}")
    return name if namespace in VERSIONS else ""


def parts(element: Element | None, *names: str) -> list[Element]:
    """The elements of DMN directly below, of these names or of any."""
    if element is None:
        return []
    return [child for child in element if tag(child) and (not names or tag(child) in names)]


def part(element: Element | None, *names: str) -> Element | None:
    """The first of them; None when there is none."""
    return next(iter(parts(element, *names)), None)


def text_in(element: Element | None) -> str:
    """What stands in the `text` below an element; "" when there is none."""
    found = part(element, "text")
    return "".join(found.itertext()).strip() if found is not None else ""


def attribute(element: Element | None, name: str) -> str:
    """An attribute's value, blanks around it and doubled inside it left out; "" when there is none."""
    return " ".join(element.get(name, "").split()) if element is not None else ""


def extension(element: Element, name: str) -> str:
    """An attribute of Camunda's."""
    return next((found for space in CAMUNDA if (found := element.get(f"{{{space}}}{name}"))), "")


def version_tag(element: Element) -> str:
    """What Camunda lets people call a version of a decision: `camunda:versionTag`, or the element of Zeebe's; ""."""
    zeebe = (
        found
        for holder in parts(element, "extensionElements")
        for found in holder
        if found.tag == f"{{{ZEEBE}}}versionTag"
    )
    return extension(element, "versionTag") or attribute(next(zeebe, None), "value")


def reference(element: Element | None, own: str) -> str:
    """What an `href` names, as `namespace#id`; a reference into the own namespace, or to a bare id, as `#id`."""
    namespace, _, id = attribute(element, "href").rpartition("#")
    return f"#{id}" if namespace in ("", own) else f"{namespace}#{id}"
