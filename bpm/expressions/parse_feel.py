"""FEEL texts to trees: the whole grammar of DMN 1.5 (10.3.1.2), unary tests included, and Camunda's backtick names.

One loop over binding powers instead of the grammar's ladder of rules. Nothing is ever tried twice except the leading
`not(` of unary tests, so that parsing takes linear time whatever comes in. Names that no operator separates are one
name: `Vacation Status.email` needs no scope, `a-b` as a name does.
"""

from __future__ import annotations

from collections.abc import Iterable

from bpm.expressions.cursor import Token
from bpm.expressions.cursor_feel import FeelCursor
from bpm.expressions.errors import SyntaxFault
from bpm.expressions.lex_feel import names_an_argument
from bpm.expressions.parse_feel_types import parse_type
from bpm.expressions.tree import (
    Arithmetic,
    AtLiteral,
    Between,
    Call,
    Comparison,
    Conditional,
    Conjunction,
    ContextOf,
    Disjunction,
    Filter,
    For,
    Function,
    HalfRange,
    In,
    InstanceOf,
    ListOf,
    Literal,
    Name,
    Negation,
    Node,
    Parameter,
    Path,
    Quantified,
    Range,
    Test,
    UnaryTests,
)
from bpm.expressions.tree import Iterator as Domain
from bpm.expressions.vocabulary import FEEL_CONSTANTS
from bpm.expressions.walkers import uses_input

_OR, _AND, _COMPARE, _ADD, _MULTIPLY, _POWER, _UNARY = range(1, 8)
_POWERS = {
    "or": _OR,
    "and": _AND,
    **dict.fromkeys(("=", "!=", "<", "<=", ">", ">=", "between", "in", "instance"), _COMPARE),
    **dict.fromkeys(("+", "-"), _ADD),
    **dict.fromkeys(("*", "/"), _MULTIPLY),
    "**": _POWER,
}
_COMPARING = ("<=", ">=", "<", ">", "!=", "=")
_BEGINS = frozenset({"(", "[", "]", "{", "-", "@"})
"""Signs an expression can begin with."""


def parse_feel(text: str, names: Iterable[str] = ()) -> Node:
    """The tree of a FEEL expression. names: the names in scope (those with spaces or signs matter); SyntaxFault,
    LimitFault.
    """
    parser = _Parser(text, names)
    parser.start(0)
    tree = parser.expression()
    parser.end()
    return tree


def parse_unary_tests(text: str, names: Iterable[str] = ()) -> UnaryTests:
    """The tree of a decision table's cell; an empty cell is as good as `-`. SyntaxFault, LimitFault."""
    parser = _Parser(text, names)
    parser.start(0)
    if parser.token.kind == "end" or (parser.at("-") and parser.peek().kind == "end"):
        return UnaryTests((), position=parser.token.position)
    failed: SyntaxFault | None = None
    if parser.token.text == "not" and parser.peek().text == "(":
        try:
            tests = parser.negated_tests()
            if tests is not None:
                return tests
        except SyntaxFault as fault:
            failed = fault
        parser = _Parser(text, names)
        parser.start(0)
    position = parser.token.position
    try:
        tests = UnaryTests(parser.tests(), position=position)
        parser.end()
    except SyntaxFault as fault:
        # Read as an expression it failed as well: the reading that came further knows better what is wrong.
        if failed is not None and (failed.position or 0) > (fault.position or 0):
            raise failed from None
        raise
    return tests


class _Parser(FeelCursor):
    # -- expressions ---------------------------------------------------------------------------------------------------

    def expression(self) -> Node:
        return self.operation(_OR)

    def operation(self, power: int) -> Node:
        self.descend()
        left = self.operand()
        while (found := self.power()) >= power:
            left = self.infix(left, found)
        self.ascend()
        return left

    def power(self) -> int:
        return _POWERS.get(self.token.text, 0) if self.token.kind in ("sign", "word") else 0

    def infix(self, left: Node, power: int) -> Node:
        position = left.position
        if power <= _AND:
            word = self.token.text
            items = [left]
            while self.accept(word):
                items.append(self.operation(power + 1))
            kind = Disjunction if power == _OR else Conjunction
            return kind(tuple(items), position=position)
        if power >= _ADD:
            rest = []
            while self.power() == power:
                operator = self.advance().text
                rest.append((operator, self.operation(power + 1)))
            return Arithmetic(left, tuple(rest), position=position)
        operator = self.advance().text
        if operator == "between":
            low = self.operation(_ADD)
            self.expect("and")
            return Between(left, low, self.operation(_ADD), position=position)
        if operator == "in":
            return In(left, self.tests_of_in(), position=position)
        if operator == "instance":
            if self.token.text != "of":
                raise self.unexpected("'of'")
            self.advance()
            return InstanceOf(left, parse_type(self), position=position)
        return Comparison(operator, left, self.operation(_ADD), position=position)

    def operand(self) -> Node:
        position = self.token.position
        if self.accept("-"):
            return Negation(self.operation(_UNARY), position=position)
        return self.postfix(self.primary())

    def postfix(self, node: Node) -> Node:
        while True:
            if self.at("("):
                node = self.call(node)
            elif self.at("[") and not (self.in_range and self.closes_range()):
                self.advance()
                with self.brackets():
                    node = Filter(node, self.expression(), position=node.position)
                self.expect("]")
            elif self.accept("."):
                node = Path(node, self.member(), position=node.position)
            else:
                return node

    def primary(self) -> Node:
        token = self.token
        match token.kind:
            case "number" | "text":
                return Literal(self.advance().value, position=token.position)
            case "name":
                return Name(self.words(), position=token.position)
            case "word":
                return self.worded(token)
            case "sign":
                return self.bracketed(token)
        raise self.unexpected("an expression")

    def worded(self, token: Token) -> Node:
        """A literal or a construct that begins with a word of the language."""
        position = token.position
        if token.text in FEEL_CONSTANTS:
            self.advance()
            return Literal(FEEL_CONSTANTS[token.text], position=position)
        match token.text:
            case "if":
                self.advance()
                condition = self.expression()
                self.expect("then")
                positive = self.expression()
                self.expect("else")
                return Conditional(condition, positive, self.expression(), position=position)
            case "for":
                self.advance()
                with self.scope():
                    iterators = self.iterators()
                    self.expect("return")
                    return For(iterators, self.expression(), position=position)
            case "some" | "every":
                self.advance()
                with self.scope():
                    iterators = self.iterators()
                    self.expect("satisfies")
                    return Quantified(token.text == "every", iterators, self.expression(), position=position)
            case "function":
                self.advance()
                with self.scope():
                    return self.function(position)
        raise self.unexpected("an expression")

    def bracketed(self, token: Token) -> Node:
        """A range, a list, a context, an expression in brackets, an at-literal."""
        position = token.position
        match token.text:
            case "@":
                self.advance()
                if self.token.kind != "text":
                    raise self.unexpected("a text")
                return AtLiteral(str(self.advance().value), position=position)
            case "(":
                self.advance()
                with self.brackets():
                    node = self.half_range(position) or self.expression()
                if self.at(".."):
                    return self.range(node, closed=False, position=position)
                self.expect(")")
                return node
            case "]":
                self.advance()
                with self.brackets():
                    node = self.expression()
                return self.range(node, closed=False, position=position)
            case "[":
                return self.list(position)
            case "{":
                self.advance()
                with self.brackets(), self.scope():
                    entries = self.entries()
                self.expect("}")
                return ContextOf(entries, position=position)
        raise self.unexpected("an expression")

    # -- the parts of expressions --------------------------------------------------------------------------------------

    def half_range(self, position: int) -> Node | None:
        if not self.at(*_COMPARING):
            return None
        operator = self.advance().text
        return HalfRange(operator, self.operation(_ADD), position=position)

    def range(self, low: Node, closed: bool, position: int) -> Node:
        self.expect("..")
        outside, self.in_range = self.in_range, True
        high = self.operation(_ADD)
        self.in_range = outside
        if not self.at("]", ")", "["):
            raise self.unexpected("']', ')' or '[' to close the range")
        return Range(low, high, closed, self.advance().text == "]", position=position)

    def closes_range(self) -> bool:
        """Whether the `[` here closes a range: what follows it cannot begin the condition of a filter."""
        following = self.peek()
        match following.kind:
            case "end":
                return True
            case "sign":
                return following.text not in _BEGINS
            case "word":
                return following.text in _POWERS or following.text in ("then", "else", "return", "satisfies")
        return False

    def list(self, position: int) -> Node:
        self.advance()
        items: list[Node] = []
        with self.brackets():
            while not self.at("]"):
                items.append(self.half_range(self.token.position) or self.expression())
                if self.at("..") and len(items) == 1:
                    break
                if not self.accept(","):
                    break
        if self.at("..") and len(items) == 1:
            return self.range(items[0], closed=True, position=position)
        if not self.at("]"):
            raise self.unexpected("',' or ']'")
        self.advance()
        return ListOf(tuple(items), position=position)

    def entries(self) -> tuple[tuple[str, Node], ...]:
        entries: list[tuple[str, Node]] = []
        while not self.at("}"):
            key = str(self.advance().value) if self.token.kind == "text" else self.declared(":", ",", "}")
            self.expect(":")
            entries.append((key, self.expression()))
            self.declare(key)
            if not self.accept(","):
                break
        return tuple(entries)

    def call(self, function: Node) -> Node:
        self.expect("(")
        positional: list[Node] = []
        named: list[tuple[str, Node]] = []
        with self.brackets():
            while not self.at(")"):
                if names_an_argument(self.text, self.token):
                    name = self.declared(":")
                    self.expect(":")
                    named.append((name, self.expression()))
                else:
                    positional.append(self.expression())
                if positional and named:
                    raise self.fault(
                        "arguments are named or not", self.token.position, "names for all arguments or for none"
                    )
                if not self.accept(","):
                    break
        if not self.at(")"):
            raise self.unexpected("',' or ')'")
        self.advance()
        return Call(function, tuple(positional), tuple(named), position=function.position)

    def iterators(self) -> tuple[Domain, ...]:
        iterators: list[Domain] = []
        while True:
            position = self.token.position
            name = self.declared("in")
            self.expect("in")
            domain = self.expression()
            if self.accept(".."):
                domain = Range(domain, self.expression(), True, True, position=domain.position)
            iterators.append(Domain(name, domain, position=position))
            self.declare(name)
            if not self.accept(","):
                return tuple(iterators)

    def function(self, position: int) -> Node:
        self.expect("(")
        parameters: list[Parameter] = []
        while not self.at(")"):
            start = self.token.position
            name = self.declared(":", ",", ")")
            type_ = parse_type(self) if self.accept(":") else None
            parameters.append(Parameter(name, type_, position=start))
            self.declare(name)
            if not self.accept(","):
                break
        self.expect(")")
        external = self.token.kind == "name" and self.token.text == "external" and self.peek().text == "{"
        if external:
            self.advance()
        return Function(tuple(parameters), self.expression(), external, position=position)

    # -- unary tests ---------------------------------------------------------------------------------------------------

    def tests(self) -> tuple[Test, ...]:
        tests = [self.test()]
        while self.accept(","):
            tests.append(self.test())
        return tuple(tests)

    def test(self) -> Test:
        position = self.token.position
        operator = self.advance().text if self.at(*_COMPARING) else None
        operand = self.operation(_ADD) if operator else self.expression()
        return Test(operator, operand, uses_input(operand), position=position)

    def negated_tests(self) -> UnaryTests | None:
        """`not(tests)` when that is all there is."""
        position = self.advance().position
        self.expect("(")
        with self.brackets():
            tests = self.tests()
        self.expect(")")
        return UnaryTests(tests, negated=True, position=position) if self.token.kind == "end" else None

    def tests_of_in(self) -> tuple[Test, ...]:
        """What follows `in`: one test, or several in brackets (which may turn out to be a range or an expression in
        brackets).
        """
        position = self.token.position
        if not self.at("("):
            if self.at(*_COMPARING):
                return (self.test(),)
            return (self.plain_test(self.operation(_ADD), position),)
        self.advance()
        with self.brackets():
            tests = self.tests()
        if len(tests) > 1 or tests[0].operator is not None:
            self.expect(")")
            return tests
        node = tests[0].operand
        if self.at(".."):
            node = self.range(node, closed=False, position=position)
        else:
            self.expect(")")
        node = self.postfix(node)
        while (found := self.power()) >= _ADD:
            node = self.infix(node, found)
        return (self.plain_test(node, position),)

    def plain_test(self, operand: Node, position: int) -> Test:
        return Test(None, operand, uses_input(operand), position=position)
