"""XES (IEEE 1849-2016): a trace an instance, an event an activity that was done.

`concept:name` is the activity's name, `org:resource` who did it, `lifecycle:transition` always complete. Attributes
without a standard name begin with "tokentrail:".
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import IO
from xml.sax.saxutils import quoteattr

from bpm.audit.export.activities import Watching
from bpm.audit.export.selection import Selection
from bpm.audit.export.writing import Writer
from bpm.audit.histories import LiveHistory

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1849-2016" xes.features="" xmlns="http://www.xes-standard.org/">
<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
<extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
<extension name="Lifecycle" prefix="lifecycle" uri="http://www.xes-standard.org/lifecycle.xesext"/>
<extension name="Organizational" prefix="org" uri="http://www.xes-standard.org/org.xesext"/>
<global scope="trace"><string key="concept:name" value=""/></global>
<global scope="event">
<string key="concept:name" value=""/>
<date key="time:timestamp" value="1970-01-01T00:00:00+00:00"/>
<string key="lifecycle:transition" value="complete"/>
</global>
<classifier name="Activity" keys="concept:name"/>
<string key="concept:name" value="Tokentrail"/>
"""
# What no XML 1.0 document may hold.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@contextlib.contextmanager
def xes(file: IO[bytes], selection: Selection) -> Iterator[Writer]:
    """A log of the chosen instances."""

    def add(history: LiveHistory) -> Iterator[int]:
        definition = history.definition
        file.write(b"<trace>\n" + _text("concept:name", str(history.instance)))
        file.write(_text("tokentrail:definition", definition.key) + _number("tokentrail:version", definition.version))
        watching = Watching(history)
        said = False
        for commit in history.commits:
            number = 0
            for one in watching.activities(commit):
                if not said and watching.business_key:
                    file.write(_text("tokentrail:business_key", watching.business_key))
                said = True
                file.write(
                    b"<event>"
                    + _text("concept:name", one.name)
                    + f'<date key="time:timestamp" value="{one.at.isoformat()}"/>'.encode()
                    + _text("lifecycle:transition", "complete")
                    + _text("org:resource", one.resource)
                    + _text("tokentrail:node", one.node)
                    + _text("tokentrail:element", one.element)
                    + _number("tokentrail:commit", one.commit)
                    + b"</event>\n"
                )
                number += 1
            yield number
        file.write(b"</trace>\n")

    file.write(HEAD.encode())
    yield Writer(add)
    file.write(b"</log>\n")


def _text(key: str, value: str) -> bytes:
    escaped = quoteattr(_FORBIDDEN.sub("\ufffd", value), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
    return f'<string key="{key}" value={escaped}/>'.encode()


def _number(key: str, value: int) -> bytes:
    return f'<int key="{key}" value="{value}"/>'.encode()
