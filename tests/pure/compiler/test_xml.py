"""Hostile files are refused, and quickly."""

from __future__ import annotations

from time import process_time

import pytest

from bpm.compiler import xml

HEAD = b'<?xml version="1.0"?>'
LAUGHS = b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10 if n else b"ha") for n in range(12))

HOSTILE = {
    "entity bomb": (HEAD + b"<!DOCTYPE l [" + LAUGHS + b"]><l>&a11;</l>", "xml-doctype"),
    "entity bomb in UTF-16": (
        '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE l [<!ENTITY a "x">]><l>&a;</l>'.encode("utf-16"),
        "xml-doctype",
    ),
    "external entity": (HEAD + b'<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/hostname">]><l>&a;</l>', "xml-doctype"),
    "external DTD": (HEAD + b'<!DOCTYPE l SYSTEM "http://example.org/l.dtd"><l/>', "xml-doctype"),
    "DOCTYPE behind comments": (HEAD + b"<!-- a -->\n<?b?>\n<!DOCTYPE l><l/>", "xml-doctype"),
    "unknown entity": (b"<l>&a;</l>", "xml-malformed"),
    "50 MB": (b"<l>" + b"x" * 50_000_000 + b"</l>", "xml-too-large"),
    "deep": (b"<a>" * 201 + b"</a>" * 201, "xml-too-deep"),
    "very deep": (b"<a>" * 1_000_000, "xml-too-deep"),
    "many elements": (b"<l>" + b"<a/>" * 1_900_000 + b"</l>", "xml-too-many-nodes"),
    "one wide element": (b"<l " + b" ".join(b'a%d=""' % n for n in range(1_001)) + b"/>", "xml-too-many-nodes"),
    "many attributes": (b"<l " + b" ".join(b'a%d=""' % n for n in range(500_000)) + b"/>", "xml-too-many-nodes"),
    "open comment": (b"<!--" + b"x" * 7_000_000, "xml-malformed"),
    "open comments": (b"<!-- -- " * 900_000, "xml-malformed"),
    "only white space": (b" " * 7_900_000, "xml-malformed"),
    "empty": (b"", "xml-malformed"),
    "no XML": (b"\x00\xff\x00", "xml-malformed"),
    "an encoding that only iconv knows": (b'<?xml version="1.0" encoding="ARMSCII-8"?><a/>', "xml-malformed"),
    "UTF-16 without a mark": ('<?xml version="1.0"?><a/>'.encode("utf-16-le"), "xml-malformed"),
    "UTF-32": ('<?xml version="1.0"?><a/>'.encode("utf-32"), "xml-malformed"),
    "unknown encoding": (b'<?xml version="1.0" encoding="nope"?><a/>', "xml-malformed"),
    "two roots": (b"<a/><b/>", "xml-malformed"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_quickly(name):
    data, code = HOSTILE[name]
    before = process_time()
    with pytest.raises(xml.XmlFault) as caught:
        xml.read(data)
    assert caught.value.code == code
    assert process_time() - before < 5  # far below a second on an idle machine; it must not hang


def test_a_file_is_read_with_its_lines():
    root = xml.read(b"\xef\xbb\xbf" + HEAD + b"\n<!-- c -->\n<a>\n<b>x<!-- y -->z</b>\n</a>\n")
    assert (root.tag, xml.line(root), xml.line(root[0]), root[0].text) == ("a", 3, 4, "xz")


def test_a_doctype_in_text_is_text():
    assert xml.read(b"<a><![CDATA[<!DOCTYPE html>]]></a>").text == "<!DOCTYPE html>"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_encodings(encoding):
    assert xml.read(f'<?xml version="1.0" encoding="{encoding}"?><a>é</a>'.encode(encoding)).text == "é"
