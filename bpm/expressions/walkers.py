"""Looking at trees: their parts, their height, the names they read, the beans they call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

from bpm.expressions.tree import (
    Call,
    ContextOf,
    Filter,
    For,
    Function,
    Index,
    Literal,
    Method,
    Name,
    Node,
    Path,
    Quantified,
    UnaryTests,
)
from bpm.expressions.tree import Iterator as Domain
from bpm.expressions.vocabulary import (
    FEEL_BUILTINS,
    FEEL_CHANGING,
    JUEL_HOST_OBJECTS,
    READING_METHODS,
    SCANNING_MEMBERS,
    SCANNING_METHODS,
    VARIABLE_PREFIXES,
    WRITING_METHODS,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What an expression reads. names, dynamic: as in Compiled; settled: it reads nothing else either (time, chance,
    host, beans).
    """

    names: frozenset[str]
    dynamic: bool
    settled: bool


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below this one, in the order of the text."""
    for field in fields(node):
        if field.name != "position":
            yield from _nodes(getattr(node, field.name))


def walk(tree: Node) -> Iterator[Node]:
    """This node and all below it; needs no recursion, so any tree will do."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(children(node))


def height(tree: Node) -> int:
    """How many nodes stand above each other at most."""
    highest = 0
    waiting = [(tree, 1)]
    while waiting:
        node, level = waiting.pop()
        highest = max(highest, level)
        waiting.extend((child, level + 1) for child in children(node))
    return highest


def uses_input(tree: Node) -> bool:
    """Whether a unary test mentions its input, `?`."""
    return any(isinstance(node, Name) and node.name == "?" for node in walk(tree))


def read_by_feel(tree: Node) -> Reading:
    """What a FEEL expression reads. Names of a filtered item's entries count, as only the evaluation can tell them
    from variables.
    """
    names: set[str] = set()
    _free(tree, frozenset(), names)
    changing = any(
        isinstance(node, Call) and isinstance(node.function, Name) and node.function.name in FEEL_CHANGING
        for node in walk(tree)
    )
    asks = isinstance(tree, UnaryTests) or uses_input(tree)
    return Reading(frozenset(names), dynamic=False, settled=not (names or changing or asks))


def read_by_juel(tree: Node) -> Reading:
    """What a JUEL expression reads; a bean's name counts as a variable's, because a variable of that name would win."""
    names: set[str] = set()
    dynamic = hosted = False
    functions = {id(node.function) for node in walk(tree) if isinstance(node, Call)}
    for node in walk(tree):
        match node:
            case Call(function=Name(name=function), arguments=(argument, *_)) if (
                function.partition(":")[0] in VARIABLE_PREFIXES
            ):
                if isinstance(argument, Literal):
                    names.add(str(argument.value))
                elif not isinstance(argument, Name):
                    dynamic = True
            case Name() if id(node) in functions:
                hosted = True
            case Name(name=name) if name in JUEL_HOST_OBJECTS:
                hosted = True
            case Name(name=name):
                names.add(name)
            case Method(name=name, arguments=(Literal(value=str(variable)), *_)) if name in READING_METHODS:
                names.add(variable)
            case Method(name=name) if name in READING_METHODS or name in SCANNING_METHODS:
                dynamic = True
            case Method(name=name) if name in WRITING_METHODS:
                hosted = True
            case Path(name=name, source=Name(name=owner)) if name in SCANNING_MEMBERS and owner in JUEL_HOST_OBJECTS:
                dynamic = True
            case Index(source=Name(name=owner)) if owner in JUEL_HOST_OBJECTS:
                dynamic = True
            case _:
                pass
    return Reading(frozenset(names), dynamic, settled=not names and not dynamic and not hosted)


def beans_called(tree: Node) -> frozenset[str]:
    """The keys of `Host.beans` a JUEL expression may ask for: `bean.method` and `function`, in its own spelling."""
    called: set[str] = set()
    for node in walk(tree):
        match node:
            case Method(source=Name(name=owner), name=name) if owner not in JUEL_HOST_OBJECTS:
                called.add(f"{owner}.{name}")
            case Call(function=Name(name=name)):
                called.add(name)
            case _:
                pass
    return frozenset(called)


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


def _free(node: Node, bound: frozenset[str], names: set[str]) -> None:
    """Collect the names that node reads and that nothing around it binds. (Recursion is bounded by the height of a
    tree.)
    """
    match node:
        case Name(name=name):
            if name not in bound and name != "?":
                names.add(name)
        case Call(function=Name(name=name)) if name in FEEL_BUILTINS and name not in bound:
            for child in children(node):
                if child is not node.function:
                    _free(child, bound, names)
        case ContextOf(entries=entries):
            for key, value in entries:
                _free(value, bound, names)
                bound = bound | {key}
        case Filter(source=source, condition=condition):
            _free(source, bound, names)
            _free(condition, bound | {"item"}, names)
        case For(iterators=iterators, result=result):
            _free(result, _bind(iterators, bound, names) | {"partial"}, names)
        case Quantified(iterators=iterators, condition=condition):
            _free(condition, _bind(iterators, bound, names), names)
        case Function(parameters=parameters, body=body, external=external):
            if not external:
                _free(body, bound | {parameter.name for parameter in parameters}, names)
        case _:
            for child in children(node):
                _free(child, bound, names)


def _bind(iterators: tuple[Domain, ...], bound: frozenset[str], names: set[str]) -> frozenset[str]:
    for iterator in iterators:
        _free(iterator.domain, bound | {"partial"}, names)
        bound = bound | {iterator.name}
    return bound
