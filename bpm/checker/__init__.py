"""The model checker: all behaviours of a process, before it runs.

    check(process, bounds) -> Report(findings, states, complete, ...)

There is no second semantics. A situation is what is left of a `State` when its history is forgotten; what follows is
what `decide` makes of each command that the engine or the world may send there. Only the process is prepared: data,
which nobody knows, is taken out of its graph, and where data decides, `decide` asks with a `Need` and is answered every
way.

    questions    what decides the way and nobody knows: asked with Need, answered every way
    abstraction  a process without its data
    situations   a state without its history
    moves        what may happen next: the engine's, and the world's
    outcomes     what can come of a move: one for every way to answer its questions
    witness      data for which conditions hold, or a proof that there are none
    reduction    orders that make no difference
    exploring    all situations, breadth first, within bounds
    faults       what is wrong in them (`fault` one of them, `endings` those of how instances end)
    ways         a way in words, and gone again from a real start
    scenarios    a way as a scenario of `bpm test`
    checking     the report
    printing     the report as text

What it proves. A `complete` report without a finding says: every instance of the process, started in any of its ways,
with any data and any order of what happens, can at any time still come to an end; no more than so many tokens are at
one place; every node is reached in some run of the abstract process. Taken for granted is that

- expressions have a value: of the kind that the condition compares it with, true or false where a condition is;
- every task is completed some time or throws an error that the model catches, and what is waited for from outside
  (message, signal, timer, called process, condition) can come. Whether it will, nobody proves;
- the engine is not overrun: it advances the tokens at a place before more of them are there than `tokens`;
- operators do not put tokens elsewhere, and whoever cancels an instance means it;
- loops: a parallel multi-instance has at most `rounds` rounds; an event that can repeat without end does so while at
  most `again` tokens are on its way; an activity done many times is undone twice.

What it may say though it is not so. Data is forgotten between two nodes: where two gateways ask the same, the checker
also goes ways on which the answers do not agree. Of what needs data a scenario is made and run on the real process;
what no run has shown is a warning.
"""

from __future__ import annotations

from bpm.checker.checking import Finding, Report, check, shown_by
from bpm.checker.exploring import Bounds, Space, explore
from bpm.checker.fault import FAULTS
from bpm.checker.printing import as_text
from bpm.checker.ways import WrongWay, replay

__all__ = [
    "FAULTS",
    "Bounds",
    "Finding",
    "Report",
    "Space",
    "WrongWay",
    "as_text",
    "check",
    "explore",
    "replay",
    "shown_by",
]
