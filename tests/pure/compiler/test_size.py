"""Large models compile. How long that takes is printed (pytest -s), and decides nothing: machines differ."""

from __future__ import annotations

from time import process_time

from bpm.compiler import Compiled, compile_bpmn
from tests.pure.compiler.writing import line, written


def test_a_model_of_2000_nodes_compiles():
    tasks = [f'<serviceTask id="t{n}" camunda:type="external" camunda:topic="${{topic{n}}}"/>' for n in range(2000)]
    data = written(line(*tasks))
    found = timed("2,000 nodes", data)
    assert (len(found.processes[0].nodes), found.errors) == (2002, ())


def test_many_inclusive_joins_do_not_explode():
    gateways = [f'<inclusiveGateway id="g{n}"/>' for n in range(300)]
    more = "".join(f'<sequenceFlow id="h{n}" sourceRef="g{n}" targetRef="g{n + 1}"/>' for n in range(299))
    data = written(line(*gateways) + more)
    found = timed("300 inclusive gateways", data)
    assert len(found.processes[0].reach) == 299


def test_deep_subprocesses_compile():
    depth = 90
    inner = "".join(f'<subProcess id="p{n}"><startEvent id="i{n}"/>' for n in range(depth)) + "</subProcess>" * depth
    found = compile_bpmn(written(f'<startEvent id="s"/>{inner}<sequenceFlow id="f" sourceRef="s" targetRef="p0"/>'))
    assert (len(found.processes[0].scopes), found.errors) == (depth + 1, ())


def timed(what: str, data: bytes) -> Compiled:
    """The compiled file; prints what it took."""
    before = process_time()
    found = compile_bpmn(data)
    print(f"{what}: compiled in {process_time() - before:.2f} s")
    return found
