"""Scenarios through the real engine: what a scenario asks is done by the engine's verbs on PostgreSQL.

`EngineDriver` is a `bpm.scenarios.Driver`. It starts instances, locks and completes tasks, sends messages and lets
timers fire as any program, person or scheduler would, and it remembers nothing of what comes of that: where tokens
stand is read from the runtime rows, what they passed from the rows of history. Time is the database's: a database that
is marked as one for tests may hold an offset, and `advance` moves that.

Each scenario has the database to itself: before one begins, the tables of the last one are emptied, which only a
superuser can do, and which is done in a marked database alone (`Ground`). After it `disagreements` asks for every
instance whether the stored state, read by a fresh connection, is what replay makes of history, and whether deciding
each command again gives the same events.

    driver       what a scenario asks, as verbs of the engine; `answering` calls without a model, `start_timers`
    outlook      what is there now; `chronicle` what history says: nodes passed, work done, instances begun
    ground       the database: made, marked, emptied, its clock set
    proof        live = replayed = stored
    performing   a scenario from an empty database to its proof
"""

from __future__ import annotations

from bpm.management.driving.driver import EngineDriver
from bpm.management.driving.ground import Ground, NoGround, ground
from bpm.management.driving.performing import Performance, perform
from bpm.management.driving.proof import disagreements

__all__ = ["EngineDriver", "Ground", "NoGround", "Performance", "disagreements", "ground", "perform"]
