"""Which variables an expression may read, and whether it reads anything else."""

from __future__ import annotations

import pytest

from bpm.expressions import compile_text, compile_unary_tests
from bpm.expressions.feel_functions import BUILT_IN
from bpm.expressions.parse_juel import parse_juel
from bpm.expressions.vocabulary import FEEL_BUILTINS
from bpm.expressions.walkers import beans_called, children, height, walk

READS = [
    # text, names, dynamic, constant
    ("=1 + 1", "", False, True),
    ("=a + b.c", "a b", False, False),
    ("=string length(s)", "s", False, False),
    ("=count(count)", "count", False, False),
    ("=f(x)", "f x", False, False),
    ("=now()", "", False, False),
    ("=for i in xs, j in i.ys return i + j + k", "xs k", False, False),
    ("=some x in xs satisfies x > limit", "xs limit", False, False),
    ("={a: b, c: a + d}.c", "b d", False, False),
    ("={a: a}.a", "a", False, False),
    ("=(function(x, y) x + z)(1, 2)", "z", False, False),
    ("=xs[item > y]", "xs y", False, False),
    ("=xs[price > 1]", "xs price", False, False),
    ("=for i in 1..3 return partial", "", False, True),
    ("${1 + 1}", "", False, True),
    ("${a.b[c].d(e)}", "a c e", False, False),
    ("${execution.businessKey}", "", False, False),
    ('${execution.getVariable("x") > y}', "x y", False, False),
    ("${task.hasVariable('x')}", "x", False, False),
    ("${execution.getVariable(n)}", "n", True, False),
    ("${execution.getVariables()}", "", True, False),
    ("${execution.variables.x}", "", True, False),
    ("${execution[n]}", "n", True, False),
    ("${execution.setVariable('x', 1)}", "", False, False),
    ("${now()}", "", False, False),
    ("${vars:get(x)} ${vars:eq('y', z)}", "x y z", False, False),
    ("${vars:get(x.y)}", "x", True, False),
    ("${bean.method(a)}", "bean a", False, False),
]


@pytest.mark.parametrize(("text", "names", "dynamic", "constant"), READS)
def test_reads(text, names, dynamic, constant):
    compiled = compile_text(text)
    assert compiled.names == set(names.split())
    assert (compiled.dynamic, compiled.constant) == (dynamic, constant)


def test_unary_tests_read_their_input_besides_names():
    tests = compile_unary_tests("> a, ? = b")
    assert tests.names == {"a", "b"}
    assert not compile_unary_tests("> 1").constant


def test_beans_are_known_before_they_are_called():
    tree = parse_juel("${a.b(c.d(1), execution.getVariable('x'))} ${ns:f(1)} ${a.b.c()}")
    assert beans_called(tree) == {"a.b", "c.d", "ns:f"}


def test_built_in_functions_are_known_by_name():
    assert set(BUILT_IN) == FEEL_BUILTINS


def test_walking_needs_no_recursion():
    tree = parse_juel("${" + "+".join(["a"] * 2000) + "}")
    assert len(list(walk(tree))) == 2001
    assert len(list(children(tree))) == 2000
    assert height(tree) == 2
