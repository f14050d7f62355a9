"""What instances tell each other, and what they are told from outside, brought to its receivers in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bpm.scenarios.driver import Refused
from bpm.scenarios.expectations import same
from bpm.scenarios.world import Delivery, Thread, World
from bpm.semantics import State
from bpm.semantics import commands as c
from bpm.semantics.state import Ticket

# A process that calls itself for ever ends here, as on the engine (its default).
DEEPEST_CALL = 5_000


def deliver(world: World, delivery: Delivery) -> bool:
    """Bring a message to its receivers; False where nobody took it (now, or any more)."""
    payload = delivery.event.payload
    return DELIVER[payload["kind"]](world, delivery, payload["name"], payload["body"])


def send_message(
    world: World, name: str, business_key: str | None, correlation: Mapping[str, Any], variables: Mapping[str, Any]
) -> None:
    """A message from outside, for the oldest ticket that fits, else for a process that starts with it; else Refused."""
    for thread, ticket in world.tickets("MESSAGE", name):
        if _fits(thread, ticket, business_key, correlation):
            _correlate(world, thread, ticket.id, variables)
            return
    for beginning in world.deployment.beginnings("message", name)[:1]:
        world.begin_at(beginning, variables, business_key=business_key)
        return
    raise Refused(f"nobody waits for the message {name}, and no process starts with it")


def throw_signal(world: World, name: str, variables: Mapping[str, Any], origin: Delivery | None = None) -> bool:
    """A signal, for every ticket that was open at its throw and every process that starts with it."""
    if origin is None:
        tickets = tuple((thread.id, ticket.id) for thread, ticket in world.tickets("SIGNAL", name))
    else:
        tickets = origin.tickets
    taken = False
    for id, ticket in tickets:
        if world.threads[id].has_open_ticket(ticket):
            _correlate(world, world.threads[id], ticket, variables, origin)
            taken = True
    for beginning in world.deployment.beginnings("signal", name):
        world.begin_at(beginning, variables)
        taken = True
    return taken


def _call(world: World, delivery: Delivery, target: str, body: Mapping[str, Any]) -> bool:
    caller, ticket, wants = world.threads[delivery.sender], body["ticket"], body["wants"]
    if not caller.has_open_ticket(ticket):
        return False
    if target in world.called:
        answer = world.called[target]
        _return(
            world,
            caller,
            ticket,
            delivery,
            outcome="completed" if answer.kind == "complete" else "error",
            variables={name: value for name, value in answer.variables.items() if wants is None or name in wants},
            code=answer.code or None,
            text=answer.message,
        )
        return True
    depth = body.get("depth", 1)
    if depth > DEEPEST_CALL:
        _return(world, caller, ticket, delivery, outcome="refused", text=f"calls go {depth} levels deep")
        return True
    said = {
        "business_key": body.get("business_key"),
        "caller": {"thread": caller.id, "ticket": ticket, "wants": wants, **({"depth": depth} if depth > 1 else {})},
        "trigger": "call",
    }
    try:
        world.begin(world.process(target), None, body["variables"], **said)
    except Refused as refusal:
        _return(world, caller, ticket, delivery, outcome="refused", text=str(refusal))
    return True


def _result(world: World, delivery: Delivery, target: str, body: Mapping[str, Any]) -> bool:
    caller = world.threads[body["caller"]["thread"]]
    ticket = body["caller"]["ticket"]
    if not caller.has_open_ticket(ticket):
        return False
    _return(
        world,
        caller,
        ticket,
        delivery,
        outcome=body["outcome"],
        variables=body["variables"],
        code=body.get("code"),
        text=body.get("message") or body.get("text") or "",
    )
    return True


def _escalation(world: World, delivery: Delivery, code: str, body: Mapping[str, Any]) -> bool:
    caller, ticket = world.threads[body["caller"]["thread"]], body["caller"]["ticket"]
    if not caller.has_open_ticket(ticket):
        return False
    command = c.CallEscalated(
        at=world.clock,
        ticket=ticket,
        code=body["code"],
        variables=dict(body["variables"]),
        returned=dict(body.get("returned", {})),
        message=delivery.origin,
    )
    world.execute(caller, command)
    return True


def _cancel(world: World, delivery: Delivery, target: str, body: Mapping[str, Any]) -> bool:
    called = world.called_by(delivery.sender, body["ticket"])
    if called is None or not called.is_open:
        return False
    text = "the calling activity was interrupted"
    world.execute(called, c.CancelInstance(at=world.clock, text=text, message=delivery.origin))
    return True


def _message(world: World, delivery: Delivery, name: str, body: Mapping[str, Any]) -> bool:
    for thread, ticket in world.tickets("MESSAGE", name):
        if ticket.correlation in (None, body.get("correlation")):
            _correlate(world, thread, ticket.id, body["variables"], delivery)
            return True
    for beginning in world.deployment.beginnings("message", name)[:1]:
        world.begin_at(beginning, body["variables"])
        return True
    world.unclaimed.append(delivery)
    return False


def _signal(world: World, delivery: Delivery, name: str, body: Mapping[str, Any]) -> bool:
    return throw_signal(world, name, body["variables"], delivery)


def _correlate(
    world: World, thread: Thread, ticket: int, variables: Mapping[str, Any], delivery: Delivery | None = None
) -> None:
    message = {} if delivery is None else delivery.origin
    world.execute(thread, c.Correlate(at=world.clock, ticket=ticket, variables=dict(variables), message=message))


def _return(world: World, caller: Thread, ticket: int, delivery: Delivery, **said: Any) -> None:
    world.execute(caller, c.CallReturned(at=world.clock, ticket=ticket, message=delivery.origin, **said))


def _fits(thread: Thread, ticket: Ticket, business_key: str | None, correlation: Mapping[str, Any]) -> bool:
    """Whether a message means this ticket: by business key, by process variables (Camunda 7), by key (Zeebe)."""
    instance = thread.state.instance
    if business_key is not None and (instance is None or instance.business_key != business_key):
        return False
    if ticket.correlation is not None and correlation:
        return any(str(value) == ticket.correlation for value in correlation.values())
    there = process_variables(thread.state)
    return all(name in there and same(value, there[name]) for name, value in correlation.items())


def process_variables(state: State) -> dict[str, Any]:
    """The variables of the process level."""
    return {name: found.value for (scope, name), found in state.variables.items() if not scope and found.present}


DELIVER: Mapping[str, Callable[[World, Delivery, str, Mapping[str, Any]], bool]] = {
    "CALL": _call,
    "RESULT": _result,
    "ESCALATION": _escalation,
    "CANCEL": _cancel,
    "MESSAGE": _message,
    "SIGNAL": _signal,
}
