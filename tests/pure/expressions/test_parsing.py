"""What the parsers read and what they refuse, table by table. Trees are shown by the printer, which brackets only
where it must.
"""

from __future__ import annotations

from decimal import Decimal

import pytest

from bpm.expressions import LimitFault, SyntaxFault, compile_text, compile_unary_tests
from bpm.expressions.parse_feel import parse_feel, parse_unary_tests
from bpm.expressions.parse_juel import parse_juel
from bpm.expressions.printer import print_tree
from bpm.expressions.tree import (
    Arithmetic,
    Call,
    Comparison,
    Conditional,
    Conjunction,
    Filter,
    Literal,
    Method,
    Name,
    Negation,
    Path,
    Range,
    Template,
    UnaryTests,
)
from bpm.expressions.tree import Test as OneTest

TREES = [
    (parse_feel, "1 + 2 - x", Arithmetic(Literal(1), (("+", Literal(2)), ("-", Name("x"))))),
    (parse_feel, "2 * 3 ** 4", Arithmetic(Literal(2), (("*", Arithmetic(Literal(3), (("**", Literal(4)),))),))),
    (parse_feel, "-1 ** 2", Arithmetic(Negation(Literal(1)), (("**", Literal(2)),))),
    (parse_feel, "a and b = 1", Conjunction((Name("a"), Comparison("=", Name("b"), Literal(1))))),
    (parse_feel, "Vacation  Status.end date", Path(Name("Vacation Status"), "end date")),
    (parse_feel, "`a-b` - 1", Arithmetic(Name("a-b"), (("-", Literal(1)),))),
    (parse_feel, 'date and time("x")', Call(Name("date and time"), (Literal("x"),))),
    (parse_feel, "f(start position: 1)", Call(Name("f"), (), (("start position", Literal(1)),))),
    (parse_feel, "xs[-1]", Filter(Name("xs"), Negation(Literal(1)))),
    (parse_feel, "]1..3[", Range(Literal(1), Literal(3), False, False)),
    (parse_feel, "[1..x[", Range(Literal(1), Name("x"), True, False)),
    (parse_feel, "[1..xs[2]]", Range(Literal(1), Filter(Name("xs"), Literal(2)), True, True)),
    (parse_feel, "1e3", Literal(Decimal("1E+3"))),
    (parse_feel, "9" * 40, Literal(Decimal("1E+40"))),
    (parse_feel, r'"\u00e4\t\"\uD83D\uDC0E\U01F40E\uD83D"', Literal('ä\t"🐎🐎\ufffd')),
    (parse_feel, "1 // one\n /* and */ + 2", Arithmetic(Literal(1), (("+", Literal(2)),))),
    (parse_unary_tests, "-", UnaryTests(())),
    (parse_unary_tests, "", UnaryTests(())),
    (
        parse_unary_tests,
        "< 5, ? > 7",
        UnaryTests((OneTest("<", Literal(5)), OneTest(None, Comparison(">", Name("?"), Literal(7)), True))),
    ),
    (parse_unary_tests, "not(1, 2)", UnaryTests((OneTest(None, Literal(1)), OneTest(None, Literal(2))), negated=True)),
    (
        parse_unary_tests,
        "not(x) = y",
        UnaryTests((OneTest(None, Comparison("=", Call(Name("not"), (Name("x"),)), Name("y"))),)),
    ),
    (parse_juel, "plain", Literal("plain")),
    (parse_juel, " ${x} ", Name("x")),
    (parse_juel, "a ${x}#{y}", Template((Literal("a "), Name("x"), Name("y")))),
    (parse_juel, r"\${x} \\#{y}", Literal(r"${x} \#{y}")),
    (parse_juel, "Task${'Case'}", Literal("TaskCase")),
    (parse_juel, "${a ? b:c(1)}", Conditional(Name("a"), Name("b"), Call(Name("c"), (Literal(1),)))),
    (parse_juel, "${vars:get(x)}", Call(Name("vars:get"), (Name("x"),))),
    (parse_juel, "${a.div.empty()}", Method(Path(Name("a"), "div"), "empty", ())),
    (parse_juel, "${'it\\'s }'}", Literal("it's }")),
    (parse_juel, "$5 and #1", Literal("$5 and #1")),
]


@pytest.mark.parametrize(("parse", "text", "tree"), TREES)
def test_trees(parse, text, tree):
    assert parse(text) == tree


FEEL = [
    ("((1))", "1"),
    ("(1 + 2) * 3 + (4 - 5) - (6)", "(1 + 2) * 3 + (4 - 5) - 6"),
    ("a or b and not(c)", "a or b and not(c)"),
    ("if a then b else if c then d else e", "if a then b else if c then d else e"),
    ("1 + (if a then 1 else 2)", "1 + (if a then 1 else 2)"),
    ("for i in 1..3, j in [1, 2] return i * j", "for i in [1..3], j in [1, 2] return i * j"),
    ("some x in xs satisfies x > 1", "some x in xs satisfies x > 1"),
    ("every x in xs satisfies x.y in (1, > 3)", "every x in xs satisfies x.y in (1, > 3)"),
    ("x in [1..3]", "x in ([1..3])"),
    ("x in (1..3)", "x in ((1..3))"),
    ("x in > 3", "x in (> 3)"),
    ("x in (y).z[1] + 2", "x in (y.z[1] + 2)"),
    ("x between 1 and 2 and y", "x between 1 and 2 and y"),
    ('{a b: 1, "c-d": a b + 1}', '{a b: 1, "c-d": a b + 1}'),
    ("function(a: list<number>, b) external {java: {}}", "function(a: list<number>, b) external {java: {}}"),
    (
        "x instance of function<number, any> -> context<a: range<date>>",
        "x instance of function<number, any> -> context<a: range<date>>",
    ),
    ("x instance of years and months duration", "x instance of years and months duration"),
    ("(> 3)", "(> 3)"),
    ("[(< 3), >= 4]", "[(< 3), (>= 4)]"),
    ('@"P1D" + @"2024-01-01"', '@"P1D" + @"2024-01-01"'),
    ("xs[item > 1].name with space", "xs[item > 1].name with space"),
    ("get or else(a, 1)", "get or else(a, 1)"),
]


@pytest.mark.parametrize(("text", "shown"), FEEL)
def test_feel_is_printed_as_it_was_read(text, shown):
    tree = parse_feel(text)
    assert print_tree(tree, "feel") == shown
    assert parse_feel(shown) == tree


JUEL = [
    ("${a && b and c || !d or not e}", "${a && b && c || !d || !e}"),
    ("${a lt 1 eq (b ge 2)}", "${a < 1 == b >= 2}"),
    ("${(a == b) < c}", "${(a == b) < c}"),
    ("${a ne b eq c}", "${a != b == c}"),
    ("${1 + 2 mod 3 div -4}", "${1 + 2 % 3 / -4}"),
    ("${empty a ? b : (c ? d : e)}", "${empty a ? b : c ? d : e}"),
    ("${not empty a.b['c'][0].d(1, \"x\")}", '${!empty a.b["c"][0].d(1, "x")}'),
    ("Dear #{name}, ${1+1} \\${x}", "Dear ${name}, ${1 + 1} \\${x}"),
    ("${(1).intValue()}", "${(1).intValue()}"),
    ("${x ? (fn:a(y)) : z}", "${x ? (fn:a(y)) : z}"),
    ("${näme$1}", "${näme$1}"),
]


@pytest.mark.parametrize(("text", "shown"), JUEL)
def test_juel_is_printed_as_it_was_read(text, shown):
    tree = parse_juel(text)
    assert print_tree(tree, "juel") == shown
    assert parse_juel(shown) == tree


def test_names_in_scope_decide_where_a_name_ends():
    minus = Arithmetic(Name("net"), (("-", Name("amount")),))
    assert parse_feel("net-amount") == minus
    assert parse_feel("net - amount", {"net-amount"}) == Name("net-amount")
    assert parse_feel("net-amounts", {"net-amount"}) == Arithmetic(Name("net"), (("-", Name("amounts")),))
    assert parse_feel("a and b", {"a and b", "a"}) == Name("a and b")
    inside = parse_feel("[for x-1 in y return x-1, x-1]")
    assert print_tree(inside, "feel") == "[for `x-1` in y return `x-1`, x - 1]"


def test_positions_are_places_in_the_text():
    conditional = parse_feel("if a then b.c else f(1)")
    assert [conditional.position, conditional.positive.position, conditional.negative.position] == [0, 10, 19]
    assert [part.position for part in parse_juel("ab ${c} d ${ e + 1}").parts] == [0, 5, 7, 13]


BROKEN = [
    # text, position, what is unexpected, what was expected
    ("=1 +", 4, "the end", "an expression"),
    ("=a b: 1", 4, "':'", "an operator or the end"),
    ("=(1", 3, "the end", "')'"),
    ("=[1, 2", 6, "the end", "',' or ']'"),
    ("=f(1", 4, "the end", "',' or ')'"),
    ("=f(a: 1, 2)", 10, "arguments are named or not", "names for all"),
    ("={a 1}", 5, "'}'", "':'"),
    ("=if a then b", 12, "the end", "'else'"),
    ("=for x return x", 15, "the end", "'in'"),
    ("=[1..2", 6, "the end", "to close the range"),
    ("=x instance number", 12, "'number'", "'of'"),
    ("=x instance of 5", 15, "'5'", "a type"),
    ("=@5", 2, "'5'", "a text"),
    ("='x'", 1, '"\'"', "double quotes"),
    ('="x', 1, "not closed", "a closing"),
    ("=1 /* x", 3, "comment is not closed", "'*/'"),
    ("=a.1", 2, "'.1'", "an operator"),
    ("=1e9999", 1, "too large", "exponent of 6144"),
    ("=a § b", 3, "'§'", "an expression"),
    ("  = 1 + ", 8, "the end", "an expression"),
    ("${a", 3, "the end", "'}'"),
    ("${}", 2, "'}'", "an expression"),
    ("x ${a b} y", 6, "'b'", "an operator or '}'"),
    ("${a = 1}", 4, "'='", "'=='"),
    ("${f(1}", 5, "'}'", "',' or ')'"),
    ("${a ? b}", 7, "'}'", "':'"),
    ("${a.}", 4, "'}'", "a name"),
    ("${'a}", 2, "not closed", "a closing"),
    ("${{}}", 2, "'{'", "an expression"),
    ("${1e9999}", 2, "too large", "exponent of 6144"),
]


@pytest.mark.parametrize(("text", "position", "message", "expected"), BROKEN)
def test_faults_name_text_place_and_what_was_expected(text, position, message, expected):
    with pytest.raises(SyntaxFault) as caught:
        compile_text(text)
    fault = caught.value
    assert (fault.text, fault.position) == (text, position)
    assert message in fault.message
    assert expected in fault.expected
    assert repr(text) in str(fault)


@pytest.mark.parametrize(
    ("text", "position"), [("not(", 4), ("not(> )", 6), ("> 1, ", 5), ("1 2 3 +", 2), ("< ", 2), ("not(1) not(2)", 7)]
)
def test_faults_in_unary_tests(text, position):
    with pytest.raises(SyntaxFault) as caught:
        compile_unary_tests(text)
    assert (caught.value.text, caught.value.position) == (text, position)


@pytest.mark.parametrize(
    ("text", "language", "given"),
    [
        ("= 1 + 1", None, "feel"),
        ("\n =x", None, "feel"),
        ("1 + 1", "feel", "feel"),
        ("=1", "feel", "feel"),
        ("${a}", None, "juel"),
        ("Dear #{a}", None, "juel"),
        ("plain", "juel", "juel"),
        ("plain = text", None, None),
        ("", None, None),
        ("a$ {b}", None, None),
    ],
)
def test_the_text_says_its_language(text, language, given):
    assert compile_text(text, language=language).language == given


def test_plain_text_is_its_own_value():
    compiled = compile_text("just text")
    assert compiled.evaluate({}) == "just text"
    assert compiled.constant
    assert not compiled.names


def test_compiling_again_is_a_lookup():
    assert compile_text("${a + 1}") is compile_text("${a + 1}")
    assert compile_text("=a-b", names=frozenset({"a-b"})) is not compile_text("=a-b")


@pytest.mark.parametrize("nested", ["=" + "(" * 500 + "1" + ")" * 500, "${" + "!" * 500 + "a}", "=x" + ".a" * 500])
def test_nesting_ends_in_a_limit(nested):
    with pytest.raises(LimitFault) as caught:
        compile_text(nested)
    assert caught.value.text == nested
