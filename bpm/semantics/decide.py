"""Command to events: one function a command, in one table.

    decide(graph, state, command) -> Decided(events, state) | Refusal(code, message) | Need(keys)

Pure: the same arguments give the same answer, and a part of the state gives the same answer as the whole, or a `Need`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bpm.graph import Process
from bpm.semantics import commands as c
from bpm.semantics import locks, migrating, modifying, operators, people, restarting, view
from bpm.semantics.attempts import Attempt, report
from bpm.semantics.elements.activities import map_on_the_way, take_back
from bpm.semantics.elements.occurring import occur
from bpm.semantics.errors import throw_error, throw_escalation
from bpm.semantics.events import Event
from bpm.semantics.judging import judge
from bpm.semantics.lifecycle import is_final
from bpm.semantics.mappings import bring_back, keep_beside, write_outward
from bpm.semantics.starts import await_others, begin, give, start_node
from bpm.semantics.state import Key, State, Task, Ticket, UserTask
from bpm.semantics.tokens import detach
from bpm.semantics.waiting import open_scope
from bpm.semantics.walk import walk
from bpm.semantics.work import Refused, Stuck, Work


@dataclass(frozen=True, slots=True)
class Decided:
    """The events, and the state after them (`state.touched` names the entities they changed; not sealed yet).

    At any later time before `holds_until` (None: at any) it would have been decided alike, but for the locks that end
    so long after the step (see `later`).
    """

    events: tuple[Event, ...]
    state: State
    holds_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Nothing happens; `code` is one of `work.REFUSALS`, the message says why in words."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Need:
    """Load these (see `view`) and decide again."""

    keys: tuple[Key, ...]


type Decision = Decided | Refusal | Need


def decide(graph: Process, state: State, command: c.Command) -> Decision:
    """What the command brings about. The given state is left as it is."""
    work = Work(graph, state, command.at, dict(command.answers))
    try:
        _admit(state, command)
        DECIDE[type(command)](work, command)
        judge(work)
        if isinstance(command, c.CompleteExternalTask) and command.next_topics:
            locks.lock_next(work, command)
    except view.Missing as missing:
        return Need(missing.keys)
    except Refused as refused:
        return Refusal(refused.code, refused.message)
    return Decided(tuple(work.events), work.state, work.holds_until)


# Commands that an instance takes while it is suspended.
WHILE_SUSPENDED = (
    c.ResumeInstance,
    c.CancelInstance,
    c.SetVariables,
    c.LockTask,
    c.SetRetries,
    c.ModifyInstance,
    c.MigrateInstance,
)


def _admit(state: State, command: c.Command) -> None:
    instance = state.instance
    if isinstance(command, c.StartInstance):
        if instance is not None:
            raise Refused("duplicate", "the instance has started already")
        return
    if instance is None:
        raise Refused("not_found", "there is no such instance")
    if isinstance(command, c.RestartInstance):
        if not is_final("instance", instance.state):
            raise Refused("wrong_state", f"the instance is {instance.state}: only one that has ended is restarted")
        return
    if instance.state == "RUNNING" or (instance.state == "SUSPENDED" and isinstance(command, WHILE_SUSPENDED)):
        return
    raise Refused("not_running", f"the instance is {instance.state}")


def _start(work: Work, command: c.StartInstance) -> None:
    node = start_node(work.graph, command.node)
    keys: dict[str, Any] = {"business_key": command.business_key, "caller": command.caller}
    said = {key: content for key, content in keys.items() if content is not None}
    work.emit("INSTANCE_STARTED", 0, node=node.id if node else None, after="RUNNING", reason=command.trigger,
              definition=work.graph.id, **said)  # fmt: skip
    kept = give(work, node, command.variables)
    tokens = begin(work, node, command.trigger)
    keep_beside(work, tokens[0], kept)
    open_scope(work, 0, work.graph.id)
    with Attempt(work, tokens[0]) as attempt:
        await_others(work, tokens[0], command.trigger, command.name)
    if not attempt.stuck and len(tokens) == 1 and work.token(tokens[0]).state == "ACTIVE":
        walk(work, tokens[0])


def _advance(work: Work, command: c.AdvanceToken) -> None:
    token = view.entity(work.state, "token", command.token)
    if token is None:
        raise Refused("not_found", f"there is no token {command.token}")
    if token.state != "ACTIVE":
        raise Refused("wrong_state", f"token {token.id} is {token.state}, not ACTIVE")
    walk(work, token.id, advancing=True)


def _complete_task(work: Work, command: c.CompleteExternalTask) -> None:
    task = locks.held(work, command.task, command.worker)
    work.change("TASK_COMPLETED", "task", task, "DONE", reason="work", worker=command.worker)
    keep_beside(work, task.token, command.local_variables)
    bring_back(work, task.token, work.graph.node(task.node), _with_result(work, task, command.variables))
    with Attempt(work, task.token) as attempt:
        code = locks.error_of(work, task)
        if code is not None:
            throw_error(work, task.token, code)
    if not attempt.stuck:
        walk(work, task.token)


def _with_result(work: Work, task: Task, variables: dict[str, Any]) -> dict[str, Any]:
    """camunda:resultVariable names the worker's `result`."""
    spec = work.graph.node(task.node).work
    if spec is None or spec.result_variable is None or "result" not in variables:
        return variables
    return {(spec.result_variable if name == "result" else name): content for name, content in variables.items()}


def _fail_task(work: Work, command: c.FailExternalTask) -> None:
    task = locks.held(work, command.task, command.worker)
    write_outward(work, task.token, command.variables)
    try:
        code = locks.error_of(work, task, message=command.message, details=command.details)
    except Stuck:
        code = None  # an expression without an answer makes no error of the failure: it stays what the worker said
    if code is None:
        locks.fail(work, command, task)
    else:
        _error_thrown(work, task, command.worker, code, command.message)


def _error_task(work: Work, command: c.ThrowBpmnError) -> None:
    task = locks.held(work, command.task, command.worker)
    _error_thrown(work, task, command.worker, command.code, command.message, command.variables)


def _error_thrown(
    work: Work, task: Task, worker: str, code: str, message: str, variables: dict[str, Any] | None = None
) -> None:
    work.change("TASK_ERROR_THROWN", "task", task, "DONE", reason="error", worker=worker, code=code, message=message)
    _throw_and_go_on(work, task, code, message, variables or {})


def _error_user_task(work: Work, command: c.ThrowUserTaskError) -> None:
    task = people.open_task(work, command.user_task)
    said = {} if command.user is None else {"user": command.user}
    work.change("USER_TASK_COMPLETED", "user_task", task, "DONE", reason="error", **said)
    _throw_and_go_on(work, task, command.code, command.message, command.variables)


def _throw_and_go_on(work: Work, task: Task | UserTask, code: str, message: str, variables: dict[str, Any]) -> None:
    with Attempt(work, task.token) as attempt:
        throw_error(work, task.token, code, message, variables)
    if not attempt.stuck:
        walk(work, task.token)


def _fire_timer(work: Work, command: c.FireTimer) -> None:
    timer = view.entity(work.state, "timer", command.timer)
    if timer is None:
        raise Refused("not_found", f"there is no timer {command.timer}")
    if timer.state != "SCHEDULED":
        raise Refused("wrong_state", f"the timer is {timer.state}")
    if not command.early and not work.has_come(timer.fire_at):
        raise Refused("wrong_state", f"the timer is due at {timer.fire_at.isoformat()}, it is {work.at.isoformat()}")
    work.change("TIMER_FIRED", "timer", timer, "FIRED", reason="timer")
    _occur(work, timer.token, timer.node, "timer", {}, schedule=timer.schedule)


def _correlate(work: Work, command: c.Correlate) -> None:
    ticket = _ticket(work, command.ticket)
    work.change("TICKET_CONSUMED", "ticket", ticket, "CONSUMED", reason=ticket.kind.lower(), message=command.message)
    _occur(work, ticket.token, ticket.node, ticket.kind.lower(), command.variables)


def _occur(
    work: Work,
    token: int,
    node_id: str,
    reason: str,
    variables: dict[str, Any],
    *,
    schedule: dict[str, Any] | None = None,
) -> None:
    """An awaited event has come: bring it about, and walk the token it sets going."""
    advanced = None
    with Attempt(work, token, node_id):
        advanced = occur(work, token, work.graph.node(node_id), reason, variables, schedule=schedule)
    if advanced is not None:
        walk(work, advanced)


def _ticket(work: Work, id: int) -> Ticket:
    ticket: Ticket | None = view.entity(work.state, "ticket", id)
    if ticket is None:
        raise Refused("not_found", f"there is no wait ticket {id}")
    if ticket.state != "OPEN":
        raise Refused("duplicate" if ticket.state == "CONSUMED" else "wrong_state", f"the ticket is {ticket.state}")
    return ticket


def _call_returned(work: Work, command: c.CallReturned) -> None:
    ticket = _ticket(work, command.ticket)
    work.change("TICKET_CONSUMED", "ticket", ticket, "CONSUMED", reason="call", message=command.message)
    with Attempt(work, ticket.token) as attempt:
        _return(work, ticket, command)
    if not attempt.stuck and (command.outcome == "completed" or work.token(ticket.token).state == "ACTIVE"):
        walk(work, ticket.token)


def _call_escalated(work: Work, command: c.CallEscalated) -> None:
    ticket = _ticket(work, command.ticket)
    stuck = _mapped(work, ticket, command.returned)
    if stuck:
        # The called instance runs on, and who catches the escalation hears it: the incident stands beside the call.
        operators.blocked(work, ticket.token, ticket.node, stuck)
    with Attempt(work, ticket.token):
        throw_escalation(work, ticket.token, command.code, command.variables)


def _return(work: Work, ticket: Ticket, command: c.CallReturned) -> None:
    stuck: str | None = None
    if command.outcome == "completed":
        take_back(work, ticket.token, work.graph.node(ticket.node), command.variables)
        return
    if command.outcome == "error":
        stuck = _mapped(work, ticket, command.variables)
        if stuck is None:
            throw_error(work, ticket.token, command.code, command.text)
            return
    # A retry calls again: everything that the activity set is taken back, and the token enters anew.
    detach(work, ticket.token, reason="incident")
    work.change("TOKEN_STATE_CHANGED", "token", work.token(ticket.token), "WAITING", reason="incident", step="enter")
    report(work, ticket.token, "call", stuck or command.text or f"the called instance ended {command.outcome}")


def _mapped(work: Work, ticket: Ticket, returned: dict[str, Any]) -> str | None:
    """Make the call's `out` mappings; what they got stuck at, if they did."""
    mark = len(work.events)
    try:
        map_on_the_way(work, ticket.token, work.graph.node(ticket.node), returned)
    except Stuck as stuck:
        work.rewind(mark)
        return stuck.message
    return None


DECIDE: dict[type[c.Command], Callable[[Work, Any], None]] = {
    c.StartInstance: _start,
    c.AdvanceToken: _advance,
    c.LockTask: locks.lock,
    c.SetRetries: locks.set_retries,
    c.GiveUpTask: locks.give_up,
    c.CompleteExternalTask: _complete_task,
    c.FailExternalTask: _fail_task,
    c.ThrowBpmnError: _error_task,
    c.CompleteUserTask: people.complete,
    c.ThrowUserTaskError: _error_user_task,
    c.ClaimUserTask: people.claim,
    c.UnclaimUserTask: people.unclaim,
    c.AssignUserTask: people.assign,
    c.DelegateUserTask: people.delegate,
    c.ResolveUserTask: people.resolve,
    c.FireTimer: _fire_timer,
    c.Correlate: _correlate,
    c.CallReturned: _call_returned,
    c.CallEscalated: _call_escalated,
    c.SetVariables: operators.set_variables,
    c.RetryIncident: operators.retry,
    c.ReportIncident: operators.report_incident,
    c.CancelInstance: operators.cancel_instance,
    c.ModifyInstance: modifying.modify,
    c.RestartInstance: restarting.restart,
    c.MigrateInstance: migrating.migrate,
    c.SuspendInstance: operators.suspend,
    c.ResumeInstance: operators.resume,
}
