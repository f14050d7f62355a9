"""The one tree that FEEL and JUEL parse to.

Every node is frozen and carries `position`, the character of the source where it begins (positions do not count when
trees are compared). What a node *means* depends on the language that compiles it (`feel_compile`, `juel_compile`),
because the languages must differ: FEEL `1 = "1"` is null, JUEL's is true; FEEL counts from 1, JUEL from 0; an unknown
name is null in FEEL and a fault in JUEL. Which nodes a language uses is said below; a compiler never meets the
other's.

Operators are written as FEEL writes them: a JUEL `==`, `eq` is "=", `ne` is "!=", `div` is "/", `mod` is "%".
Chains of one precedence (`a + b - c`, `a and b and c`) are single flat nodes, so that 2,000 terms need no recursion.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

type Constant = bool | int | Decimal | str | None
"""A literal's value. A number without point or exponent and of at most 34 digits is an int, any other a Decimal of 34
digits.
"""


@dataclass(frozen=True, slots=True)
class Node:
    """A piece of an expression; position: its first character in the source."""

    position: int = field(compare=False, kw_only=True, default=0)


# -- both languages ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """`1`, `"a"`, `true`, `null`, and the plain text of a template."""

    value: Constant


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A variable, host object or function by its name; words joined by one space (`date and time`), JUEL's `ns:name`
    whole.

    FEEL's `?` is the name of a unary test's input, `item` that of a filter's item, `partial` that of the results so
    far of a `for`.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Path(Node):
    """`source.name`."""

    source: Node
    name: str


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`function(a, b)` or, in FEEL only, `function(x: a, y: b)`: then arguments is empty and named is not.

    In FEEL function is any expression (`Name`, a `Path` to a context's function, a `Function`); in JUEL always a
    `Name`.
    """

    function: Node
    arguments: tuple[Node, ...]
    named: tuple[tuple[str, Node], ...] = ()


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    """`first op1 x1 op2 x2 ...`, from left to right, all of one precedence.

    rest: (operator, operand) pairs, never empty; the operators of one node are all of `+ -`, or all of `* / %`, or
    all `**` (`**` is FEEL's, `%` is JUEL's).
    """

    first: Node
    rest: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Negation(Node):
    """`-operand`. (A negative number is Negation(Literal).)"""

    operand: Node


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    """`left operator right`; operator is one of `= != < <= > >=`."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Conjunction(Node):
    """`a and b and c`: two items or more. Three-valued in FEEL, short-circuit in both."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Disjunction(Node):
    """`a or b or c`: two items or more."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    """`if condition then positive else negative`; JUEL's `condition ? positive : negative`."""

    condition: Node
    positive: Node
    negative: Node


# -- JUEL only ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Template(Node):
    """Text with holes, `Order ${id} of ${name}`: the texts of all parts joined. Two parts or more.

    A text that is one `${...}` alone is that expression itself and keeps its type; a text without holes is a Literal.
    """

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Index(Node):
    """`source[key]`: an item of a list from 0, an entry of a map, a member by a computed name."""

    source: Node
    key: Node


@dataclass(frozen=True, slots=True)
class Method(Node):
    """`source.name(arguments)`: a whitelisted method of a value, a host object's method, or a bean's."""

    source: Node
    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not(Node):
    """`!operand`, `not operand`. (FEEL's `not(x)` is a Call of the function `not`.)"""

    operand: Node


@dataclass(frozen=True, slots=True)
class Empty(Node):
    """`empty operand`: null, "", an empty list or map."""

    operand: Node


# -- FEEL only (DMN 1.5, chapter 10.3) ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AtLiteral(Node):
    """`@"2024-01-31T10:00"`: a date, time, date and time or duration by its text (unescaped, unchecked; null if it is
    none).
    """

    text: str


@dataclass(frozen=True, slots=True)
class ListOf(Node):
    """`[a, b, c]`."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class ContextOf(Node):
    """`{key: value, ...}`: entries in order; each value sees the entries before it by their keys. Keys may repeat
    (FEEL: null).
    """

    entries: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Range(Node):
    """`[low..high]`, `(low..high)`, `]low..high[`; closed says whether the end itself belongs to it.

    In an iteration domain `for i in 1..3` it is written without brackets and means both ends closed.
    """

    low: Node
    high: Node
    low_closed: bool
    high_closed: bool


@dataclass(frozen=True, slots=True)
class HalfRange(Node):
    """`(< 10)`, `(>= 10)`, `(= 10)`, `(!= 10)`: a range value with one end, written in brackets or as an item of a
    list.
    """

    operator: str
    bound: Node


@dataclass(frozen=True, slots=True)
class Filter(Node):
    """`source[condition]`: the items for which the condition holds, or the item at a number (from 1; from -1
    backwards).

    Inside the condition the item is `item`, and an item that is a context also gives its entries as names.
    """

    source: Node
    condition: Node


@dataclass(frozen=True, slots=True)
class Between(Node):
    """`value between low and high`, ends included."""

    value: Node
    low: Node
    high: Node


@dataclass(frozen=True, slots=True)
class Test(Node):
    """One unary test of a value.

    operator: `< <= > >= = !=` to compare the value with the operand; None when the operand is an expression: then it
    is met if it says so itself (uses_input and true), equals the value, contains it (list, range), or a list of tests
    holds one that is met. uses_input: the operand mentions `?`.
    """

    operator: str | None
    operand: Node
    uses_input: bool = False


@dataclass(frozen=True, slots=True)
class In(Node):
    """`value in test`, `value in (test, test)`: whether one of the tests is met. Inside, `?` is the value."""

    value: Node
    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class UnaryTests(Node):
    """A cell of a decision table. The input is the name `?`.

    `-` has no tests and is met by anything; otherwise met if one test is; negated: `not(...)` around them.
    """

    tests: tuple[Test, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Iterator(Node):
    """`name in domain`, one of the lists (or ranges) a `for`, `some` or `every` runs over; later domains see earlier
    names.
    """

    name: str
    domain: Node


@dataclass(frozen=True, slots=True)
class For(Node):
    """`for x in xs, y in ys return result`: the results as a list; `partial` is the list so far."""

    iterators: tuple[Iterator, ...]
    result: Node


@dataclass(frozen=True, slots=True)
class Quantified(Node):
    """`some x in xs satisfies condition` or, with every, `every x in xs satisfies condition`."""

    every: bool
    iterators: tuple[Iterator, ...]
    condition: Node


@dataclass(frozen=True, slots=True)
class InstanceOf(Node):
    """`value instance of type`."""

    value: Node
    type: TypeNode


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """A parameter of a function with its type, if it has one."""

    name: str
    type: TypeNode | None = None


@dataclass(frozen=True, slots=True)
class Function(Node):
    """`function(a, b: number) body`. external: its body is Java or PMML, which is never run (such a function gives
    null).
    """

    parameters: tuple[Parameter, ...]
    body: Node
    external: bool = False


# -- FEEL types --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeNode(Node):
    """A type as written after `instance of` or a parameter's `:`."""


@dataclass(frozen=True, slots=True)
class NamedType(TypeNode):
    """`number`, `date and time`, `tItem`, `imported.tItem`, and the bare words `list`, `context`, `range`,
    `function`.
    """

    name: str


@dataclass(frozen=True, slots=True)
class ListType(TypeNode):
    """`list<element>`."""

    element: TypeNode


@dataclass(frozen=True, slots=True)
class RangeType(TypeNode):
    """`range<element>`."""

    element: TypeNode


@dataclass(frozen=True, slots=True)
class ContextType(TypeNode):
    """`context<a: number, b: string>`."""

    entries: tuple[tuple[str, TypeNode], ...]


@dataclass(frozen=True, slots=True)
class FunctionType(TypeNode):
    """`function<number, string> -> boolean`; result is None where none is given."""

    parameters: tuple[TypeNode, ...]
    result: TypeNode | None
