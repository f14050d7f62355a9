"""Start, catch, boundary and throw events."""

from __future__ import annotations

from bpm.graph import Flow, Node, Trigger
from bpm.semantics.elements.activities import enter_external
from bpm.semantics.elements.flows import unconditional_and_holding
from bpm.semantics.elements.throwing import throw
from bpm.semantics.mappings import give_out, take_in
from bpm.semantics.tokens import detach, wait
from bpm.semantics.waiting import wait_for
from bpm.semantics.work import Stuck, Work


def pass_event(work: Work, token: int, node: Node) -> bool:
    """An event that has happened already when the token is there."""
    return True


def close_event(work: Work, token: int, node: Node) -> None:
    """Its outputs are written, all that it waited for ends."""
    give_out(work, work.token(token), node)
    detach(work, token, reason="left")


def enter_catch(work: Work, token: int, node: Node) -> bool:
    """Wait for the event; a none or link event is passed."""
    take_in(work, work.token(token), node)
    if (node.trigger or Trigger()).kind in ("none", "link"):
        return True
    wait_for(work, token, node)
    wait(work, token, "none")
    return False


def enter_throw(work: Work, token: int, node: Node) -> bool:
    """Throw, then go on. A message that a worker sends, and a compensation, are waited for."""
    if node.work is not None:
        return enter_external(work, token, node)
    take_in(work, work.token(token), node)
    return throw(work, token, node)


def choose_after_throw(work: Work, token: int, node: Node) -> list[Flow]:
    """The flows of the event; a link goes on at the catch event of its name in the same scope."""
    trigger = node.trigger or Trigger()
    if trigger.kind != "link":
        return unconditional_and_holding(work, token, node)
    for id in work.graph.scopes[node.scope].nodes:
        catch = work.graph.node(id)
        if catch.kind == "catch" and catch.trigger == trigger:
            return [Flow(id="", source=node.id, target=id)]
    raise Stuck("no_flow", f"there is no link event to catch what {node.id} throws")
