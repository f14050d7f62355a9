"""What an expression may see of the program around it, besides variables: plain data, handed in with each evaluation.

No attribute of a Python object is ever read by a name that a model gives. A host object is a table of members; a bean
is a callable under its dotted name; both are looked up, never imported. What a bean (or the scope) raises passes
through untouched: the engine signals "load this first" that way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from bpm.expressions.limits import Budget

Language = Literal["feel", "juel"]


@dataclass(frozen=True, slots=True)
class HostObject:
    """`execution`, `task` and the like, as JUEL sees them.

    members: by camel-case name (`processInstanceId`); each is read as `x.processInstanceId` and as
    `x.getProcessInstanceId()`. variables: whether it has `getVariable(n)`, `hasVariable(n)`, `getVariables()`,
    `setVariable(n, v)`, ..., answered from the scope.
    """

    name: str
    members: Mapping[str, object] = field(default_factory=dict)
    variables: bool = False


@dataclass(frozen=True, slots=True)
class Host:
    """The surroundings of one evaluation.

    now: gives the time that `now()` and `today()` answer (aware; None: there is no time here, asking for it is an
    EvaluationFault); called only where they are;
    zone: IANA name of the zone for local times;
    objects: host objects by name; plain values are allowed too (`authenticatedUserId`);
    beans: callables by `bean.method` (called as `${bean.method(x)}`) or `function` (called as `${function(x)}`,
    `${ns:function(x)}`);
    assign: takes what `execution.setVariable(name, value)` sets; None: setting is refused;
    user, groups: what `currentUser()` and `currentUserGroups()` answer.
    """

    now: Callable[[], datetime] | None = None
    zone: str = "UTC"
    objects: Mapping[str, object] = field(default_factory=dict)
    beans: Mapping[str, Callable[..., object]] = field(default_factory=dict)
    assign: Callable[[str, object], None] | None = None
    user: str | None = None
    groups: tuple[str, ...] = ()


NO_HOST = Host()
"""No time, no host objects, no beans."""

type Closure = Callable[[Mapping[str, object], Host, Budget], object]
"""What a compiler makes of a tree: `compile_feel(tree: Node, text: str) -> Closure` (feel_compile),
`compile_juel(tree)`.

The scope is only ever read by `scope[name]`, with KeyError and nothing else meaning "unknown": everything else it
raises must pass. A unary test finds its input at `scope["?"]`.
"""
