"""Trees back to texts, with no bracket that is not needed: `parse(print(tree)) == tree` in both languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from bpm.expressions.host import Language
from bpm.expressions.lex_feel import is_plain
from bpm.expressions.tree import (
    Arithmetic,
    AtLiteral,
    Between,
    Call,
    Comparison,
    Conditional,
    Conjunction,
    ContextOf,
    ContextType,
    Disjunction,
    Empty,
    Filter,
    For,
    Function,
    FunctionType,
    HalfRange,
    In,
    Index,
    InstanceOf,
    Iterator,
    ListOf,
    ListType,
    Literal,
    Method,
    Name,
    NamedType,
    Negation,
    Node,
    Not,
    Path,
    Quantified,
    Range,
    RangeType,
    Template,
    Test,
    UnaryTests,
)

_ANY, _OR, _AND, _COMPARE, _ADD, _MULTIPLY, _POWER, _UNARY, _POSTFIX = range(9)
"""How tightly a node binds: what stands below its parent's demand is put in brackets."""

_ARITHMETIC = MappingProxyType({"+": _ADD, "-": _ADD, "*": _MULTIPLY, "/": _MULTIPLY, "%": _MULTIPLY, "**": _POWER})
_JUEL_EQUALITY = MappingProxyType({"=": "==", "!=": "!="})
_HOLE = re.compile(r"([$#]\{)")


def print_tree(tree: Node, language: Language) -> str:
    """The text of a tree: an expression or unary tests of FEEL, or a template of JUEL."""
    printer = _Printer(language == "juel")
    if not printer.juel:
        return printer.text(tree)
    parts = tree.parts if isinstance(tree, Template) else (tree,)
    return "".join(printer.part(part) for part in parts)


@dataclass(frozen=True, slots=True)
class _Printer:
    juel: bool

    def text(self, node: Node, demand: int = _ANY) -> str:
        power, write = _WRITERS[type(node)]
        if isinstance(node, Arithmetic):
            power = _ARITHMETIC[node.rest[0][0]]
        if self.juel and isinstance(node, Comparison):
            # Relations bind tighter than equations in EL; in FEEL all comparisons bind alike.
            return self.relation(node, demand)
        written: str = write(self, node)
        return f"({written})" if power < demand else written

    def all(self, nodes: Iterable[Node]) -> str:
        return ", ".join(self.text(node) for node in nodes)

    def part(self, node: Node) -> str:
        if isinstance(node, Literal) and isinstance(node.value, str):
            return _HOLE.sub(r"\\\1", node.value)
        return "${" + self.text(node) + "}"

    def literal(self, node: Literal) -> str:
        match node.value:
            case None:
                return "null"
            case bool(value):
                return "true" if value else "false"
            case str(value):
                escaped = value.replace("\\", "\\\\").replace('"', '\\"')
                return f'"{escaped}"'
        return str(node.value)

    def source(self, node: Node) -> str:
        """What stands before a dot or a bracket; `1.a` would begin with a number."""
        number = isinstance(node, Literal) and not isinstance(node.value, str | bool | None)
        return self.text(node, _POSTFIX + 1 if number else _POSTFIX) if not number else f"({self.text(node)})"

    def name(self, name: str) -> str:
        return name if self.juel or is_plain(name) else f"`{name}`"

    def key(self, key: str) -> str:
        return key if is_plain(key) else self.literal(Literal(key))

    def relation(self, node: Comparison, demand: int) -> str:
        equation = node.operator in _JUEL_EQUALITY
        power = _COMPARE if equation else _COMPARE + 0.5
        left = self.text(node.left, _COMPARE) if equation else self._related(node.left)
        right = self._related(node.right) if equation else self.text(node.right, _ADD)
        written = f"{left} {_JUEL_EQUALITY.get(node.operator, node.operator)} {right}"
        return f"({written})" if power < demand else written

    def _related(self, node: Node) -> str:
        """An operand that may be a relation but no equation."""
        equation = isinstance(node, Comparison) and node.operator in _JUEL_EQUALITY
        return f"({self.text(node)})" if equation else self.text(node, _COMPARE)

    def chain(self, word: str, items: tuple[Node, ...], demand: int) -> str:
        return f" {word} ".join(self.text(item, demand) for item in items)

    def arithmetic(self, node: Arithmetic) -> str:
        demand = _ARITHMETIC[node.rest[0][0]] + 1
        return self.text(node.first, demand) + "".join(
            f" {sign} {self.text(operand, demand)}" for sign, operand in node.rest
        )

    def conditional(self, node: Conditional) -> str:
        condition, positive, negative = node.condition, node.positive, node.negative
        if self.juel:
            chosen = self.text(positive, _ANY if isinstance(positive, Name | Literal) else _POSTFIX + 1)
            return f"{self.text(condition, _OR)} ? {chosen} : {self.text(negative)}"
        return f"if {self.text(condition)} then {self.text(positive)} else {self.text(negative)}"

    def call(self, node: Call) -> str:
        named = ", ".join(f"{self.name(name)}: {self.text(argument)}" for name, argument in node.named)
        return f"{self.source(node.function)}({named or self.all(node.arguments)})"

    def range(self, node: Range) -> str:
        low, high = "[" if node.low_closed else "(", "]" if node.high_closed else ")"
        return f"{low}{self.text(node.low)}..{self.text(node.high, _ADD)}{high}"

    def test(self, node: Test) -> str:
        return self.text(node.operand) if node.operator is None else f"{node.operator} {self.text(node.operand, _ADD)}"

    def tests(self, node: UnaryTests) -> str:
        if not node.tests:
            return "-"
        written = self.all(node.tests)
        if node.negated:
            return f"not({written})"
        # Alone, `not(x)` would be read as negated tests.
        return f"({written})" if len(node.tests) == 1 and written.startswith("not(") else written

    def iterators(self, iterators: tuple[Iterator, ...]) -> str:
        return ", ".join(f"{self.name(iterator.name)} in {self.text(iterator.domain)}" for iterator in iterators)

    def function(self, node: Function) -> str:
        parameters = ", ".join(
            self.name(parameter.name) + (f": {self.text(parameter.type)}" if parameter.type else "")
            for parameter in node.parameters
        )
        return f"function({parameters}) {'external ' if node.external else ''}{self.text(node.body)}"

    def function_type(self, node: FunctionType) -> str:
        return f"function<{self.all(node.parameters)}>" + (f" -> {self.text(node.result)}" if node.result else "")


def _entries(printer: _Printer, entries: tuple[tuple[str, Any], ...]) -> str:
    return ", ".join(f"{printer.key(key)}: {printer.text(value)}" for key, value in entries)


_WRITERS: MappingProxyType[type[Node], tuple[int, Callable[[_Printer, Any], str]]] = MappingProxyType(
    {
        Arithmetic: (_ADD, _Printer.arithmetic),
        AtLiteral: (_POSTFIX, lambda p, n: "@" + p.literal(Literal(n.text))),
        Between: (
            _COMPARE,
            lambda p, n: f"{p.text(n.value, _COMPARE)} between {p.text(n.low, _ADD)} and {p.text(n.high, _ADD)}",
        ),
        Call: (_POSTFIX, _Printer.call),
        Comparison: (_COMPARE, lambda p, n: f"{p.text(n.left, _COMPARE)} {n.operator} {p.text(n.right, _ADD)}"),
        Conditional: (_ANY, _Printer.conditional),
        Conjunction: (_AND, lambda p, n: p.chain("&&" if p.juel else "and", n.items, _AND + 1)),
        ContextOf: (_POSTFIX, lambda p, n: "{" + _entries(p, n.entries) + "}"),
        ContextType: (_POSTFIX, lambda p, n: f"context<{_entries(p, n.entries)}>"),
        Disjunction: (_OR, lambda p, n: p.chain("||" if p.juel else "or", n.items, _OR + 1)),
        Empty: (_UNARY, lambda p, n: f"empty {p.text(n.operand, _UNARY)}"),
        Filter: (_POSTFIX, lambda p, n: f"{p.source(n.source)}[{p.text(n.condition)}]"),
        For: (_ANY, lambda p, n: f"for {p.iterators(n.iterators)} return {p.text(n.result)}"),
        Function: (_ANY, _Printer.function),
        FunctionType: (_POSTFIX, _Printer.function_type),
        HalfRange: (_POSTFIX, lambda p, n: f"({n.operator} {p.text(n.bound, _ADD)})"),
        In: (_COMPARE, lambda p, n: f"{p.text(n.value, _COMPARE)} in ({p.all(n.tests)})"),
        Index: (_POSTFIX, lambda p, n: f"{p.source(n.source)}[{p.text(n.key)}]"),
        InstanceOf: (_COMPARE, lambda p, n: f"{p.text(n.value, _COMPARE)} instance of {p.text(n.type)}"),
        ListOf: (_POSTFIX, lambda p, n: f"[{p.all(n.items)}]"),
        ListType: (_POSTFIX, lambda p, n: f"list<{p.text(n.element)}>"),
        Literal: (_POSTFIX, _Printer.literal),
        Method: (_POSTFIX, lambda p, n: f"{p.source(n.source)}.{n.name}({p.all(n.arguments)})"),
        Name: (_POSTFIX, lambda p, n: p.name(n.name)),
        NamedType: (_POSTFIX, lambda p, n: n.name),
        Negation: (_UNARY, lambda p, n: f"-{p.text(n.operand, _UNARY)}"),
        Not: (_UNARY, lambda p, n: f"!{p.text(n.operand, _UNARY)}"),
        Path: (_POSTFIX, lambda p, n: f"{p.source(n.source)}.{p.name(n.name)}"),
        Quantified: (
            _ANY,
            lambda p, n: f"{'every' if n.every else 'some'} {p.iterators(n.iterators)} satisfies {p.text(n.condition)}",
        ),
        Range: (_POSTFIX, _Printer.range),
        RangeType: (_POSTFIX, lambda p, n: f"range<{p.text(n.element)}>"),
        Template: (_ANY, lambda p, n: "".join(p.part(part) for part in n.parts)),
        Test: (_ANY, _Printer.test),
        UnaryTests: (_ANY, _Printer.tests),
    }
)
