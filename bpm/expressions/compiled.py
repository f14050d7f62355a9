"""Texts to closures: the language of a text, the cache, and the compiled expression itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from bpm.expressions.errors import ExpressionError, LimitFault
from bpm.expressions.host import NO_HOST, Host
from bpm.expressions.limits import Budget
from bpm.expressions.tree import Node

type Language = Literal["feel", "juel"]
type Closure = Callable[[Mapping[str, object], Host, Budget], object]
"""What a compiler makes of a tree: `compile_feel(tree: Node, text: str) -> Closure` (feel_compile), `compile_juel` likewise.

The scope is only ever read by `scope[name]`, with KeyError and nothing else meaning "unknown": everything else it raises must pass.
A unary test finds its input at `scope["?"]`.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A value and why FEEL answered null on the way, if it did."""

    value: object
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression ready to be evaluated.

    text: the source; language: None for plain text; names: the variables it may read, `execution.getVariable("x")` counted
    (more than it reads in one evaluation, never fewer); dynamic: it may also read variables whose names only the evaluation knows;
    constant: it gives the same value whatever the scope and the host.
    """

    text: str
    language: Language | None
    names: frozenset[str]
    dynamic: bool
    constant: bool
    tree: Node = field(repr=False)
    closure: Closure = field(repr=False, compare=False)

    def evaluate(self, scope: Mapping[str, object], host: Host = NO_HOST) -> object:
        """The value in this scope; EvaluationFault or LimitFault naming the text; what scope or a bean raises passes through."""
        return self._run(scope, host, Budget())

    def explain(self, scope: Mapping[str, object], host: Host = NO_HOST) -> Outcome:
        """As evaluate, with FEEL's warnings."""
        budget = Budget()
        return Outcome(self._run(scope, host, budget), tuple(budget.warnings))

    def _run(self, scope: Mapping[str, object], host: Host, budget: Budget) -> object:
        try:
            return self.closure(scope, host, budget)
        except ExpressionError as fault:
            raise fault.within(self.text) from None
        except RecursionError:
            raise LimitFault("the expression or its data nests too deeply", self.text) from None


def compile_text(text: str, *, language: Language | None = None, names: frozenset[str] = frozenset()) -> Compiled:
    """The expression in an attribute or element of a model; SyntaxFault or LimitFault."""
    raise ExpressionError("parsers follow in the next commit", text)


def compile_unary_tests(text: str, *, names: frozenset[str] = frozenset()) -> Compiled:
    """The unary tests of a decision table's cell, always FEEL; the input is `scope["?"]`; SyntaxFault or LimitFault."""
    raise ExpressionError("parsers follow in the next commit", text)
