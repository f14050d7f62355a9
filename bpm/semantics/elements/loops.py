"""Activities done several times: multi-instance and the standard loop (BPMN 2.0.2, 13.3.6 and 13.3.7).

The activity's own token waits as the body, with a LOOP ticket that counts: {"total", "done", "started"} (total null for
the standard loop, where a condition says when it is enough). Each round is a token in the body's scope that carries its
`index`; it does the activity once and ends. Expressions see the counts of the ticket (`rounds`) and, as a variable of
each round, loopCounter (from 0, as Camunda 7 counts; Zeebe counts from 1).
"""

from __future__ import annotations

from typing import Any

from bpm.graph import LoopSpec, Node
from bpm.semantics import view
from bpm.semantics.elements.throwing import throw_one
from bpm.semantics.formulas import holds, number, value
from bpm.semantics.mappings import keep_local, own_scope, set_variable, write_outward
from bpm.semantics.rounds import counts, loop_ticket
from bpm.semantics.state import Ticket, Token
from bpm.semantics.tokens import cancel_below, complete, create, release, wait
from bpm.semantics.waiting import wait_for
from bpm.semantics.work import Stuck, Work

# A loop without a bound that never waits would fill the database: a standard loop stops here with an incident.
ROUNDS_AT_MOST = 100_000
# All rounds of a parallel multi-instance begin in one transaction, which holds the instance and their rows in memory.
ROUNDS_AT_ONCE = 50_000


def enter_loop(work: Work, token: int, node: Node) -> bool:
    """Begin the rounds; True where there are none. Raises Stuck."""
    loop = _spec(node)
    items = _items(work, token, loop)
    total = None if loop.kind == "standard" else len(items) if items is not None else _cardinality(work, token, node)
    if loop.kind == "parallel" and total is not None and total > ROUNDS_AT_ONCE:
        raise Stuck("expression", f"{node.id} asks for {total} rounds at once; {ROUNDS_AT_ONCE} are possible")
    if total == 0 and loop.output_collection:
        write_outward(work, token, {loop.output_collection: []})
    if total == 0 or (loop.kind == "standard" and loop.test_before and not _goes_on(work, token, loop, 0)):
        return True
    for boundary in node.boundary:
        wait_for(work, token, work.graph.node(boundary))
    if loop.output_collection:
        own_scope(work, work.token(token))
    rounds = total if loop.kind == "parallel" and total is not None else 1
    work.emit("TICKET_OPENED", work.new_id(), token=token, node=node.id, after="OPEN", reason="loop", kind="LOOP",
              data={"total": total, "done": 0, "started": rounds})  # fmt: skip
    wait(work, token, "loop")
    for index in range(rounds):
        _begin(work, token, node, loop, index, items)
    return False


def round_done(work: Work, token: int, node: Node) -> None:
    """A round is over: count it, and begin the next, or let the body go on. Raises Stuck."""
    loop = _spec(node)
    found = work.token(token)
    body = work.token(found.scope)
    ticket = _ticket(work, body.id)
    if loop.output_collection and loop.output_element is not None:
        set_variable(work, body.local, _slot(loop, found.index), value(work, token, loop.output_element), token=body.id)
    data = ticket.data | {"done": ticket.data["done"] + 1}
    enough = _enough(work, token, loop, data)
    complete(work, token, "loop", passed=True)
    work.change("TICKET_ADVANCED", "ticket", ticket, "OPEN", reason="loop", data=data)
    if not _throw(work, body.id, node, loop, data):
        return  # what was thrown has interrupted the loop
    if enough:
        _finish(work, body, loop, data)
    elif loop.kind != "parallel":
        started = data["started"]
        data = data | {"started": started + 1}
        work.change("TICKET_ADVANCED", "ticket", _ticket(work, body.id), "OPEN", reason="loop", data=data)
        _begin(work, body.id, node, loop, started, _items(work, body.id, loop))


def _throw(work: Work, body: int, node: Node, loop: LoopSpec, data: dict[str, Any]) -> bool:
    """Throw what the end of a round throws (BPMN 2.0.2, 10.3.8, behavior); False where that has ended the loop."""
    due = loop.behavior in ("none", "complex") or (loop.behavior == "one" and data["done"] == 1)
    for condition, trigger in loop.thrown if due else ():
        if condition is None or holds(work, body, condition, counts(data)):
            throw_one(work, body, node, trigger)
    after = work.token(body)
    return after.state == "WAITING" and after.node == node.id


def _begin(work: Work, body: int, node: Node, loop: LoopSpec, index: int, items: list[Any] | None) -> None:
    round_ = create(work, node, scope=body, reason="loop", index=index)
    seen: dict[str, Any] = {"loopCounter": loop.first_index + index}
    if loop.index_variable:
        seen[loop.index_variable] = index
    if loop.element_variable and items is not None and index < len(items):
        seen[loop.element_variable] = items[index]
    if loop.output_variable:
        seen.setdefault(loop.output_variable, None)
    keep_local(work, round_, seen)


def _enough(work: Work, round_: int, loop: LoopSpec, data: dict[str, Any]) -> bool:
    """Whether this round was the last. The completion condition sees what the round sees: its element (Camunda 7, of a
    sequential loop), and what its work has left in it (Zeebe, MultiInstanceBodyProcessor).
    """
    if loop.kind == "standard":
        return not _goes_on(work, work.token(round_).scope, loop, data["done"])
    if loop.completion_condition is not None and holds(work, round_, loop.completion_condition, counts(data)):
        return True
    return bool(data["done"] >= data["total"])


def _goes_on(work: Work, token: int, loop: LoopSpec, done: int) -> bool:
    """Whether a standard loop has another round: its condition holds and its maximum is not reached; where only one of
    them is said, that alone counts (BPMN 2.0.2, table 10.28). A loop that says neither has one round.
    """
    if done >= (ROUNDS_AT_MOST if loop.loop_maximum is None else loop.loop_maximum):
        return False
    if loop.loop_condition is None:
        return loop.loop_maximum is not None
    return holds(work, token, loop.loop_condition, {"loopCounter": done})


def _finish(work: Work, body: Token, loop: LoopSpec, data: dict[str, Any]) -> None:
    cancel_below(work, body.id, "loop")
    work.change("TICKET_CONSUMED", "ticket", _ticket(work, body.id), "CONSUMED", reason="loop")
    if loop.output_collection:
        slots = view.variables(work.state, body.local)
        gathered = [slots.get(_slot(loop, index)) for index in range(data["total"] or data["started"])]
        write_outward(work, body.id, {loop.output_collection: gathered}, skip_own=True)
    release(work, body.id, "loop")


def _items(work: Work, token: int, loop: LoopSpec) -> list[Any] | None:
    if loop.collection is None:
        return None
    found = value(work, token, loop.collection)
    if not isinstance(found, list):
        raise Stuck("expression", f"the collection {loop.collection.text!r} gives {found!r}, not a list")
    return found


def _cardinality(work: Work, token: int, node: Node) -> int:
    found = number(work, token, _spec(node).cardinality, 0)
    if found < 0:
        raise Stuck("expression", f"the cardinality of {node.id} is {found}")
    return found


def _ticket(work: Work, body: int) -> Ticket:
    found = loop_ticket(work.state, body)
    assert found is not None, f"token {body} has no loop"
    return found


def _slot(loop: LoopSpec, index: int | None) -> str:
    return f"{loop.output_collection}[{index}]"


def _spec(node: Node) -> LoopSpec:
    assert node.loop is not None
    return node.loop
