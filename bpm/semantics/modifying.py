"""Putting the tokens of an instance elsewhere: start before or after a node, cancel tokens.

What starts appears first, so that a scope whose old tokens are cancelled does not end in between. New tokens are
ACTIVE; each is advanced by a step of its own.
"""

from __future__ import annotations

from typing import Any

from bpm.graph import Node
from bpm.semantics import commands as c
from bpm.semantics import view
from bpm.semantics.elements.activities import open_activity
from bpm.semantics.mappings import keep_local, set_variable
from bpm.semantics.scopes import settle
from bpm.semantics.tokens import cancel, cancel_below, create, wait
from bpm.semantics.waiting import open_scope
from bpm.semantics.work import Refused, Stuck, Work

# Nodes that no token can be started at: their tokens come into being with something else.
NEVER_BY_ITSELF = ("boundary", "event_subprocess")


def modify(work: Work, command: c.ModifyInstance) -> None:
    """Carry out the instructions; refused as a whole where one of them makes no sense."""
    if not command.start and not command.cancel and not command.variables:
        raise Refused("invalid", "there is nothing to modify: name tokens to start or cancel, or variables")
    work.emit("INSTANCE_MODIFIED", 0, reason="operator", text=command.text, start=list(command.start),
              cancel=list(command.cancel))  # fmt: skip
    for name, content in command.variables.items():
        set_variable(work, 0, name, content)
    ending = [token for instruction in command.cancel for token in _meant(work, instruction)]
    try:
        for instruction in command.start:
            start_at(work, instruction)
    except Stuck as stuck:
        raise Refused("invalid", stuck.message) from None
    for token in ending:
        if view.is_open("token", work.token(token)):
            cancel_below(work, token, "operator")
            cancel(work, work.token(token), "operator")
            settle(work, token)


def _meant(work: Work, instruction: dict[str, Any]) -> list[int]:
    """The open tokens that a cancel instruction names."""
    if "token" in instruction:
        token = view.entity(work.state, "token", instruction["token"])
        if token is None or not view.is_open("token", token):
            raise Refused("not_found", f"there is no open token {instruction['token']}")
        return [token.id]
    node = _known(work, instruction.get("node"))
    found = [token.id for token in view.subtree(work.state, 0) if token.node == node.id]
    if not found:
        raise Refused("not_found", f"no token is open at {node.id}")
    return sorted(found)


def start_at(work: Work, instruction: dict[str, Any]) -> None:
    """A new ACTIVE token before or after the node that the instruction names. Refused where it makes no sense; raises
    Stuck.
    """
    node = _known(work, instruction.get("before") or instruction.get("after"))
    flow = None
    if "after" in instruction:
        if len(node.outgoing) != 1:
            raise Refused("invalid", f"{node.id} has {len(node.outgoing)} outgoing flows: start before the next node")
        flow = work.graph.flows[node.outgoing[0]]
        node = work.graph.node(flow.target)
    if node.kind in NEVER_BY_ITSELF:
        raise Refused("invalid", f"no token can be started at {node.id}, a {node.kind.replace('_', ' ')}")
    token = create(work, node, scope=_scope(work, node.scope), reason="operator", flow=flow.id if flow else None)
    if instruction.get("variables"):
        keep_local(work, token, instruction["variables"])


def _scope(work: Work, name: str) -> int:
    """The token of the scope in which to start; opened, with the scopes around it, where it is not open yet."""
    if name == work.graph.id:
        return 0
    node = work.graph.node(name)
    around = _scope(work, node.scope)
    there = [t.id for t in view.in_scope(work.state, around) if t.node == name and t.state == "WAITING"]
    if len(there) > 1 or node.loop is not None:
        raise Refused("invalid", f"{name} is open {len(there)} times: it is not clear in which one to start")
    if there:
        return there[0]
    if node.kind in NEVER_BY_ITSELF:
        raise Refused("invalid", f"{name} is not open")
    token = create(work, node, scope=around, reason="operator")
    open_activity(work, token, node)
    open_scope(work, token, node.id)
    wait(work, token, "children")
    return token


def _known(work: Work, id: str | None) -> Node:
    if id is None or id not in work.graph.nodes:
        raise Refused("not_found", f"{work.graph.id} has no node {id!r}")
    return work.graph.nodes[id]
