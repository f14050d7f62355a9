"""A new run of an instance that has ended: the same thread, whose versions and ordinals go on.

What has ended stays as it is. The run begins at a start event or where it is told to, with the variables of the end or
with fresh ones. Its tokens are ACTIVE; each is advanced by a step of its own, so that the run begins RUNNING.
"""

from __future__ import annotations

from typing import Any

from bpm.semantics import commands as c
from bpm.semantics import view
from bpm.semantics.attempts import Attempt
from bpm.semantics.mappings import keep_beside, set_variable, unset_variable
from bpm.semantics.modifying import start_at
from bpm.semantics.starts import await_others, begin, give, start_node
from bpm.semantics.waiting import open_scope
from bpm.semantics.work import Refused, Stuck, Work


def restart(work: Work, command: c.RestartInstance) -> None:
    """Open the run. Whether the instance has ended was asked before."""
    node = None if command.start else start_node(work.graph, command.node)
    said: dict[str, Any] = {"text": command.text}
    said |= {"definition": command.definition} if command.definition else {}
    said |= {"start": list(command.start)} if command.start else {}
    before = work.state.instances[0].state
    work.emit("INSTANCE_RESTARTED", 0, node=node.id if node else None, before=before, after="RUNNING",
              reason="operator", **said)  # fmt: skip
    if command.fresh:
        brought = {} if node is not None and node.outputs_only else command.variables
        for name in view.variables(work.state, 0):
            if name not in brought:
                unset_variable(work, 0, name)
        kept = give(work, node, command.variables)
    else:
        kept = {}
        for name, content in command.variables.items():
            set_variable(work, 0, name, content)
    if command.start:
        _start_at(work, command.start)
        open_scope(work, 0, work.graph.id)
        return
    tokens = begin(work, node, "operator")
    keep_beside(work, tokens[0], kept)
    open_scope(work, 0, work.graph.id)
    with Attempt(work, tokens[0]):
        await_others(work, tokens[0], "operator")


def _start_at(work: Work, instructions: tuple[dict[str, Any], ...]) -> None:
    try:
        for instruction in instructions:
            start_at(work, instruction)
    except Stuck as stuck:
        raise Refused("invalid", stuck.message) from None
