"""Calls that a scenario answers itself: the called process has no model, so the relay is told what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bpm.engine import relay
from bpm.engine.step import step
from bpm.engine.trying import ENGINE
from bpm.engine.variables import checked
from bpm.scenarios.model import Answer
from bpm.semantics.commands import CallReturned
from bpm.store.outbox import Pending


def answering_calls(called: Mapping[str, Answer]) -> Callable[[], None]:
    """From now on calls of these processes return so, in this program; the function given back ends that."""
    deliver = relay.DELIVER["CALL"]

    def answer_or_deliver(message: Pending, facts: relay.Facts) -> relay.Outcome:
        answer = called.get(message.name)
        return deliver(message, facts) if answer is None else _answered(message, facts, answer)

    def restore() -> None:
        relay.DELIVER["CALL"] = deliver

    if called:
        relay.DELIVER["CALL"] = answer_or_deliver
    return restore


def _answered(message: Pending, facts: relay.Facts, answer: Answer) -> relay.Outcome:
    """The caller takes the call's message in the called one's place, as it does when there is no such process."""
    if not facts.ticket_open:
        return relay.Outcome()
    ticket, wants = message.body["ticket"], message.body["wants"]
    variables = {name: value for name, value in checked(answer.variables).items() if wants is None or name in wants}
    incoming = message.incoming()
    record = step(
        message.sender,
        lambda at: CallReturned(
            at=at,
            ticket=ticket,
            outcome="completed" if answer.kind == "complete" else "error",
            variables=variables,
            code=answer.code or None,
            text=answer.message,
            message=incoming.to_json(),
        ),
        actor=ENGINE,
        cause=facts.cause,
        message=incoming,
    )
    return relay.Outcome((record,))
