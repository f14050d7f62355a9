"""What is counted of a loop's rounds, and who sees it: the body by its LOOP ticket, formulas inside by name."""

from __future__ import annotations

from typing import Any

from bpm.semantics import view
from bpm.semantics.state import State, Ticket

# Names by which formulas of a loop, and of what is inside it, see the counts: those of Camunda 7, and Zeebe's.
COUNTS = {
    "nrOfInstances": "all",
    "nrOfCompletedInstances": "done",
    "nrOfActiveInstances": "active",
    "numberOfInstances": "all",
    "numberOfCompletedInstances": "done",
    "numberOfActiveInstances": "active",
    "numberOfTerminatedInstances": "terminated",
}


def loop_ticket(state: State, token: int) -> Ticket | None:
    """The ticket that counts the rounds of a body; None where the token is none."""
    for kind, one in view.attached(state, token):
        if kind == "ticket" and one.kind == "LOOP":
            ticket: Ticket = one
            return ticket
    return None


def counts(data: dict[str, Any]) -> dict[str, int]:
    """What formulas see of a LOOP ticket's data. Between two rounds of a sequential loop one is active: that count
    "will always be 1" (Camunda 7, Task Markers). A round is only terminated when the loop is over.
    """
    everything, done = data["total"] or data["started"], data["done"]
    active = data["started"] - done or int(done < everything)
    found = {"all": everything, "done": done, "active": active, "terminated": 0}
    return {name: found[what] for name, what in COUNTS.items()}


def counts_around(state: State, token: int) -> dict[str, int] | None:
    """The counts of the innermost loop that the token is the body of, or inside of; None where there is none."""
    while token:
        ticket = loop_ticket(state, token)
        if ticket is not None:
            return counts(ticket.data)
        token = view.token(state, token).scope
    return None
