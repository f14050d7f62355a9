"""Texts to closures: the language of a text, the cache, and the compiled expression itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from bpm.expressions.errors import ExpressionError, LimitFault
from bpm.expressions.host import NO_HOST, Closure, Host, Language
from bpm.expressions.juel_compile import compile_juel
from bpm.expressions.limits import MAX_HEIGHT, Budget
from bpm.expressions.parse_feel import parse_feel, parse_unary_tests
from bpm.expressions.parse_juel import has_hole, parse_juel
from bpm.expressions.tree import Literal, Node
from bpm.expressions.walkers import Reading, height, read_by_feel, read_by_juel


@dataclass(frozen=True, slots=True)
class Outcome:
    """A value and why FEEL answered null on the way, if it did."""

    value: object
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression ready to be evaluated.

    text: the source; language: None for plain text; names: the variables it may read, `execution.getVariable("x")`
    counted
    (more than it reads in one evaluation, never fewer); dynamic: it may also read variables whose names only the
    evaluation knows;
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
        """The value in this scope; EvaluationFault or LimitFault naming the text; what scope or a bean raises passes
        through.
        """
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
    """The expression in an attribute or element of a model, compiled once and cached; SyntaxFault or LimitFault.

    language: as the model names it; None: a leading `=` is FEEL, `${` or `#{` a JUEL template, anything else literal
    text. names: the names in scope; only FEEL needs them, to know where a name with signs in it (`gross-amount`)
    ends.
    """
    if language is None:
        language = _language_of(text)
    if language is None:
        return _literal(text)
    return _compiled(text, language, frozenset() if language == "juel" else names)


def compile_unary_tests(text: str, *, names: frozenset[str] = frozenset()) -> Compiled:
    """The unary tests of a decision table's cell, always FEEL; the input is `scope["?"]`; SyntaxFault or LimitFault."""
    return _unary_tests(text, names)


def _language_of(text: str) -> Language | None:
    if text.lstrip().startswith("="):
        return "feel"
    return "juel" if has_hole(text) else None


def _literal(text: str) -> Compiled:
    return Compiled(text, None, frozenset(), False, True, Literal(text), lambda scope, host, budget: text)


@lru_cache(maxsize=8192)
def _compiled(text: str, language: Language, names: frozenset[str]) -> Compiled:
    if language == "juel":
        tree = _checked(text, lambda: parse_juel(text))
        return _of(text, language, tree, read_by_juel(tree), compile_juel(tree))
    marked = len(text) - len(text.lstrip())
    source = " " * (marked + 1) + text[marked + 1 :] if text[marked : marked + 1] == "=" else text
    tree = _checked(text, lambda: parse_feel(source, names))
    return _of(text, language, tree, read_by_feel(tree), _feel(tree, text))


@lru_cache(maxsize=8192)
def _unary_tests(text: str, names: frozenset[str]) -> Compiled:
    tree = _checked(text, lambda: parse_unary_tests(text, names))
    return _of(text, "feel", tree, read_by_feel(tree), _feel(tree, text))


def _of(text: str, language: Language, tree: Node, reading: Reading, closure: Closure) -> Compiled:
    return Compiled(text, language, reading.names, reading.dynamic, reading.settled, tree, closure)


def _checked(text: str, parse: Callable[[], Node]) -> Node:
    """The tree, low enough for compilers and closures to descend into; a parser's fault names the text as the model
    has it.
    """
    try:
        tree = parse()
    except ExpressionError as fault:
        raise type(fault)(fault.message, text, fault.position, fault.expected) from None
    if height(tree) > MAX_HEIGHT:
        raise LimitFault("the expression nests too deeply", text, expected=f"at most {MAX_HEIGHT} levels")
    return tree


def _feel(tree: Node, text: str) -> Closure:
    # Here and not above: FEEL's functions bring regular expressions along, which JUEL alone need not load.
    from bpm.expressions.feel_compile import compile_feel

    return compile_feel(tree, text)
