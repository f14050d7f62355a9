"""What a process waits for must be clear: one waiting event for one message or signal, and a name where no instance
computes it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bpm.compiler.diagnostics import Problems
from bpm.compiler.document import Document
from bpm.compiler.formulas import reads_variables
from bpm.graph import Formula, Node, Process, Trigger

# Camunda 7 takes no JUEL there, whatever it reads.
_JUEL: Final = re.compile(r"[$#]\{")


def check(process: Process, document: Document, problems: Problems) -> None:
    """Report events that wait side by side for the same, and starts whose name is computed (as Camunda 7 refuses
    both)."""
    for side_by_side in _groups(process):
        seen: dict[tuple[str, str], str] = {}
        for node in side_by_side:
            for trigger in _parts(node):
                key = _awaited(trigger)
                if key and seen.setdefault(key, node.id) != node.id:
                    said = f"{seen[key]!r} waits for the {key[0]} {key[1]!r} at the same time: which would get it?"
                    problems.report("subscription-twice", document.by_id.get(node.id), said, id=node.id)
    for id in process.scopes[process.id].starts if process.id in process.scopes else ():
        for trigger in _parts(process.nodes[id]):
            if trigger.name is not None and _computed(trigger.kind, trigger.name):
                said = f"The name of the {trigger.kind} that starts a process is computed; there are no variables yet."
                problems.report("name-computed", document.by_id.get(id), said, id=id)


def _computed(kind: str, name: Formula) -> bool:
    """Whether the name is no constant: it reads variables or, of a message, is written in JUEL at all."""
    return reads_variables(name) or (kind == "message" and _JUEL.search(name.text) is not None)


def _groups(process: Process) -> Iterator[list[Node]]:
    """Events that wait at the same time: the starts of a process, the event subprocesses of a scope, what hangs on an
    activity."""
    for scope in process.scopes.values():
        if scope.parent is None:
            yield [process.nodes[id] for id in scope.starts]
        around = [process.scopes[id] for id in scope.event_subprocesses if id in process.scopes]
        yield [process.nodes[id] for inner in around for id in inner.starts]
    for node in process.nodes.values():
        if node.boundary:
            yield [process.nodes[id] for id in node.boundary]


def _parts(node: Node) -> tuple[Trigger, ...]:
    if node.trigger is None:
        return ()
    return node.trigger.parts or (node.trigger,)


def _awaited(trigger: Trigger) -> tuple[str, str] | None:
    """What the trigger waits for, where that is known; signals reach everybody, so two may wait for one."""
    if trigger.kind == "message" and trigger.name is not None:
        return ("message", trigger.name.text + _text(trigger.correlation))
    if trigger.kind == "conditional" and trigger.condition is not None:
        return ("condition", trigger.condition.text)
    return None


def _text(formula: Formula | None) -> str:
    return f" ({formula.text})" if formula else ""
