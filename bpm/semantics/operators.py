"""What operators ask of an instance: set variables, retry, cancel, suspend, resume."""

from __future__ import annotations

from bpm.semantics import commands as c
from bpm.semantics import view
from bpm.semantics.attempts import report
from bpm.semantics.mappings import keep_beside, set_variable, unset_variable, write_outward
from bpm.semantics.scopes import finish
from bpm.semantics.state import Token
from bpm.semantics.tokens import cancel_below
from bpm.semantics.waiting import wait_for
from bpm.semantics.work import Refused, Stuck, Work

# The kind of an incident beside what a token waits for: a timer that cannot fire, a message that cannot be taken.
BLOCKED = "blocked"


def set_variables(work: Work, command: c.SetVariables) -> None:
    """Write and unset variables as seen from a token (0: the process)."""
    if command.token == 0:
        for name, content in command.variables.items():
            set_variable(work, 0, name, content)
    elif command.local:
        _open_token(work, command.token)
        keep_beside(work, command.token, command.variables)
    else:
        _open_token(work, command.token)
        write_outward(work, command.token, command.variables)
    scopes = view.scope_locals(work.state, command.token)
    if command.token and command.local:
        own = work.token(command.token).local
        scopes = [own] if own else []
    for name in command.unset:
        home = next((scope for scope in scopes if view.variable(work.state, scope, name) is not None), None)
        if home is not None:
            unset_variable(work, home, name, token=command.token)


def retry(work: Work, command: c.RetryIncident) -> None:
    """Resolve an incident: its task becomes ready again, or its token goes on where it stopped."""
    incident = view.entity(work.state, "incident", command.incident)
    if incident is None:
        raise Refused("not_found", f"there is no incident {command.incident}")
    if incident.state != "OPEN":
        raise Refused("wrong_state", f"the incident is {incident.state}")
    if command.retries < 1:
        raise Refused("invalid", f"retries must be at least 1, {command.retries} given")
    work.change("INCIDENT_RESOLVED", "incident", incident, "RESOLVED", reason="operator")
    if incident.kind == BLOCKED:
        return  # it comes again
    if incident.task is not None:
        task = view.entity(work.state, "task", incident.task)
        assert task is not None
        work.change("TASK_RETRIED", "task", task, "READY", reason="operator", retries=command.retries)
        return
    token = view.token(work.state, incident.token) if incident.token else None
    if token is not None and token.node == incident.node:
        work.change("TOKEN_STATE_CHANGED", "token", token, "ACTIVE", reason="retry")
        return
    try:
        # An event beside the token could not be waited for: now it may.
        wait_for(work, incident.token, work.graph.node(incident.node))
    except Stuck as stuck:
        raise Refused("invalid", stuck.message) from None


def report_incident(work: Work, command: c.ReportIncident) -> None:
    """An ACTIVE token that the engine could not step waits with an incident. What one waits for and could not take gets
    an incident beside it, once.
    """
    if command.beside is not None:
        if command.token:
            _open_token(work, command.token)
        attached = view.attached(work.state, command.token)
        if any(kind == "incident" and (one.kind, one.node) == (BLOCKED, command.beside) for kind, one in attached):
            raise Refused("wrong_state", f"{command.beside} has an incident already")
        blocked(work, command.token, command.beside, command.text)
        return
    token = _open_token(work, command.token)
    if token.state != "ACTIVE":
        raise Refused("wrong_state", f"token {token.id} is {token.state}, not ACTIVE")
    report(work, token.id, "engine", command.text)


def blocked(work: Work, token: int, node: str, message: str) -> None:
    """An incident beside what a token waits for (0: the instance)."""
    work.emit("INCIDENT_OPENED", work.new_id(), token=token, node=node, after="OPEN", reason="incident", kind=BLOCKED,
              message=message)  # fmt: skip


def cancel_instance(work: Work, command: c.CancelInstance) -> None:
    """End all that is open, and the instance. What a caller sends is for the run that it called: a later one (see
    `restarting`) goes on.
    """
    caller = work.state.instances[0].caller
    if command.message and (caller is None or caller["thread"] != command.message["sender"]):
        raise Refused("wrong_state", "the instance runs for nobody who called it")
    cancel_below(work, 0, "cancel")
    finish(work, "CANCELLED", "cancel", text=command.text)


def suspend(work: Work, command: c.SuspendInstance) -> None:
    """Stop the instance."""
    _instance_to(work, "INSTANCE_SUSPENDED", "SUSPENDED", command.text)


def resume(work: Work, command: c.ResumeInstance) -> None:
    """Let the instance go on."""
    if work.state.instances[0].state != "SUSPENDED":
        raise Refused("wrong_state", "the instance is not suspended")
    _instance_to(work, "INSTANCE_RESUMED", "RUNNING", command.text)


def _instance_to(work: Work, event: str, state: str, text: str) -> None:
    work.emit(event, 0, before=work.state.instances[0].state, after=state, reason="operator", text=text)


def _open_token(work: Work, id: int) -> Token:
    token: Token | None = view.entity(work.state, "token", id)
    if token is None:
        raise Refused("not_found", f"there is no token {id}")
    if not view.is_open("token", token):
        raise Refused("wrong_state", f"token {id} is {token.state}")
    return token
