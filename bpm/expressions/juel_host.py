"""Host objects as JUEL sees them: declared members, getters by the rule of Java beans, and the variables of
`execution` and `task`.
"""

from __future__ import annotations

from collections.abc import Mapping

from bpm.expressions.errors import EvaluationFault
from bpm.expressions.host import Host, HostObject
from bpm.expressions.vocabulary import READING_METHODS, SCANNING_METHODS


def member_of(owner: HostObject, name: str, scope: Mapping[str, object]) -> object:
    """`execution.name`; EvaluationFault for what is not declared."""
    if name in owner.members:
        return owner.members[name]
    if owner.variables and "get" + name[:1].upper() + name[1:] in SCANNING_METHODS:
        return _all("get" + name[:1].upper() + name[1:], scope)
    raise _undeclared(owner, name)


def call_on_object(
    owner: HostObject, name: str, arguments: list[object], scope: Mapping[str, object], host: Host
) -> object:
    """`execution.name(arguments)`: a getter of a declared member, or a method of its variables."""
    if owner.variables:
        match name, arguments:
            case _, [str(variable)] if name in READING_METHODS:
                return _read(name, variable, scope)
            case _, [] if name in SCANNING_METHODS:
                return _all(name, scope)
            case "setVariable" | "setVariableLocal", [str(variable), value]:
                if host.assign is None:
                    raise EvaluationFault(
                        f"{owner.name}.{name}({variable!r}, ...) is refused: this expression may only read"
                    )
                host.assign(variable, value)
                return None
    if not arguments:
        for prefix in ("get", "is"):
            bare = name.removeprefix(prefix)
            member = bare[:1].lower() + bare[1:]
            if bare != name and member in owner.members:
                return owner.members[member]
    raise _undeclared(owner, f"{name}({', '.join('...' for _ in arguments)})")


def _read(method: str, variable: str, scope: Mapping[str, object]) -> object:
    try:
        value = scope[variable]
    except KeyError:
        return False if method.startswith("has") else None
    return True if method.startswith("has") else value


def _all(method: str, scope: Mapping[str, object]) -> object:
    if method.startswith("has"):
        return len(scope) > 0
    return sorted(scope) if "Names" in method else {name: scope[name] for name in scope}


def _undeclared(owner: HostObject, name: str) -> EvaluationFault:
    known = ", ".join(sorted(owner.members)) or "nothing"
    return EvaluationFault(f"{owner.name} has no {name}", expected=f"one of {known}")
