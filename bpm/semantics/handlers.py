"""Who handles what is thrown, and what a handler interrupts.

Errors and escalations climb from where they are thrown: boundary events of the activity, then the event subprocesses of
the scope, then the boundary events of the subprocess around it, and so on (BPMN 2.0.2, 10.5.6 and 10.5.7). A handler
for the very code goes before one that catches all. What is thrown in an event subprocess is not caught by its siblings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from bpm.graph import Node, Trigger
from bpm.semantics import view
from bpm.semantics.formulas import text
from bpm.semantics.mappings import bring_back, keep_beside
from bpm.semantics.state import Token
from bpm.semantics.tokens import cancel_below, create, detach, end_attached, move, wait
from bpm.semantics.waiting import open_scope
from bpm.semantics.work import Work


def places(work: Work, token: int) -> Iterator[tuple[Token, list[Node], list[Node]]]:
    """The tokens that something thrown passes on its way up, each with the boundary events that may catch it there and
    the starts of the event subprocesses beside it.
    """
    place = token
    from_handler = False
    while place:
        found = work.token(place)
        node = work.node(found)
        # A token that works for another (a round of a loop, a compensation) has no handlers of its own.
        of_its_own = found.scope == 0 or work.token(found.scope).node == node.scope
        boundary = [work.graph.node(id) for id in node.boundary] if found.index is None else []
        starts: list[Node] = []
        if of_its_own and not from_handler:
            scope = work.graph.scopes[node.scope]
            starts = [work.graph.node(work.graph.scopes[id].starts[0]) for id in scope.event_subprocesses]
        yield found, boundary, starts
        place = found.scope
        from_handler = bool(place) and work.node(work.token(place)).kind == "event_subprocess"


def match(work: Work, token: int, nodes: Iterable[Node], kind: str, code: str | None) -> tuple[Node, Trigger] | None:
    """The event that catches this code, else the first that catches all of its kind. Raises Stuck."""
    handlers = [
        (node, part)
        for node in nodes
        if node.trigger is not None
        for part in (node.trigger.parts or (node.trigger,))
        if part.kind == kind
    ]
    for node, trigger in handlers:
        if code is not None and trigger.code is not None and text(work, token, trigger.code) == code:
            return node, trigger
    return next(((node, trigger) for node, trigger in handlers if trigger.code is None), None)


def interrupt(work: Work, token: int, boundary: Node, reason: str) -> None:
    """A boundary event interrupts its activity: what hangs below ends, the activity's own token goes to the event."""
    cancel_below(work, token, "interrupted")
    detach(work, token, reason="interrupted")
    move(work, token, boundary.id, reason, step="leave", left=False)


def begin_event_subprocess(work: Work, scope: int, start: Node, reason: str, variables: dict[str, Any]) -> int:
    """Start the event subprocess of `start` in a scope (a token, 0: the instance); returns its inner token.

    An interrupting one cancels everything else in the scope first, and the scope's other event subprocesses are off.
    What the event brings is written outward, as at any event (Camunda 7, EventHandlerImpl: to the execution of the
    scope; Zeebe, BpmnVariableMappingBehavior: merged from the event subprocess on).
    """
    if start.interrupting:
        cancel_below(work, scope, "interrupted")
        for kind, one in view.attached(work.state, scope):
            if work.graph.node(one.node).kind == "start":
                end_attached(work, kind, one, reason="interrupted")
    inner = hold_event_subprocess(work, scope, start, reason)
    bring_back(work, inner, start, variables)
    return inner


def hold_event_subprocess(
    work: Work, scope: int, start: Node, reason: str, variables: dict[str, Any] | None = None
) -> int:
    """Put a waiting token at the event subprocess, with variables of its own, and a new one at its start; returns the
    inner one. Raises Stuck.
    """
    holder = create(work, work.graph.node(start.scope), scope=scope, reason=reason)
    open_scope(work, holder, start.scope)
    keep_beside(work, holder, variables or {})
    wait(work, holder, reason)
    return create(work, start, scope=holder, reason=reason, step="leave")
