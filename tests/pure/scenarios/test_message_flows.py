"""Message flows between the pools of one file are delivered."""

from __future__ import annotations

from itertools import pairwise

from tests.pure.scenarios.writing import HEAD, perform, told

MESSAGE = "<messageEventDefinition/>"


def pools(flows: str, buyer: str, seller: str) -> str:
    drawn = (
        '<collaboration id="c"><participant id="p1" processRef="buyer"/><participant id="p2" processRef="seller"/>'
        f"{flows}</collaboration>"
    )
    return f'{HEAD}<message id="m1" name="order"/>{drawn}{buyer}{seller}</definitions>'


def lane(id: str, *nodes: str) -> str:
    ids = [node.split('id="')[1].split('"')[0] for node in nodes]
    flows = "".join(f'<sequenceFlow id="{a}_{b}" sourceRef="{a}" targetRef="{b}"/>' for a, b in pairwise(ids))
    return f'<process id="{id}" isExecutable="true">{"".join(nodes)}{flows}</process>'


BUYER = lane(
    "buyer",
    '<startEvent id="s"/>',
    '<sendTask id="Order"/>',
    f'<intermediateCatchEvent id="Answered">{MESSAGE}</intermediateCatchEvent>',
    '<endEvent id="e"/>',
)
SELLER = lane(
    "seller",
    '<startEvent id="Ordered"><messageEventDefinition messageRef="m1"/></startEvent>',
    '<userTask id="Look"/>',
    f'<endEvent id="Answer">{MESSAGE}</endEvent>',
)
FLOWS = (
    '<messageFlow id="f1" sourceRef="Order" targetRef="{to}"/>'
    '<messageFlow id="f2" sourceRef="Answer" targetRef="Answered"/>'
)
SCENARIO = """
    start: {process: buyer}
    steps:
      - expect: {passed: [s, Order, Ordered], waiting: [Answered, Look]}
      - complete: {activity: Look}
    expect: {passed: [Look, Answer, Answered, e], ended: true}
"""


def test_messages_go_where_they_are_drawn_to(tmp_path):
    assert told(perform(tmp_path, SCENARIO, model=pools(FLOWS.format(to="Ordered"), BUYER, SELLER))) == []


def test_a_pool_stands_for_the_start_of_its_process(tmp_path):
    assert told(perform(tmp_path, SCENARIO, model=pools(FLOWS.format(to="p2"), BUYER, SELLER))) == []


def test_without_a_message_flow_a_message_must_be_named(tmp_path):
    scenario = "deploy_error: true\n"
    assert told(perform(tmp_path, scenario, model=pools("", BUYER, SELLER))) == []
