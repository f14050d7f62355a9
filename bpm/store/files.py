"""Contents of files by their hash: kept once, never changed, never taken away (`bpm.models.files`)."""

from __future__ import annotations

import hashlib

from bpm.store.channel import Channel
from bpm.store.outside import query


def keep(content: bytes, *, channel: Channel | None = None) -> str:
    """Keep the content; its SHA-256 in hexadecimal digits. Known content is not written again. Raises StoreError."""
    sha256 = hashlib.sha256(content).hexdigest()
    query(channel, "keep_content", {"sha256": sha256, "content": content})
    return sha256


def content(sha256: str, *, channel: Channel | None = None) -> bytes | None:
    """The content of that hash; None where it was never kept here. Raises StoreError."""
    rows = query(channel, "content_of_hash", {"sha256": sha256})
    return bytes(rows[0][0]) if rows else None
