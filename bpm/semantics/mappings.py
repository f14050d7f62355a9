"""Variables that pass between scopes: inputs of an activity, its outputs, and what a worker brings back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from bpm.graph import Mapping as Assignment
from bpm.graph import Node, Scope
from bpm.semantics import view
from bpm.semantics.formulas import seen_by, sees, text, value
from bpm.semantics.state import Token
from bpm.semantics.work import Work


def set_variable(work: Work, scope: int, name: str, content: Any, *, token: int = 0) -> None:
    """Write a variable in exactly this scope."""
    work.emit("VARIABLE_SET", scope, token=token, name=name, value=content)


def unset_variable(work: Work, scope: int, name: str, *, token: int = 0) -> None:
    """Take a variable's value away; nothing happens where it has none."""
    if view.variable(work.state, scope, name) is not None:
        work.emit("VARIABLE_UNSET", scope, token=token, name=name)


def own_scope(work: Work, token: Token) -> int:
    """The variable scope of the token's visit, opened when it has none yet."""
    if token.local:
        return token.local
    keep_local(work, token.id, {})
    return work.token(token.id).local


def keep_local(work: Work, token: int, variables: Mapping[str, Any]) -> None:
    """Put variables into a new scope that only the token's visit sees, in place of its present one."""
    found = work.token(token)
    local = work.new_id()
    work.emit("TOKEN_STATE_CHANGED", token, token=token, node=found.node, before=found.state, after=found.state,
              reason="none", local=local)  # fmt: skip
    for name, content in variables.items():
        set_variable(work, local, name, content, token=token)


def write_outward(work: Work, token: int, variables: Mapping[str, Any], *, skip_own: bool = False) -> None:
    """Write each variable where it lives: in the innermost scope of the token (0: the process) that has it, else in the
    process, as Camunda 7's setVariable does. `skip_own` leaves the token's own scope out.
    """
    scopes = view.scope_locals(work.state, token)
    if skip_own and token and work.token(token).local:
        scopes = scopes[1:]
    for name, content in variables.items():
        home = next((scope for scope in scopes if view.variable(work.state, scope, name) is not None), 0)
        set_variable(work, home, name, content, token=token)


def bring_back(work: Work, token: int, node: Node, variables: Mapping[str, Any]) -> None:
    """Write what the work at a node has brought: outward, or (Zeebe, where it maps outputs) into the own scope."""
    if node.outputs_only:
        keep_beside(work, token, variables)
    else:
        write_outward(work, token, variables)


def keep_beside(work: Work, token: int, variables: Mapping[str, Any]) -> None:
    """Write variables into the token's own scope, beside those that are there."""
    if variables:
        scope = own_scope(work, work.token(token))
        for name, content in variables.items():
            set_variable(work, scope, name, content, token=token)


def take_in(work: Work, token: Token, node: Node) -> None:
    """Evaluate the inputs of an activity into its own scope. Raises Stuck.

    All are evaluated in order, each seeing those before it, as Camunda 7 does.
    """
    if not node.inputs:
        return
    scope = own_scope(work, token)
    made: dict[str, Any] = {}
    for mapping in node.inputs:
        made[mapping.target] = _placed(made.get(mapping.target), mapping.path, value(work, token.id, mapping.source))
        set_variable(work, scope, mapping.target, made[mapping.target], token=token.id)


def give_out(work: Work, token: Token, node: Node) -> None:
    """Evaluate the outputs of an activity and write them to the scope around it; what a round of a loop fills stays
    with the round (Zeebe, BpmnVariableMappingBehavior.getVariableScopeKey). Raises Stuck.
    """
    kept = node.loop.output_variable if node.loop is not None and token.index is not None else None
    made: dict[str, Any] = {}
    for mapping in node.outputs:
        name = mapping.target
        there = made.get(name, seen_by(work, token.id, None).get(name)) if mapping.path else None
        made[name] = _placed(there, mapping.path, value(work, token.id, mapping.source))
        if mapping.local or name == kept:
            keep_beside(work, token.id, {name: made[name]})
        else:
            write_outward(work, token.id, {name: made[name]}, skip_own=True)


def _placed(there: Any, path: tuple[str, ...], content: Any) -> Any:
    """What a mapping's target becomes: the value, or the object that is there with the value at its path."""
    if not path:
        return content
    around = there if isinstance(there, dict) else {}
    return around | {path[0]: _placed(around.get(path[0]), path[1:], content)}


def first_values(scope: Scope) -> dict[str, Any]:
    """The first values of the scope's data objects, by name."""
    return {name: json.loads(content, parse_float=Decimal) for name, content in scope.data}


def passed_key(work: Work, token: int, assignments: tuple[Assignment, ...]) -> str | None:
    """The business key that is passed on, if one is. Raises Stuck."""
    return next((text(work, token, mapping.source) for mapping in assignments if mapping.business_key), None)


def passed_on(work: Work, token: Token, assignments: tuple[Assignment, ...]) -> dict[str, Any]:
    """The variables that `in` mappings give to a called process or a message. Raises Stuck."""
    found: dict[str, Any] = {}
    for mapping in assignments:
        if mapping.everything and mapping.local:
            found |= view.variables(work.state, token.local) if token.local else {}
        elif mapping.everything:
            found |= sees(work.state, token.id)
        elif not mapping.business_key:
            found[mapping.target] = value(work, token.id, mapping.source)
    return found
