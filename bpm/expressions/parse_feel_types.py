"""FEEL's types as written after `instance of` and behind a parameter's colon (DMN 1.5, 10.3.1.2, rules 49 to 53)."""

from __future__ import annotations

from bpm.expressions.cursor import Cursor
from bpm.expressions.tree import ContextType, FunctionType, ListType, NamedType, RangeType, TypeNode


def parse_type(cursor: Cursor) -> TypeNode:
    """The type at the cursor; SyntaxFault, LimitFault."""
    cursor.descend()
    position = cursor.token.position
    name = _name(cursor)
    parsed: TypeNode
    if name not in ("list", "range", "context", "function") or not cursor.accept("<"):
        parsed = NamedType(name, position=position)
    elif name == "list":
        parsed = ListType(_element(cursor), position=position)
    elif name == "range":
        parsed = RangeType(_element(cursor), position=position)
    elif name == "context":
        parsed = ContextType(_entries(cursor), position=position)
    else:
        parameters = _parameters(cursor)
        result = parse_type(cursor) if cursor.accept("->") else None
        parsed = FunctionType(parameters, result, position=position)
    cursor.ascend()
    return parsed


def _element(cursor: Cursor) -> TypeNode:
    element = parse_type(cursor)
    cursor.expect(">")
    return element


def _entries(cursor: Cursor) -> tuple[tuple[str, TypeNode], ...]:
    entries: list[tuple[str, TypeNode]] = []
    while not cursor.at(">"):
        key = _name(cursor)
        cursor.expect(":")
        entries.append((key, parse_type(cursor)))
        if not cursor.accept(","):
            break
    cursor.expect(">")
    return tuple(entries)


def _parameters(cursor: Cursor) -> tuple[TypeNode, ...]:
    parameters: list[TypeNode] = []
    while not cursor.at(">"):
        parameters.append(parse_type(cursor))
        if not cursor.accept(","):
            break
    cursor.expect(">")
    return tuple(parameters)


def _name(cursor: Cursor) -> str:
    if cursor.token.kind != "name" and cursor.token.text not in ("function", "null"):
        raise cursor.unexpected("a type")
    name = cursor.advance().text
    while cursor.token.kind == "name":
        name += " " + cursor.advance().text
    while cursor.accept("."):
        if cursor.token.kind not in ("name", "word"):
            raise cursor.unexpected("a name")
        name += "." + cursor.advance().text
    return name
