"""Large models compile quickly."""

from __future__ import annotations

from time import perf_counter

from bpm.compiler import compile_bpmn
from tests.pure.compiler.writing import line, written


def test_a_model_of_2000_nodes_compiles_in_two_seconds():
    tasks = [f'<serviceTask id="t{n}" camunda:type="external" camunda:topic="${{topic{n}}}"/>' for n in range(2000)]
    data = written(line(*tasks))
    before = perf_counter()
    found = compile_bpmn(data)
    assert perf_counter() - before < 2
    assert (len(found.processes[0].nodes), found.errors) == (2002, ())


def test_many_inclusive_joins_do_not_explode():
    gateways = [f'<inclusiveGateway id="g{n}"/>' for n in range(300)]
    more = "".join(f'<sequenceFlow id="h{n}" sourceRef="g{n}" targetRef="g{n + 1}"/>' for n in range(299))
    data = written(line(*gateways) + more)
    before = perf_counter()
    found = compile_bpmn(data)
    assert perf_counter() - before < 2
    assert len(found.processes[0].reach) == 299


def test_deep_subprocesses_compile():
    depth = 90
    inner = "".join(f'<subProcess id="p{n}"><startEvent id="i{n}"/>' for n in range(depth)) + "</subProcess>" * depth
    found = compile_bpmn(written(f'<startEvent id="s"/>{inner}<sequenceFlow id="f" sourceRef="s" targetRef="p0"/>'))
    assert (len(found.processes[0].scopes), found.errors) == (depth + 1, ())
