"""What events throw."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bpm.graph import Node, Trigger
from bpm.semantics import view
from bpm.semantics.attempts import Attempt
from bpm.semantics.compensation import compensate
from bpm.semantics.elements.occurring import occur
from bpm.semantics.errors import throw_escalation
from bpm.semantics.formulas import text
from bpm.semantics.mappings import passed_key, passed_on
from bpm.semantics.tokens import send, wake
from bpm.semantics.work import Work


def throw(work: Work, token: int, node: Node) -> bool:
    """Throw all that the event throws; False where the token waits or has been ended by it."""
    trigger = node.trigger or Trigger()
    goes_on = True
    for part in trigger.parts or (trigger,):
        goes_on = throw_one(work, token, node, part) and goes_on
        if not view.is_open("token", work.token(token)):
            return False
    return goes_on


def throw_one(work: Work, token: int, node: Node, trigger: Trigger) -> bool:
    """Throw one thing; False where the token has to wait for what that brings about."""
    rule = THROW.get(trigger.kind)
    return rule is None or rule(work, token, node, trigger)


def _message(work: Work, token: int, node: Node, trigger: Trigger) -> bool:
    name = text(work, token, trigger.name)
    if not name:
        return True  # a throwing message event without a message does nothing (Camunda 7)
    key = text(work, token, trigger.correlation)
    body = _body(work, token, trigger)
    send(work, "MESSAGE", name, body | ({} if key is None else {"correlation": key}), token=token, node=node.id)
    return True


def _signal(work: Work, token: int, node: Node, trigger: Trigger) -> bool:
    """To the tickets open now (BPMN 2.0.2, 10.5.1): those of this instance wake in this step, others hear by message.

    The instances that hear it leave out the sender.
    """
    name = text(work, token, trigger.name) or ""
    body = _body(work, token, trigger)
    send(work, "SIGNAL", name, body, token=token, node=node.id)
    for ticket in view.signals(work.state, name):
        if work.state.tickets[ticket.id].state == "OPEN":
            work.change("TICKET_CONSUMED", "ticket", ticket, "CONSUMED", reason="signal")
            heard = work.graph.node(ticket.node)
            if node.loop is not None and heard.attached_to == node.id:
                heard = _gentle(heard)
            # Who hears it and gets stuck has an incident of its own; the thrower goes on.
            with Attempt(work, ticket.token, ticket.node):
                woken = occur(work, ticket.token, heard, "signal", body["variables"])
                if woken is not None and work.token(woken).state == "WAITING":
                    wake(work, woken, "signal")
    return True


def _escalation(work: Work, token: int, node: Node, trigger: Trigger) -> bool:
    variables = passed_on(work, work.token(token), trigger.payload)
    throw_escalation(work, token, text(work, token, trigger.code), variables, gently=node.loop is not None)
    return True


def _compensation(work: Work, token: int, node: Node, trigger: Trigger) -> bool:
    return not compensate(work, token, trigger.activity)


def _body(work: Work, token: int, trigger: Trigger) -> dict[str, Any]:
    """What goes along: variables, and a business key where the model passes one."""
    key = passed_key(work, token, trigger.payload)
    variables = passed_on(work, work.token(token), trigger.payload)
    return {"variables": variables} | ({} if key is None else {"business_key": key})


def _gentle(boundary: Node) -> Node:
    """What a loop throws as each round ends (BPMN 2.0.2, table 10.30: "none", "one", "complex") does not interrupt the
    loop, whatever its own boundary event says of itself: else there would be no second round to throw it.
    """
    return replace(boundary, interrupting=False)


THROW = {"message": _message, "signal": _signal, "escalation": _escalation, "compensation": _compensation}
