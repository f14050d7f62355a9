"""Reading the documents: their fenced blocks, each with its heading and the file that it says it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAMED_FILE = re.compile(r"`([\w./-]+\.(?:bpmn|py|yaml))`[^`]*:$")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `file`: the one whose name stands last in the paragraph before it, if that ends with a colon."""

    heading: str
    language: str
    file: str | None
    text: str

    @property
    def commands(self) -> list[str]:
        """The lines of a shell block, without what is said about them."""
        return [line.split("  #")[0].strip() for line in self.text.splitlines()]


def blocks(document: Path) -> list[Block]:
    """All fenced blocks of a document, in order."""
    return list(_blocks(document.read_text().splitlines()))


def _blocks(lines: list[str]) -> Iterator[Block]:
    heading, paragraph, rest = "", "", iter(lines)
    for line in rest:
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("```"):
            inside = []
            for code in rest:
                if code.startswith("```"):
                    break
                inside.append(code)
            named = NAMED_FILE.search(paragraph)
            yield Block(heading, line.strip("`"), named and named.group(1), "\n".join(inside) + "\n")
            paragraph = ""
        elif line.strip():
            paragraph = f"{paragraph} {line.strip()}".strip()
        else:
            # An empty line between a paragraph and its block does not part them.
            paragraph = paragraph if paragraph.endswith(":") else ""
