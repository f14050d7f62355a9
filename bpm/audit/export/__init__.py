"""Exports for auditors: history by definition, time, state, instance, worker or person, in the formats that they read.

An export streams: instances are chosen page by page (`selection`), each is read commit by commit, masked (`masking`)
and handed to a writer. What a writer holds does not grow with the export.

    csv, parquet   a row an event (`records`)
    jsonl          a line a commit with all it has: what `bpm replay` reads without a database
    xes, ocel      the standards of process mining: what was done, by whom, in which case (`activities`)

Beside the file lies its manifest: what was asked for, what is left out, how much there is, SHA-256, and the seals that
hold it. An export is a commit of the nil thread, with who and why.
"""

from __future__ import annotations

from bpm.audit.export.running import FORMATS, Exported, export
from bpm.audit.export.selection import Selection

__all__ = ["FORMATS", "Exported", "Selection", "export"]
