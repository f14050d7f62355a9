"""The pure core: what a process does, decided without clock, chance, I/O or Django.

    decide(graph, state, command) -> Decided(events, state) | Refusal | Need
    evolve(state, events)         -> state

The live engine, the replay engine, the scenario runner and the model checker run these two functions. `decide` works on
a part of an instance as well as on the whole: what is missing it names in a `Need`, the shell loads it and asks again,
and the answer is the same as with everything at hand.

Words and tables first (`lifecycle`, `state`, `events`, `commands`), then how a state is asked (`view`) and changed
(`evolve`), then how a step is worked out: `work` (one step's scratch paper), `walk` (one token over the nodes),
`scopes`, `joins`, `errors` (what a step entails for others), `elements/` (one module a family of BPMN elements, all
registered in one table), `decide` (one function a command). `footprints` reads events again: the way through the model.
"""

from __future__ import annotations

from bpm.semantics.decide import Decided, Decision, Need, Refusal, decide
from bpm.semantics.events import Event
from bpm.semantics.evolve import apply, evolve
from bpm.semantics.state import State

__all__ = ["Decided", "Decision", "Event", "Need", "Refusal", "State", "apply", "decide", "evolve"]
