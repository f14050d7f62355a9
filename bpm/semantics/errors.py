"""BPMN errors: who catches one, and what is interrupted.

An error climbs from where it is thrown: boundary events of the activity, then the event subprocesses of the scope, then
the boundary events of the subprocess around it, and so on (BPMN 2.0.2, 10.5.6 and 10.5.7). A handler for the very code
goes before one that catches all. What nobody catches fails the instance; its caller may catch it at the call activity.
"""

from __future__ import annotations

from typing import Any

from bpm.graph import Node, Trigger
from bpm.semantics import view
from bpm.semantics.formulas import text
from bpm.semantics.mappings import keep_local, write_outward
from bpm.semantics.scopes import finish
from bpm.semantics.tokens import cancel_below, create, detach, move, wait
from bpm.semantics.work import Work


def throw_error(
    work: Work, token: int, code: str | None, message: str = "", variables: dict[str, Any] | None = None
) -> None:
    """Raise an error at an open token. Afterwards the token has moved to a handler, or has ended."""
    thrown = _Thrown(code, message, variables or {})
    place = token
    inside_handler = False
    while place:
        found = view.token(work.state, place)
        node = work.node(found)
        boundary = _match(work, token, [work.graph.node(id) for id in node.boundary], thrown)
        if boundary is not None:
            interrupt(work, place, boundary, "error")
            _bring(work, place, boundary, thrown)
            return
        scope = work.graph.scopes[node.scope]
        starts = [
            work.graph.node(work.graph.scopes[id].starts[0]) for id in scope.event_subprocesses if not inside_handler
        ]
        start = _match(work, token, starts, thrown)
        if start is not None:
            begin_event_subprocess(work, found.scope, start, "error", _values(work, found.scope, start, thrown))
            return
        # An error thrown in an event subprocess is not caught by its siblings: their scope has been interrupted.
        place = found.scope
        inside_handler = bool(place) and work.node(view.token(work.state, place)).kind == "event_subprocess"
    _uncaught(work, token, thrown)


class _Thrown:
    """An error on its way up."""

    def __init__(self, code: str | None, message: str, variables: dict[str, Any]) -> None:
        self.code = code
        self.message = message
        self.variables = variables


def _match(work: Work, token: int, nodes: list[Node], thrown: _Thrown) -> Node | None:
    """The handler for this code, else the first one that catches all."""
    handlers = [(node, node.trigger) for node in nodes if node.trigger and node.trigger.kind == "error"]
    for node, trigger in handlers:
        if thrown.code is not None and text(work, token, trigger.code) == thrown.code:
            return node
    return next((node for node, trigger in handlers if trigger.code is None), None)


def interrupt(work: Work, token: int, boundary: Node, reason: str) -> None:
    """A boundary event interrupts its activity: what hangs below ends, the activity's own token goes to the event."""
    cancel_below(work, token, "interrupted")
    detach(work, token, reason="interrupted")
    move(work, token, boundary.id, reason, step="leave", left=False)


def begin_event_subprocess(work: Work, scope: int, start: Node, reason: str, variables: dict[str, Any]) -> int:
    """Start the event subprocess of `start` in a scope (a token, 0: the instance); returns its inner token.

    An interrupting one cancels everything else in the scope first.
    """
    if start.interrupting:
        cancel_below(work, scope, "interrupted")
        if scope == 0:
            detach(work, 0, reason="interrupted")
    holder = create(work, work.graph.node(start.scope), scope=scope, reason=reason)
    if variables:
        keep_local(work, holder, variables)
    wait(work, holder, reason)
    return create(work, start, scope=holder, reason=reason, step="leave")


def _values(work: Work, token: int, node: Node, thrown: _Thrown) -> dict[str, Any]:
    trigger = node.trigger or Trigger()
    found = dict(thrown.variables)
    if trigger.code_variable and thrown.code is not None:
        found[trigger.code_variable] = thrown.code
    if trigger.message_variable:
        found[trigger.message_variable] = thrown.message
    return found


def _bring(work: Work, token: int, node: Node, thrown: _Thrown) -> None:
    write_outward(work, token, _values(work, token, node, thrown))


def _uncaught(work: Work, token: int, thrown: _Thrown) -> None:
    found = work.token(token)
    cancel_below(work, 0, "error", but=token)
    detach(work, token, reason="error")
    work.change("TOKEN_FAILED", "token", found, "FAILED", reason="error", code=thrown.code, message=thrown.message)
    finish(work, "FAILED", "error", code=thrown.code, message=thrown.message)
