"""Reading XML that a stranger sent: a BPMN or DMN file as a tree, or a fault, quickly.

The file is fed to the parser in pieces and judged while it grows, so that a bomb never becomes a tree. Refused are:
more than `MAX_BYTES`; an encoding that Python does not know by that name, and UTF-16 without its mark (the source is
kept as text, too); any DOCTYPE (no entity, no external DTD, no network: what a model never needs); more than
`MAX_NODES` elements and attributes, or `MAX_ATTRIBUTES` of one element; nesting deeper than `MAX_DEPTH`; and text that
is not well-formed XML. Comments and processing instructions are dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lxml import etree

type Element = etree._Element

MAX_BYTES: Final = 8_000_000
MAX_DEPTH: Final = 200
MAX_NODES: Final = 400_000
# Of one element: each that is asked for is looked for among all of them.
MAX_ATTRIBUTES: Final = 1_000

_PIECE: Final = 65_536
# What may stand before the root of a well-formed file: byte order mark, white space, comments, processing instructions.
_PROLOG: Final = re.compile(rb"(?:\xef\xbb\xbf|\s+|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
_DECLARED: Final = re.compile(rb"""(?:\xef\xbb\xbf)?<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)""")
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


class XmlFault(Exception):
    """Why a file was not read. `code` is a code of `bpm.compiler.diagnostics`, `line` counts from 1 (0: the whole
    file)."""

    def __init__(self, code: str, line: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.line = line
        self.message = message


def read(data: bytes) -> Element:
    """The root element of the document; every element knows its `sourceline`. Raises XmlFault, and nothing else, for
    any bytes."""
    if len(data) > MAX_BYTES:
        raise XmlFault("xml-too-large", 0, f"The file has {len(data):,} bytes; at most {MAX_BYTES:,} are read.")
    encoding(data)
    prolog = _PROLOG.match(data)
    if prolog and data[prolog.end() : prolog.end() + 9].upper() == b"<!DOCTYPE":
        raise _doctype(data.count(b"\n", 0, prolog.end()) + 1)
    try:
        return _parse(data)
    except etree.XMLSyntaxError as fault:
        if "Excessive depth" in fault.msg:
            raise XmlFault("xml-too-deep", fault.lineno or 0, f"Elements nest deeper than {MAX_DEPTH}.") from None
        raise XmlFault("xml-malformed", fault.lineno or 0, f"The file is not well-formed XML: {fault.msg}.") from None
    except (LookupError, ValueError) as fault:
        raise XmlFault("xml-malformed", 0, f"The file cannot be read as XML: {fault}.") from None


def encoding(data: bytes) -> str:
    """The encoding of a file, as Python calls it: by its mark or its declaration, else UTF-8. Raises XmlFault."""
    if data[:2] in _UTF_16 and data[2:4] != b"\x00\x00":
        return "utf-16"
    if b"\x00" in data[:4]:
        raise XmlFault("xml-malformed", 1, "The file is UTF-16 or UTF-32 without a mark: save it as UTF-8.")
    declared = _DECLARED.match(data)
    if declared is None:
        return "utf-8"
    name = declared[1].decode()
    try:
        known = "<?xml".encode(name) == b"<?xml"
    except (LookupError, UnicodeError):
        known = False
    if not known:
        raise XmlFault("xml-malformed", 1, f"The encoding {name} is not read here: save the file as UTF-8.")
    return name


def line(element: Element | None) -> int:
    """The line of the file in which the element begins; 0 where it is not known."""
    found = element.sourceline if element is not None else None
    return found if isinstance(found, int) else 0


def _parse(data: bytes) -> Element:
    # huge_tree=False keeps libxml2's own limits (depth 256, text of 10 MB, entity amplification) behind ours.
    parser = etree.XMLPullParser(
        events=("start", "end"),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    nodes = depth = 0
    for piece in _pieces(data):
        parser.feed(piece)
        for event, element in parser.read_events():
            if event == "end":
                depth -= 1
                continue
            if not isinstance(element, etree._Element):
                continue
            depth += 1
            attributes = len(element.attrib)
            nodes += 1 + attributes
            if depth > MAX_DEPTH:
                raise XmlFault("xml-too-deep", line(element), f"Elements nest deeper than {MAX_DEPTH}.")
            if nodes > MAX_NODES:
                said = f"More than {MAX_NODES:,} elements and attributes."
                raise XmlFault("xml-too-many-nodes", line(element), said)
            if attributes > MAX_ATTRIBUTES:
                said = f"An element with more than {MAX_ATTRIBUTES:,} attributes."
                raise XmlFault("xml-too-many-nodes", line(element), said)
            if depth == 1 and element.getroottree().docinfo.internalDTD is not None:
                raise _doctype(1)
    return parser.close()


def _pieces(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), _PIECE):
        yield data[start : start + _PIECE]


def _doctype(line: int) -> XmlFault:
    said = "The file has a DOCTYPE. Models need none, and entities in one can be an attack: remove it."
    return XmlFault("xml-doctype", line, said)
