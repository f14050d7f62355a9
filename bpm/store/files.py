"""Contents of files by their hash: kept once, never changed, never taken away (`bpm.models.files`)."""

from __future__ import annotations

import hashlib

from bpm.models import VariableFile
from bpm.store import schedule


def keep(content: bytes) -> str:
    """Keep the content; its SHA-256 in hexadecimal digits. Known content is not written again."""
    sha256 = hashlib.sha256(content).hexdigest()
    row = VariableFile(sha256=sha256, content=content, size=len(content), kept_at=schedule.now())
    VariableFile.objects.bulk_create([row], ignore_conflicts=True)
    return sha256


def content(sha256: str) -> bytes | None:
    """The content of that hash; None where it was never kept here."""
    found = VariableFile.objects.filter(sha256=sha256).values_list("content", flat=True).first()
    return None if found is None else bytes(found)
