"""What the log keeps of a definition that is deployed, so that the stored row can be held against it: digests of its
parts. The log is sealed; so is, by these, each definition.

    graph    of the compiled model, as `bpm.graph.graph_hash` and `bpm.decisions.decisions_hash` make it
    source   SHA-256 of the source as it is stored, in UTF-8
    file     SHA-256 of the file as it was given
    rest     SHA-256 of the other columns as canonical JSON (sorted keys, no spaces)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

# The columns of `rest`.
PROCESS = ("key", "name", "version_tag", "resource", "joins", "whole_scopes", "reads", "dynamic")
DECISION = ("key", "name", "version_tag", "resource")


def fingerprint(row: Mapping[str, Any], columns: tuple[str, ...], *, graph: str, file: str) -> dict[str, str]:
    """Of a row with its JSON columns as values. `graph`, `file`: the digests of these."""
    rest = json.dumps({name: row[name] for name in columns}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {"graph": graph, "source": _digest(row["source"]), "file": file, "rest": _digest(rest)}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
