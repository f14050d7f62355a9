"""What is counted of a loop's rounds, and who sees it: the body by its LOOP ticket, formulas inside by name."""

from __future__ import annotations

from typing import Any

from bpm.semantics import view
from bpm.semantics.state import State, Ticket

# Names by which formulas of a loop, and of what is inside it, see the counts (BPMN 2.0.2, 10.3.8; Camunda 7).
COUNTS = ("nrOfInstances", "nrOfCompletedInstances", "nrOfActiveInstances")


def loop_ticket(state: State, token: int) -> Ticket | None:
    """The ticket that counts the rounds of a body; None where the token is none."""
    for kind, one in view.attached(state, token):
        if kind == "ticket" and one.kind == "LOOP":
            ticket: Ticket = one
            return ticket
    return None


def counts(data: dict[str, Any]) -> dict[str, int]:
    """What formulas see of a LOOP ticket's data."""
    return {
        "nrOfInstances": data["total"] or data["started"],
        "nrOfCompletedInstances": data["done"],
        "nrOfActiveInstances": data["started"] - data["done"],
    }


def counts_around(state: State, token: int) -> dict[str, int] | None:
    """The counts of the innermost loop that the token is the body of, or inside of; None where there is none."""
    while token:
        ticket = loop_ticket(state, token)
        if ticket is not None:
            return counts(ticket.data)
        token = view.token(state, token).scope
    return None
