"""Joining gateways: when they fire, what they consume, and who goes on.

Parallel (BPMN 2.0.2, 13.4.1): when every incoming flow has a token. Inclusive (13.4.3): when at least one has, and no
token elsewhere in the scope can still reach an empty incoming flow, unless it can also reach a filled one.
"""

from __future__ import annotations

from bpm.graph import Node
from bpm.semantics import view
from bpm.semantics.formulas import holds
from bpm.semantics.scopes import settle
from bpm.semantics.state import Token
from bpm.semantics.tokens import create, wait
from bpm.semantics.work import Stuck, Work


def parallel_ready(node: Node, waiting: list[Token]) -> list[Token]:
    """The tokens to consume (the oldest of each flow), or nothing where a flow has none."""
    first = _oldest_by_flow(waiting)
    return list(first.values()) if len(first) == len(node.incoming) else []


def inclusive_ready(work: Work, node: Node, scope: int, waiting: list[Token]) -> list[Token]:
    """The tokens to consume at an inclusive gateway, or nothing while another may still come."""
    first = _oldest_by_flow(waiting)
    if not first:
        return []
    empty = [flow for flow in node.incoming if flow not in first]
    return [] if empty and _somebody_comes(work, node, scope, waiting, empty, list(first)) else list(first.values())


def complex_ready(work: Work, node: Node, waiting: list[Token]) -> list[Token]:
    """The tokens to consume at a complex gateway whose activation condition holds; without one, any token will do.

    The condition sees `activationCount`, the number of flows that have a token (BPMN 2.0.2, table 10.118). Raises Stuck
    never: a condition without an answer does not hold yet.
    """
    first = _oldest_by_flow(waiting)
    count = {"activationCount": len(first)}
    try:
        token = waiting[-1].id
        active = node.activation_condition is None or holds(work, token, node.activation_condition, count)
    except Stuck:
        return []
    return list(first.values()) if active else []


def complex_reset(work: Work, node: Node, scope: int, waiting: list[Token], late: list[str]) -> list[Token] | None:
    """The tokens that came late to a complex gateway, once no other can come on those flows; None before that."""
    first = {flow: token for flow, token in _oldest_by_flow(waiting).items() if flow in late}
    missing = [flow for flow in late if flow not in first]
    if missing and _somebody_comes(work, node, scope, waiting, missing, []):
        return None
    return list(first.values())


def _somebody_comes(
    work: Work, node: Node, scope: int, waiting: list[Token], empty: list[str], filled: list[str]
) -> bool:
    """Whether a token elsewhere in the scope can come to an empty flow, and not rather to a filled one."""
    reach, own = work.graph.reach[node.id], work.graph.own_reach[node.id]
    here = {token.id for token in waiting}
    for token in view.in_scope(work.state, scope):
        if token.id in here or work.state.index.get(("parent", token.id)):
            continue  # a fork's own token is nowhere: its children are
        # What a non-interrupting boundary event sends on is another token: this one may still fill an empty flow.
        coming = any(_can_come(token, node, reach, flow) for flow in empty)
        if coming and not any(_can_come(token, node, own, flow) for flow in filled):
            return True
    return False


def _can_come(token: Token, node: Node, reach: dict[str, tuple[str, ...]], flow: str) -> bool:
    return token.flow == flow if token.node == node.id else token.node in reach[flow]


def fire(work: Work, node: Node, consumed: list[Token]) -> int:
    """Consume the tokens; returns the one that goes on, ACTIVE and about to leave the gateway.

    If all descend from one waiting fork token that has no other open child, that one goes on; a single token without
    such an ancestor goes on itself; else a new token of the scope does.
    """
    ids = [token.id for token in consumed]
    ancestor = _common_ancestor(work, consumed)
    if ancestor is None and len(consumed) == 1:
        alone = consumed[0]
        work.emit("TOKEN_JOINED", alone.id, token=alone.id, node=node.id, before=alone.state, after="ACTIVE",
                  reason="join", joined=[alone.id])  # fmt: skip
        return alone.id
    for token in consumed:
        work.change("TOKEN_COMPLETED", "token", work.token(token.id), "COMPLETED", reason="join", passed=False)
    if ancestor is not None:
        for between in _between(work, consumed, ancestor):
            work.change("TOKEN_COMPLETED", "token", work.token(between), "COMPLETED", reason="children", passed=False)
        survivor = ancestor
        before = work.token(survivor).state
    else:
        survivor = create(work, node, scope=consumed[0].scope, reason="join", step="leave")
        before = "ACTIVE"
    work.emit("TOKEN_JOINED", survivor, token=survivor, node=node.id, before=before, after="ACTIVE", reason="join",
              joined=ids)  # fmt: skip
    if ancestor is None:
        for token in consumed:
            settle(work, token.id)
    return survivor


def gathered(work: Work, token: Token, node: Node) -> bool:
    """Whether, with this token, enough are there to begin an activity with a startQuantity (BPMN 2.0.2, table 10.3).

    Then the others are consumed; before that the token waits with a QUANTITY ticket.
    """
    there = [
        (one, ticket)
        for one in view.arrived(work.state, token.scope, node.id)
        for kind, ticket in view.attached(work.state, one.id)
        if kind == "ticket" and ticket.kind == "QUANTITY"
    ][: node.start_quantity - 1]
    if len(there) < node.start_quantity - 1:
        work.emit("TICKET_OPENED", work.new_id(), token=token.id, node=node.id, after="OPEN", reason="join",
                  kind="QUANTITY")  # fmt: skip
        wait(work, token.id, "join", step="enter")
        return False
    for one, ticket in there:
        work.change("TICKET_CONSUMED", "ticket", ticket, "CONSUMED", reason="join")
        work.change("TOKEN_COMPLETED", "token", work.token(one.id), "COMPLETED", reason="join", passed=False)
    for one, _ in there:
        settle(work, one.id)
    return True


def _oldest_by_flow(waiting: list[Token]) -> dict[str, Token]:
    first: dict[str, Token] = {}
    for token in sorted(waiting, key=lambda t: t.id):
        if token.flow is not None:
            first.setdefault(token.flow, token)
    return first


def _ancestors(work: Work, token: Token) -> list[int]:
    found: list[int] = []
    parent = token.parent
    while parent:
        found.append(parent)
        parent = view.token(work.state, parent).parent
    return found


def _between(work: Work, consumed: list[Token], ancestor: int) -> list[int]:
    """The fork tokens between the consumed ones and their ancestor, deepest first."""
    found: set[int] = set()
    for token in consumed:
        chain = _ancestors(work, token)
        found.update(chain[: chain.index(ancestor)])
    return sorted(found, reverse=True)


def _common_ancestor(work: Work, consumed: list[Token]) -> int | None:
    """The nearest fork token from which all descend, if nothing else below it is open."""
    chains = [_ancestors(work, token) for token in consumed]
    shared = [id for id in chains[0] if all(id in chain for chain in chains)]
    if not shared:
        return None
    ancestor = shared[0]
    between = _between(work, consumed, ancestor)
    gone = {token.id for token in consumed} | set(between)
    if any(view.has_open_child(work.state, id, but=gone) for id in [*between, ancestor]):
        return None
    return ancestor
