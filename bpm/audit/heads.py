"""Heads of the chain as files: kept or signed elsewhere, they show that nobody has made the chain anew."""

from __future__ import annotations

import json
from pathlib import Path

from bpm.audit import chain
from bpm.store import schedule
from bpm.store.version import ENGINE


class NoHead(ValueError):
    """A file that holds no head, or a chain that has none yet."""


def head_text() -> str:
    """The chain's head as JSON text. Raises NoHead."""
    head = chain.head()
    if head.sealed_at is None:
        raise NoHead("nothing is sealed yet")
    said = {
        "tokentrail_head": 1,
        "number": head.number,
        "epoch": head.epoch,
        "hash": head.hash,
        "last_sequence": head.last_sequence,
        "sealed_at": head.sealed_at.isoformat(),
        "exported_at": schedule.now().isoformat(),
        "engine": ENGINE,
    }
    return json.dumps(said, indent=2) + "\n"


def read_head(path: Path) -> tuple[int, str]:
    """(number, hash) of a head that was written before. Raises NoHead, OSError."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        if said["tokentrail_head"] == 1:
            return int(said["number"]), str(said["hash"])
    except (KeyError, TypeError, ValueError):
        pass
    raise NoHead(f"{path} holds no head of a chain of seals")
