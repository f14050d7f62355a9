"""What the FEEL compilers share: the shape of a compiled piece, and local names laid over a scope."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bpm.expressions.host import Host
from bpm.expressions.limits import Budget
from bpm.expressions.tree import Node

type Scope = Mapping[str, object]
type Run = Callable[[Scope, Host, Budget], object]
"""A compiled piece: its value in a scope."""
type Bound = frozenset[str]
"""Names that the expression itself introduces around a piece: they hide the built-in functions of these names."""
type Build = Callable[[Node, Bound], Run]
"""Compiles a part; handed to the compilers of the nodes, so that they need not know each other."""


class Frame(dict[str, Any]):
    """Local names; what it does not hold is looked up in the scope around it."""

    __slots__ = ("around",)

    def __init__(self, around: Scope, names: Mapping[str, object] | tuple[()] = ()) -> None:
        super().__init__(names)
        self.around = around

    def __missing__(self, name: str) -> object:
        return self.around[name]
