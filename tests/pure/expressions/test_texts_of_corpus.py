"""Every FEEL and JUEL text of the public models parses, and prints as a text that parses to the same tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from lxml import etree

from bpm.expressions import Language, SyntaxFault
from bpm.expressions.parse_feel import parse_feel, parse_unary_tests
from bpm.expressions.parse_juel import has_hole, parse_juel
from bpm.expressions.printer import print_tree
from bpm.expressions.tree import Node
from tests.pure.scenarios.corpus import corpus

BROKEN = {'=iban: "DE456"': "service-task-invalid-input.bpmn shows an engine what a broken mapping does"}
"""Texts that are broken on purpose, and why."""

NO_EXPRESSIONS = {"script", "documentation", "text"}
"""Elements of BPMN whose text is for people or for another language."""
CELLS = {"inputEntry", "inputValues", "outputValues", "allowedValues", "typeConstraint"}
PROSE = {"textAnnotation", "annotationEntry", "inputVariable"}

type Parse = Callable[[str], Node]


def elements(path: Path) -> list[etree._Element]:
    """All elements of a model; none if it is not XML (a few are broken on purpose)."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    try:
        return list(etree.parse(path, parser).getroot().iter("*"))
    except etree.XMLSyntaxError:
        return []


def local(element: etree._Element) -> str:
    return etree.QName(element).localname


def texts_of_bpmn(path: Path) -> Iterator[tuple[str, Language, Parse]]:
    for element in elements(path):
        if local(element) in NO_EXPRESSIONS:
            continue
        for text in (*map(str, element.attrib.values()), element.text or ""):
            if text.strip().startswith("="):
                yield text, "feel", lambda text: parse_feel(text.strip().removeprefix("="))
            elif has_hole(text):
                yield text, "juel", parse_juel


def texts_of_dmn(path: Path) -> Iterator[tuple[str, Language, Parse]]:
    found = elements(path)
    names = frozenset(element.attrib["name"] for element in found if "name" in element.attrib)
    for element in found:
        owner = element.getparent()
        if local(element) != "text" or owner is None or local(owner) in PROSE:
            continue
        language = (owner.get("expressionLanguage") or found[0].get("expressionLanguage") or "feel").lower()
        text = element.text or ""
        if local(owner) in CELLS and "feel" in language:
            yield text, "feel", partial(parse_unary_tests, names=names)
        elif has_hole(text) or "juel" in language:
            # Camunda 7 reads input expressions and outputs as JUEL under its legacy behaviour.
            yield text, "juel", parse_juel
        elif "feel" in language and text.strip():
            yield text, "feel", partial(parse_feel, names=names)


def is_dmn(path: Path) -> bool:
    return b"spec/DMN" in path.read_bytes()[:4000]


@pytest.fixture(scope="module")
def models() -> list[Path]:
    return [path for path in sorted(corpus(".").rglob("*")) if path.suffix in (".bpmn", ".dmn", ".xml")]


@pytest.mark.parametrize(("read", "wanted", "least"), [(texts_of_bpmn, False, 350), (texts_of_dmn, True, 2000)])
def test_all_texts_parse_and_print(models, read, wanted, least):
    seen: set[tuple[str, str]] = set()
    refused: list[str] = []
    for path in models:
        if is_dmn(path) is not wanted or "-test-" in path.name:
            continue
        for text, language, parse in read(path):
            if (text, str(parse)) in seen or text.strip() in BROKEN:
                continue
            seen.add((text, str(parse)))
            try:
                tree = parse(text)
                again = print_tree(tree, language)
                bare = f"={again}" if wanted is False and language == "feel" else again
                assert parse(bare) == tree, f"{path}: {text!r} is printed as {again!r}"
            except SyntaxFault as fault:
                refused.append(f"{path.name}: {fault}")
    assert not refused
    assert len(seen) >= least


@pytest.mark.parametrize("text", BROKEN)
def test_texts_broken_on_purpose_are_refused(text):
    with pytest.raises(SyntaxFault):
        parse_feel(text.removeprefix("="))
