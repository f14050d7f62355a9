"""Compensation: undoing activities that are done, the last one first (BPMN 2.0.2, 13.5.5 and 10.7).

An activity with a handler that completes leaves a COMPENSATION ticket with its scope's token. Its entries say which
handlers undo it, each with the variables of its scopes as they were. A subprocess that completes hands the entries of
its inside to the scope around it, unless it has a handler, or a compensation event subprocess, of its own. A throwing
event consumes the entries in reverse; its token is the scope in which the handlers run, one at a time.

An entry is {"handler": node, "variables": {...}}, and for a compensation event subprocess also "inside": the
(activity, entries) pairs of the scope it handles, which it may compensate in turn.
"""

from __future__ import annotations

from typing import Any

from bpm.graph import Node
from bpm.semantics import view
from bpm.semantics.formulas import visible_variables
from bpm.semantics.handlers import hold_event_subprocess
from bpm.semantics.mappings import keep_local
from bpm.semantics.state import Ticket, Token
from bpm.semantics.tokens import create, wait
from bpm.semantics.work import Work


def remember(work: Work, token: int, node: Node) -> None:
    """The activity is done: note how it can be undone."""
    entries = _entries(work, token, node)
    if entries:
        found = work.token(token)
        holder = found.scope if found.index is None else work.token(found.scope).scope
        _open(work, holder, node.id, entries)


def _open(work: Work, holder: int, activity: str, entries: list[dict[str, Any]]) -> None:
    work.emit("TICKET_OPENED", work.new_id(), token=holder, node=activity, after="OPEN", reason="compensation",
              kind="COMPENSATION", data={"entries": entries})  # fmt: skip


def _entries(work: Work, token: int, node: Node) -> list[dict[str, Any]]:
    if node.compensation_handler is not None:
        return [{"handler": node.compensation_handler, "variables": _snapshot(work, token)}]
    if node.kind != "subprocess":
        return []
    for id in work.graph.scopes[node.id].event_subprocesses:
        start = work.graph.node(work.graph.scopes[id].starts[0])
        if start.trigger is not None and start.trigger.kind == "compensation":
            inside = [[ticket.node, ticket.data["entries"]] for ticket in _tickets(work, [token], None)]
            return [{"handler": start.id, "variables": _snapshot(work, token), "inside": inside}]
    return [entry for ticket in _tickets(work, [token], None) for entry in ticket.data["entries"]]


def _snapshot(work: Work, token: int) -> dict[str, Any]:
    """The variables of the token's scopes below the process."""
    return visible_variables(work.state, view.scope_locals(work.state, token)[:-1])


def compensate(work: Work, token: int, activity: str | None) -> bool:
    """Begin to undo an activity, or all of the scope (None); False where there is nothing to undo."""
    if not _next(work, token, activity):
        return False
    wait(work, token, "compensation")
    return True


def go_on(work: Work, token: int, activity: str | None) -> bool:
    """A handler is done: start the one before it; False when all are."""
    return _next(work, token, activity)


def _next(work: Work, token: int, activity: str | None) -> bool:
    tickets = _tickets(work, _holders(work, token), activity) + _of_rounds_done(work, token)
    if not tickets:
        return False
    ticket = max(tickets, key=lambda one: one.id)
    *rest, entry = ticket.data["entries"]
    if rest:
        work.change("TICKET_ADVANCED", "ticket", ticket, "OPEN", reason="compensation", data={"entries": rest})
    else:
        work.change("TICKET_CONSUMED", "ticket", ticket, "CONSUMED", reason="compensation")
    handler = work.graph.node(entry["handler"])
    if handler.kind == "start":
        inner = hold_event_subprocess(work, token, handler, "compensation", entry["variables"])
        for activity_done, entries in entry["inside"]:
            _open(work, work.token(inner).scope, activity_done, entries)
        return True
    child = create(work, handler, scope=token, reason="compensation")
    if entry["variables"]:
        keep_local(work, child, entry["variables"])
    return True


def _holders(work: Work, token: int) -> list[int]:
    """The scope whose activities are meant: that of the token, or the one around the event subprocesses it is in."""
    holder = work.token(token).scope
    holders = [holder]
    while holder and work.node(work.token(holder)).kind == "event_subprocess":
        holder = work.token(holder).scope
        holders.append(holder)
    return holders + [one.id for one in other_rounds(work, token)]


def other_rounds(work: Work, token: int) -> list[Token]:
    """Of a transaction that is a loop, the rounds beside the one that is cancelled: they are cancelled with it (Camunda
    7, TransactionSubProcessTest.testMultiInstanceTx: "canceling one instance triggers compensation for all other").
    """
    round_ = _cancelled_round(work, token)
    return [] if round_ is None else [one for one in view.in_scope(work.state, round_.scope) if one.id != round_.id]


def _of_rounds_done(work: Work, token: int) -> list[Ticket]:
    """What rounds of that loop have left to the scope around it."""
    round_ = _cancelled_round(work, token)
    return [] if round_ is None else _tickets(work, [work.token(round_.scope).scope], round_.node)


def _cancelled_round(work: Work, token: int) -> Token | None:
    trigger = work.node(work.token(token)).trigger
    if trigger is None or trigger.kind != "cancel" or not work.token(token).scope:
        return None
    transaction = work.token(work.token(token).scope)
    return None if transaction.index is None else transaction


def _tickets(work: Work, holders: list[int], activity: str | None) -> list[Ticket]:
    """The open tickets of these scopes, oldest first; those of one activity only, if it is named."""
    found = [
        one
        for holder in holders
        for kind, one in view.attached(work.state, holder)
        if kind == "ticket" and one.kind == "COMPENSATION" and activity in (None, one.node)
    ]
    return sorted(found, key=lambda ticket: ticket.id)
