"""Folding history into state and deciding it again: live = replayed = stored.

History alone rebuilds an instance: `ReplayEngine(graph).replay(commits)` folds the events of its commits, in order,
with the very `apply` that the live engine uses, and asks of each event, each commit and the end whether an invariant
holds (`invariants`: a table of codes, sentences and checks). `verify` goes further: it decides every recorded command
again, on the state folded so far, and reports the first event that differs. `compare` says how a live, a replayed and a
stored state differ. Nothing here has a clock, a database or a worker.

    history     what a commit must have; a commit as plain data, with its JSON form
    exported    files of histories, which need no database
    upcast      events of old formats to those of today
    fold        replay, and the state at any past moment
    verify      deciding again
    invariants  what must hold of any history
    comparing   states side by side
"""

from __future__ import annotations

from bpm.replay.comparing import compare
from bpm.replay.exported import History, UnreadableHistory, read_histories
from bpm.replay.fold import ReplayEngine, ReplayResult, state_at
from bpm.replay.history import Commit, Recorded
from bpm.replay.invariants import INVARIANTS, Violation
from bpm.replay.upcast import UnknownFormat, upcast
from bpm.replay.verify import Divergence, verify

__all__ = [
    "INVARIANTS",
    "Commit",
    "Divergence",
    "History",
    "Recorded",
    "ReplayEngine",
    "ReplayResult",
    "UnknownFormat",
    "UnreadableHistory",
    "Violation",
    "compare",
    "read_histories",
    "state_at",
    "upcast",
    "verify",
]
