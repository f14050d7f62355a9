"""JUEL texts to trees: EL 2.2 as Camunda 7 and Flowable use it (no lambdas, no assignment, no `;`).

A text is a template: plain text with any number of `${...}` or `#{...}` in it (they mean the same). `\\${` is plain
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from bpm.expressions.cursor import Cursor, Token, number
from bpm.expressions.errors import SyntaxFault
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
from bpm.expressions.vocabulary import JUEL_CONSTANTS, JUEL_SIGNS, VARIABLE_PREFIXES

_TOKEN = re.compile(
    r"""
      (?P<blank> \s+ )
    | (?P<number> (?: [0-9]+\.[0-9]* | \.[0-9]+ | [0-9]+ ) (?: [eE][+-]?[0-9]+ )? )
    | (?P<text> "(?: \\. | [^"\\] )*" | '(?: \\. | [^'\\] )*' )
    | (?P<name> (?: [^\W\d] | \$(?!\{) ) (?: \w | \$(?!\{) )* )
    | (?P<sign> == | != | <= | >= | && | \|\| | [-+*/%<>!?:.,()\[\]{}] )
    """,
    re.VERBOSE | re.DOTALL,
)
_HOLE = re.compile(r"[$#]\{")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_FUNCTION_AFTER_COLON = re.compile(r":\s*[^\W\d]\w*\s*\(")

_OR, _AND, _EQUALITY, _RELATION, _ADD, _MULTIPLY = range(1, 7)
_POWERS = {
    "||": _OR,
    "&&": _AND,
    **dict.fromkeys(("==", "!="), _EQUALITY),
    **dict.fromkeys(("<", ">", "<=", ">="), _RELATION),
    **dict.fromkeys(("+", "-"), _ADD),
    **dict.fromkeys(("*", "/", "%"), _MULTIPLY),
}


def has_hole(text: str) -> bool:
    """Whether the text is a template: `${` or `#{` stands in it, escaped or not."""
    return "${" in text or "#{" in text


def parse_juel(text: str) -> Node:
    """The tree of a template. One hole and nothing else but blanks is the expression in it, not a text. SyntaxFault,
    LimitFault.
    """
    parser = _Parser(text)
    parts: list[Node] = []
    holes: list[Node] = []
    plain, position = "", 0
    while hole := _HOLE.search(text, position):
        before = text[position : hole.start()]
        if before.endswith("\\"):
            plain += before[:-1] + hole[0]
            position = hole.end()
            continue
        began = position
        node, position = parser.hole(hole.end())
        if isinstance(node, Literal) and isinstance(node.value, str):
            plain += before + node.value
            continue
        if plain or before:
            parts.append(Literal(plain + before, position=began))
        parts.append(node)
        holes.append(node)
        plain = ""
    plain += text[position:]
    if plain or not parts:
        parts.append(Literal(plain, position=position))
    if len(holes) == 1 and all(
        part is holes[0] or (isinstance(part, Literal) and not str(part.value).strip()) for part in parts
    ):
        return holes[0]
    return parts[0] if not holes else Template(tuple(parts))


class _Parser(Cursor):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.choosing = 0
        """How many `?` wait for their `:`."""

    def read(self, position: int) -> Token:
        while True:
            if position >= len(self.text):
                return Token("end", "", len(self.text), len(self.text))
            found = _TOKEN.match(self.text, position)
            if found is None:
                raise self.no_token(position)
            if found.lastgroup != "blank":
                break
            position = found.end()
        spelling, end = found[0], found.end()
        match found.lastgroup:
            case "number":
                return Token("number", spelling, position, end, number(spelling, self.text, position))
            case "text":
                return Token("text", spelling, position, end, _ESCAPE.sub(r"\1", spelling[1:-1]))
            case "name" if spelling in JUEL_SIGNS:
                return Token("sign", JUEL_SIGNS[spelling], position, end, spelling)
            case "name":
                return Token("name", spelling, position, end)
            case _:
                return Token("sign", spelling, position, end)

    def no_token(self, position: int) -> SyntaxFault:
        character = self.text[position]
        if character in "\"'":
            return self.fault("the text is not closed", position, f"a closing {character!r}")
        if character in "=;":
            return self.fault(
                f"unexpected {character!r}", position, "'==' to compare; assignments are not part of this language"
            )
        return self.fault(f"unexpected {character!r}", position, "an expression")

    def hole(self, position: int) -> tuple[Node, int]:
        """The expression that begins here, and where its closing brace ends."""
        self.start(position)
        node = self.expression()
        if not self.at("}"):
            raise self.unexpected("an operator or '}'")
        # Not `expect`: what follows the brace is plain text and must not be read as a token.
        return node, self.token.end

    # -- expressions ---------------------------------------------------------------------------------------------------

    def expression(self) -> Node:
        condition = self.operation(_OR)
        if not self.accept("?"):
            return condition
        self.descend()
        self.choosing += 1
        positive = self.expression()
        self.choosing -= 1
        self.expect(":")
        negative = self.expression()
        self.ascend()
        return Conditional(condition, positive, negative, position=condition.position)

    def operation(self, power: int) -> Node:
        self.descend()
        left = self.operand()
        while (found := self.power()) >= power:
            left = self.infix(left, found)
        self.ascend()
        return left

    def power(self) -> int:
        return _POWERS.get(self.token.text, 0) if self.token.kind == "sign" else 0

    def infix(self, left: Node, power: int) -> Node:
        position = left.position
        if power <= _AND:
            sign = self.token.text
            items = [left]
            while self.accept(sign):
                items.append(self.operation(power + 1))
            return (Disjunction if power == _OR else Conjunction)(tuple(items), position=position)
        if power >= _ADD:
            rest: list[tuple[str, Node]] = []
            while self.power() == power:
                operator = self.advance().text
                rest.append((operator, self.operation(power + 1)))
            return Arithmetic(left, tuple(rest), position=position)
        operator = self.advance().text
        return Comparison("=" if operator == "==" else operator, left, self.operation(power + 1), position=position)

    def operand(self) -> Node:
        token = self.token
        if self.at("!", "-") or (token.kind == "name" and token.text == "empty"):
            self.descend()
            self.advance()
            operand = self.operand()
            self.ascend()
            kind = {"!": Not, "-": Negation}.get(token.text, Empty)
            return kind(operand, position=token.position)
        return self.postfix(self.primary())

    def postfix(self, node: Node) -> Node:
        position = node.position
        while True:
            if self.accept("."):
                name = self.member()
                if self.at("("):
                    node = Method(node, name, self.arguments(), position=position)
                else:
                    node = Path(node, name, position=position)
            elif self.accept("["):
                with self.brackets():
                    node = Index(node, self.expression(), position=position)
                self.expect("]")
            else:
                return node

    def primary(self) -> Node:
        token = self.token
        match token.kind:
            case "number" | "text":
                self.advance()
                return Literal(token.value, position=token.position)
            case "name":
                self.advance()
                return self.named(token)
        if self.accept("("):
            with self.brackets():
                node = self.expression()
            self.expect(")")
            return node
        raise self.unexpected("an expression")

    def named(self, token: Token) -> Node:
        name = token.text
        if name in JUEL_CONSTANTS:
            return Literal(JUEL_CONSTANTS[name], position=token.position)
        # `a ? b : c(1)` reads like the function `b:c`; where a `:` is owed, only known prefixes make a function.
        prefixed = self.at(":") and _FUNCTION_AFTER_COLON.match(self.text, self.token.position)
        if prefixed and (not self.choosing or name in VARIABLE_PREFIXES):
            self.advance()
            name += ":" + self.member()
        if self.at("("):
            return Call(Name(name, position=token.position), self.arguments(), position=token.position)
        return Name(name, position=token.position)

    def member(self) -> str:
        """A name after `.` or `:`; there words like `div` and `empty` are names too."""
        spelled = self.token.value if self.token.kind == "sign" else self.token.text
        if self.token.kind not in ("name", "sign") or not isinstance(spelled, str):
            raise self.unexpected("a name")
        self.advance()
        return spelled

    def arguments(self) -> tuple[Node, ...]:
        self.expect("(")
        arguments: list[Node] = []
        with self.brackets():
            while not self.at(")"):
                arguments.append(self.expression())
                if not self.accept(","):
                    break
        if not self.at(")"):
            raise self.unexpected("',' or ')'")
        self.advance()
        return tuple(arguments)

    @contextmanager
    def brackets(self) -> Iterator[None]:
        """Inside, no `?` outside waits for a `:`."""
        outside, self.choosing = self.choosing, 0
        yield
        self.choosing = outside
