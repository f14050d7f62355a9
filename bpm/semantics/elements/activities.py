"""Tasks of all kinds and call activities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bpm.graph import Formula, Node, Trigger, UserSpec
from bpm.semantics import view
from bpm.semantics.compensation import remember
from bpm.semantics.elements.throwing import throw_one
from bpm.semantics.formulas import names, number, text, value
from bpm.semantics.mappings import give_out, keep_beside, passed_key, passed_on, take_in, write_outward
from bpm.semantics.tokens import detach, send, wait
from bpm.semantics.waiting import wait_for
from bpm.semantics.work import Stuck, Work

DEFAULT_RETRIES = 3
DEFAULT_PRIORITY = 0
USER_TASK_PRIORITY = 50  # as Camunda 7 has it


def open_activity(work: Work, token: int, node: Node) -> None:
    """What every activity begins with: its inputs, then what its boundary events wait for. Raises Stuck.

    The boundary events of a loop belong to its body, not to each round.
    """
    take_in(work, work.token(token), node)
    for boundary in node.boundary if node.loop is None else ():
        wait_for(work, token, work.graph.node(boundary))


def close_activity(work: Work, token: int, node: Node) -> None:
    """What every activity ends with: its outputs; a note of how to undo it; what hangs on it ends. Raises Stuck."""
    give_out(work, work.token(token), node)
    remember(work, token, node)
    detach(work, token, reason="left")


def enter_pass(work: Work, token: int, node: Node) -> bool:
    """An undefined or manual task: nothing is waited for."""
    take_in(work, work.token(token), node)
    return True


def enter_send(work: Work, token: int, node: Node) -> bool:
    """A message that the engine sends: nothing is waited for (BPMN 2.0.2, 13.3.3)."""
    take_in(work, work.token(token), node)
    throw_one(work, token, node, node.trigger or Trigger())
    return True


def enter_external(work: Work, token: int, node: Node) -> bool:
    """Work for a worker outside."""
    open_activity(work, token, node)
    assert node.work is not None
    topic = text(work, token, node.work.topic)
    if not topic:
        raise Stuck("expression", f"the topic of {node.id} is empty")
    work.emit("TASK_CREATED", work.new_id(), token=token, node=node.id, after="READY", reason="work", topic=topic,
              retries=number(work, token, node.work.retries, DEFAULT_RETRIES),
              priority=number(work, token, node.work.priority, DEFAULT_PRIORITY))  # fmt: skip
    wait(work, token, "work")
    return False


def enter_user(work: Work, token: int, node: Node) -> bool:
    """Work for a person."""
    open_activity(work, token, node)
    spec = node.user or UserSpec()
    said: dict[str, Any] = {
        "assignee": text(work, token, spec.assignee),
        "due": text(work, token, spec.due),
        "follow_up": text(work, token, spec.follow_up),
        "form_key": text(work, token, spec.form_key),
        "candidate_users": _people(work, token, spec.candidate_users),
        "candidate_groups": _people(work, token, spec.candidate_groups),
    }
    priority = number(work, token, spec.priority, USER_TASK_PRIORITY)
    work.emit("USER_TASK_CREATED", work.new_id(), token=token, node=node.id,
              after="CLAIMED" if said["assignee"] else "READY", reason="work", priority=priority,
              **{key: content for key, content in said.items() if content})  # fmt: skip
    wait(work, token, "work")
    return False


def _people(work: Work, token: int, formulas: tuple[Formula, ...]) -> list[str]:
    """Names of users or groups; a formula may give one, a list, or several separated by commas."""
    found: list[str] = []
    for formula in formulas:
        content = value(work, token, formula)
        several = content if isinstance(content, list) else str(content or "").split(",")
        found.extend(str(one).strip() for one in several if str(one).strip())
    return found


def enter_receive(work: Work, token: int, node: Node) -> bool:
    """Wait for a message."""
    open_activity(work, token, node)
    wait_for(work, token, node)
    wait(work, token, "message")
    return False


def enter_call(work: Work, token: int, node: Node) -> bool:
    """Ask for an instance of another process; its end comes back as a message."""
    open_activity(work, token, node)
    assert node.call is not None
    spec = node.call
    target = text(work, token, spec.target)
    if not target:
        raise Stuck("call", f"the called process of {node.id} is empty")
    ticket = work.new_id()
    work.emit("TICKET_OPENED", ticket, token=token, node=node.id, after="OPEN", reason="call", kind="CALL", name=target)
    depth = depth_of(work.state.instances[0].caller) + 1
    body: dict[str, Any] = {
        "ticket": ticket,
        "binding": spec.binding,
        "version": text(work, token, spec.version),
        "wants": _wanted(node),
        "variables": passed_on(work, work.token(token), spec.inputs),
        "business_key": passed_key(work, token, spec.inputs),
    }
    body |= {"depth": depth} if depth > 1 else {}
    send(work, "CALL", target, body, token=token, node=node.id)
    wait(work, token, "call")
    return False


def depth_of(caller: Mapping[str, Any] | None) -> int:
    """How many calls an instance with that caller is inside of. How deep they may go is the shell's limit."""
    return 0 if caller is None else int(caller.get("depth", 1))


def take_back(work: Work, token: int, node: Node, variables: dict[str, Any]) -> None:
    """Keep what the called instance brought back in the token's own scope, so that outputs that fail can be tried
    again. What is wanted and did not come is null, whatever the caller has under that name.
    """
    keep_beside(work, token, dict.fromkeys(_wanted(node) or (), None) | variables)


def close_call(work: Work, token: int, node: Node) -> None:
    """Map what the called instance brought back. Raises Stuck."""
    assert node.call is not None
    returned = _returned(work, token, node)
    brought: dict[str, Any] = dict(returned) if node.call.propagate_all_outputs else {}
    brought |= _mapped_back(work, token, node, returned)
    if not node.outputs_only:
        write_outward(work, token, brought, skip_own=True)
    close_activity(work, token, node)


def map_on_the_way(work: Work, token: int, node: Node, variables: dict[str, Any]) -> None:
    """What `out` mappings give before an error or an escalation of the called instance looks for who catches it, as in
    Camunda 7 (BpmnExceptionHandler, OutputVariablesPropagator). Raises Stuck.
    """
    returned = dict.fromkeys(_wanted(node) or (), None) | variables
    write_outward(work, token, _mapped_back(work, token, node, returned), skip_own=True)


def _mapped_back(work: Work, token: int, node: Node, returned: dict[str, Any]) -> dict[str, Any]:
    """What `out` mappings make of what the called instance has; local ones are kept beside the token at once."""
    assert node.call is not None
    brought: dict[str, Any] = {}
    for mapping in node.call.outputs:
        content = returned if mapping.everything else {mapping.target: value(work, token, mapping.source, returned)}
        if mapping.local:
            keep_beside(work, token, content)
        else:
            brought |= content
    return brought


def _returned(work: Work, token: int, node: Node) -> dict[str, Any]:
    """What lies in the token's own scope, but for what the activity and its loop put there themselves."""
    local = work.token(token).local
    own = {mapping.target for mapping in node.inputs}
    if node.loop is not None:
        loop = node.loop
        own |= {"loopCounter", loop.index_variable or "", loop.element_variable or "", loop.output_variable or ""}
    found = view.variables(work.state, local) if local else {}
    return {name: content for name, content in found.items() if name not in own}


def _wanted(node: Node) -> list[str] | None:
    """The variables of the called process that its end must bring back; None for all."""
    assert node.call is not None
    spec = node.call
    if spec.propagate_all_outputs or any(mapping.everything for mapping in spec.outputs):
        return None
    sources = [mapping.source for mapping in spec.outputs]
    if node.outputs_only:
        sources += [mapping.source for mapping in node.outputs]
    return sorted(frozenset().union(*(names(source) for source in sources)))
