"""Files that variables refer to. The content is kept once by its hash; the variable, and with it history, holds name,
media type, size and hash (`bpm.expressions.typed`), so that a file can be as large as the limit without a row of
history growing, and what history speaks of can be proved to be what is there.

    invoice = engine.keep_file(pdf, name="invoice.pdf", media_type="application/pdf")
    engine.complete_task(task.id, worker="w", variables={"invoice": invoice})
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from bpm.engine.errors import InvalidVariables, NotFound
from bpm.expressions.typed import Untyped, as_file, file_reference
from bpm.store import files

# The largest file. Setting: BPM_FILE_LIMIT.
SIZE_LIMIT = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file as it was given."""

    name: str
    media_type: str
    sha256: str
    content: bytes


def size_limit() -> int:
    """The largest file that is kept, in bytes."""
    return int(getattr(settings, "BPM_FILE_LIMIT", SIZE_LIMIT))


def keep_file(content: bytes, *, name: str, media_type: str = "application/octet-stream") -> dict[str, Any]:
    """Keep a file; the value for a variable that refers to it. The content stays even where no variable is written.

    Raises InvalidVariables: too large, or a name or media type that is none.
    """
    if len(content) > size_limit():
        raise InvalidVariables(f"a file of {len(content)} bytes is larger than {size_limit()}", code="too_large")
    try:
        file_reference(name, media_type, len(content), "0" * 64)  # before anything is kept
        return file_reference(name, media_type, len(content), files.keep(content))
    except Untyped as fault:
        raise InvalidVariables(str(fault)) from None


def read_file(value: Any) -> File:
    """The file that a variable's value refers to. Raises NotFound: the value is no file, or its content is not here."""
    said: Mapping[str, Any] | None = as_file(value)
    if said is None:
        raise NotFound("this variable is no file")
    content = files.content(said["sha256"])
    if content is None:
        raise NotFound(f"the content of {said['name']} was never kept here")
    return File(name=said["name"], media_type=said["mediaType"], sha256=said["sha256"], content=content)
