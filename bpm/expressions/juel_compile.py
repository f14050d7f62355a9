"""JUEL trees to closures (EL 2.2 as Camunda 7 evaluates it).

Where a name comes from, in Camunda's order: its own objects (`execution`, `task`, ...), then variables, then other
host objects, then beans (only where a method or property of them is asked). Anything else is an EvaluationFault that
names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from types import MappingProxyType
from typing import Any

from bpm.expressions.boundary import from_host
from bpm.expressions.errors import EvaluationFault, ExpressionError
from bpm.expressions.host import Closure, Host, HostObject
from bpm.expressions.juel_functions import call_function, call_on_variable
from bpm.expressions.juel_host import call_on_object, member_of
from bpm.expressions.juel_members import call_method, item_of, property_of
from bpm.expressions.juel_values import boolean, calculate, compare, empty, equal, negate, text
from bpm.expressions.limits import Budget
from bpm.expressions.tree import (
    Arithmetic,
    Call,
    Comparison,
    Conditional,
    Conjunction,
    Disjunction,
    Empty,
    Index,
    Literal,
    Method,
    Name,
    Negation,
    Node,
    Not,
    Path,
    Template,
)
from bpm.expressions.vocabulary import JUEL_HOST_OBJECTS, VARIABLE_PREFIXES


def compile_juel(tree: Node) -> Closure:
    """The closure of a JUEL tree. Its faults carry the position of the node that failed."""
    return _COMPILERS[type(tree)](tree)


def _literal(node: Literal) -> Closure:
    value = node.value
    return lambda scope, host, budget: value


def _name(node: Name) -> Closure:
    name = node.name
    if name in JUEL_HOST_OBJECTS:
        return lambda scope, host, budget: _own_object(node, scope, host)

    def closure(scope: Mapping[str, object], host: Host, budget: Budget) -> object:
        try:
            return scope[name]
        except KeyError:
            pass
        if name in host.objects:
            return host.objects[name]
        raise EvaluationFault(f"unknown variable {name!r}", position=node.position)

    return closure


def _own_object(node: Name, scope: Mapping[str, object], host: Host) -> object:
    """`execution` and the like; where the host has none of that name, a variable may have it."""
    if node.name in host.objects:
        return host.objects[node.name]
    try:
        return scope[node.name]
    except KeyError:
        raise EvaluationFault(f"there is no {node.name!r} in this place", position=node.position) from None


def _template(node: Template) -> Closure:
    parts = [compile_juel(part) for part in node.parts]

    def closure(scope: Mapping[str, object], host: Host, budget: Budget) -> object:
        texts = [text(part(scope, host, budget), budget) for part in parts]
        budget.room(sum(map(len, texts)))
        return "".join(texts)

    return closure


def _conjunction(node: Conjunction) -> Closure:
    items = tuple(compile_juel(item) for item in node.items)
    position = node.position

    def closure(scope: Mapping[str, object], host: Host, budget: Budget) -> object:
        try:
            for item in items:
                value = item(scope, host, budget)
                if value is not True and not boolean(value):
                    return False
            return True
        except ExpressionError as fault:
            raise fault.at(position) from None

    return closure


def _disjunction(node: Disjunction) -> Closure:
    items = tuple(compile_juel(item) for item in node.items)
    position = node.position

    def closure(scope: Mapping[str, object], host: Host, budget: Budget) -> object:
        try:
            for item in items:
                value = item(scope, host, budget)
                if value is True or (value is not False and boolean(value)):
                    return True
            return False
        except ExpressionError as fault:
            raise fault.at(position) from None

    return closure


def _comparison(node: Comparison) -> Closure:
    operator, position = node.operator, node.position
    left, right = compile_juel(node.left), compile_juel(node.right)
    same, differ = operator == "=", operator == "!="
    quick = _QUICK[operator]

    def closure(scope: Mapping[str, object], host: Host, budget: Budget) -> object:
        a, b = left(scope, host, budget), right(scope, host, budget)
        kind = type(a)
        if kind is type(b) and kind in _PLAIN:
            return quick(a, b)
        try:
            return equal(a, b) if same else not equal(a, b) if differ else compare(operator, a, b)
        except ExpressionError as fault:
            raise fault.at(position) from None

    return closure


def _arithmetic(node: Arithmetic) -> Closure:
    first = compile_juel(node.first)
    rest = tuple((operator, compile_juel(operand)) for operator, operand in node.rest)
    position = node.position

    def closure(scope: Mapping[str, object], host: Host, budget: Budget) -> object:
        value = first(scope, host, budget)
        for operator, operand in rest:
            other = operand(scope, host, budget)
            try:
                value = calculate(operator, value, other)
            except ExpressionError as fault:
                raise fault.at(position) from None
        return value

    return closure


def _conditional(node: Conditional) -> Closure:
    condition, positive, negative = (compile_juel(part) for part in (node.condition, node.positive, node.negative))
    truth = _unary(boolean, condition, node.condition.position)
    return lambda scope, host, budget: (positive if truth(scope, host, budget) else negative)(scope, host, budget)


def _unary(function: Callable[[object], object], operand: Closure, position: int) -> Closure:
    """A function of one operand, its faults placed."""

    def closure(scope: Mapping[str, object], host: Host, budget: Budget) -> object:
        value = operand(scope, host, budget)
        try:
            return function(value)
        except ExpressionError as fault:
            raise fault.at(position) from None

    return closure


def _denied(value: object) -> bool:
    return not boolean(value)


def _path(node: Path) -> Closure:
    name, position = node.name, node.position
    source = _owner(node.source, name)

    def closure(scope: Mapping[str, object], host: Host, budget: Budget) -> object:
        value = source(scope, host, budget)
        if type(value) is dict:
            return value.get(name)
        try:
            match value:
                case HostObject():
                    return member_of(value, name, scope)
                case _Bean():
                    return value.call([])
                case _:
                    return property_of(value, name)
        except ExpressionError as fault:
            raise fault.at(position) from None

    return closure


def _index(node: Index) -> Closure:
    source, key, position = compile_juel(node.source), compile_juel(node.key), node.position

    def closure(scope: Mapping[str, object], host: Host, budget: Budget) -> object:
        value, name = source(scope, host, budget), key(scope, host, budget)
        try:
            if isinstance(value, HostObject):
                return member_of(value, text(name, budget), scope)
            return item_of(value, name, budget)
        except ExpressionError as fault:
            raise fault.at(position) from None

    return closure


def _method(node: Method) -> Closure:
    name, position = node.name, node.position
    source = _owner(node.source, name)
    arguments = tuple(compile_juel(argument) for argument in node.arguments)

    def closure(scope: Mapping[str, object], host: Host, budget: Budget) -> object:
        value = source(scope, host, budget)
        given = [argument(scope, host, budget) for argument in arguments]
        try:
            match value:
                case HostObject():
                    return call_on_object(value, name, given, scope, host)
                case _Bean():
                    return value.call(given)
                case _:
                    return call_method(value, name, given, budget)
        except ExpressionError as fault:
            raise fault.at(position) from None

    return closure


def _call(node: Call) -> Closure:
    assert isinstance(node.function, Name)  # noqa: S101 - the parser makes no other
    name, position = node.function.name, node.position
    prefix, _, function = name.partition(":")
    if function and prefix in VARIABLE_PREFIXES and node.arguments:
        return _call_on_variable(node, function)
    arguments = tuple(compile_juel(argument) for argument in node.arguments)

    def closure(scope: Mapping[str, object], host: Host, budget: Budget) -> object:
        given = [argument(scope, host, budget) for argument in arguments]
        try:
            return call_function(name, given, host, budget)
        except ExpressionError as fault:
            raise fault.at(position) from None

    return closure


def _call_on_variable(node: Call, function: str) -> Closure:
    """Flowable's functions take the variable's name, as a text or bare."""
    named, position = node.arguments[0], node.position
    variable = compile_juel(Literal(named.name) if isinstance(named, Name) else named)
    arguments = tuple(compile_juel(argument) for argument in node.arguments[1:])

    def closure(scope: Mapping[str, object], host: Host, budget: Budget) -> object:
        key = text(variable(scope, host, budget), budget)
        given = [argument(scope, host, budget) for argument in arguments]
        try:
            return call_on_variable(function, key, given, scope, budget)
        except ExpressionError as fault:
            raise fault.at(position) from None

    return closure


@dataclass(frozen=True, slots=True)
class _Bean:
    """A bean's method that was found; it lives from the dot to the call and is no value."""

    call_with: Callable[..., object]

    def call(self, arguments: list[object]) -> object:
        return from_host(self.call_with(*arguments))


def _owner(source: Node, member: str) -> Closure:
    """The value before a dot; a name that is neither variable nor host object may be a bean that has the member."""
    if not isinstance(source, Name) or source.name in JUEL_HOST_OBJECTS:
        return compile_juel(source)
    name, position = source.name, source.position
    method = f"{name}.{member}"

    def closure(scope: Mapping[str, object], host: Host, budget: Budget) -> object:
        try:
            return scope[name]
        except KeyError:
            pass
        if name in host.objects:
            return host.objects[name]
        if method in host.beans:
            return _Bean(host.beans[method])
        known = any(bean.startswith(name + ".") for bean in host.beans)
        missing = f"bean {name!r} has no method {member!r}" if known else f"unknown variable or bean {name!r}"
        raise EvaluationFault(missing, position=position)

    return closure


_PLAIN = frozenset({int, str})
"""Types whose own operators are JUEL's when both sides have the type."""

_QUICK: MappingProxyType[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
)

_COMPILERS: MappingProxyType[type[Node], Callable[[Any], Closure]] = MappingProxyType(
    {
        Arithmetic: _arithmetic,
        Call: _call,
        Comparison: _comparison,
        Conditional: _conditional,
        Conjunction: _conjunction,
        Disjunction: _disjunction,
        Empty: lambda node: _unary(empty, compile_juel(node.operand), node.position),
        Index: _index,
        Literal: _literal,
        Method: _method,
        Name: _name,
        Negation: lambda node: _unary(negate, compile_juel(node.operand), node.position),
        Not: lambda node: _unary(_denied, compile_juel(node.operand), node.position),
        Path: _path,
        Template: _template,
    }
)
