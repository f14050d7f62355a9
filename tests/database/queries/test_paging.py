"""Lists are paged by key: every row once, in order, whatever the size of a page; counting stops at its limit."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from bpm import engine
from bpm.queries import definitions, diagram, incidents, instances, overview, paging, work
from tests.database.api.conftest import ORDER
from tests.database.engine.drawing import end, flows, model, service, start

NUMBER = 7
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def orders() -> list:
    """Some orders whose stock could not be checked, and one more that goes on."""
    engine.deploy({"order.bpmn": ORDER.read_bytes()}, actor="tests")
    ids = [
        engine.start("order", {"n": number, "price": 0.1}, business_key=f"K-{number}", actor="tests").thread_id
        for number in range(NUMBER)
    ]
    for task in engine.fetch_and_lock(["orders.check-stock"], worker="w", max=NUMBER - 1):
        engine.fail_task(task.id, worker="w", message="broken", retries=0)
    return ids


def whole(listed, size, **filters):
    found, after = [], None
    while True:
        page = listed(after=after, size=size, **filters)
        assert len(page.items) <= size
        found += page.items
        if page.after is None:
            return found
        after = page.after


@pytest.mark.parametrize("size", [1, 2, 3, 6, 7, 50])
def test_every_row_comes_once_and_in_order(orders, size):
    found = whole(instances.list_instances, size)
    assert [row.id for row in found] == orders[::-1]
    assert [row.business_key for row in found] == [f"K-{n}" for n in reversed(range(NUMBER))]
    stopped = whole(incidents.list_incidents, size)
    assert len({row.id for row in stopped}) == len(stopped) == NUMBER - 1
    assert [row.created_at for row in stopped] == sorted((row.created_at for row in stopped), reverse=True)
    assert len({row.id for row in whole(work.list_external_tasks, size)}) == NUMBER


def test_rows_that_come_meanwhile_do_not_shift_a_page(orders):
    first = instances.list_instances(size=3)
    engine.start("order", actor="tests")
    second = instances.list_instances(size=3, after=first.after)
    assert [row.id for row in (*first.items, *second.items)] == orders[::-1][:6]


@pytest.mark.parametrize("cursor", ["nonsense", "WzFd", "WyJhIiwiYiJd", "\u00e9", "W10", "W1tb" * 100_000])
def test_a_cursor_of_another_list_is_refused(orders, cursor):
    with pytest.raises(paging.BadCursor):
        instances.list_instances(after=cursor)


def test_counting_stops_at_its_limit(orders):
    rows = instances._instances()
    assert str(paging.count_up_to(rows, 3)) == "3+"
    assert str(paging.count_up_to(rows, NUMBER)) == str(NUMBER)
    assert not paging.count_up_to(rows.filter(state="FAILED"), 3)


@pytest.mark.parametrize(
    "listed", [instances.list_instances, incidents.list_incidents, work.list_external_tasks, work.list_user_tasks]
)
def test_a_page_asks_as_often_for_many_rows_as_for_one(orders, listed):
    listed(size=1)
    with CaptureQueriesContext(
        connection,
    ) as one:
        listed(size=1)
    with CaptureQueriesContext(connection) as many:
        listed(size=50)
    assert len(many) == len(one) <= 3


def test_what_runs_of_each_definition_is_counted_in_one_statement(orders):
    with CaptureQueriesContext(connection) as asked:
        page = definitions.list_definitions(counts=True, size=50)
    assert len(asked) == 2
    (order,) = [one for one in page.items if one.key == "order"]
    assert [str(order.running), str(order.held), str(order.failed)] == [str(NUMBER), "0", "0"]
    assert order.incidents
    assert not order.suspended
    assert definitions.get_definition(order.id, counts=True) == order


def test_what_was_not_read_is_said_to_be_perhaps_more(orders, monkeypatch):
    definition = definitions.find_definition("order")
    monkeypatch.setattr(definitions, "READ", NUMBER - 3)
    monkeypatch.setattr(diagram, "INSTANCES_READ", NUMBER - 3)
    assert str(definitions.get_definition(definition.id, counts=True).incidents) == f"{NUMBER - 2}+"
    monkeypatch.setattr(incidents, "GROUPED", NUMBER - 3)
    assert [str(group["number"]) for group in incidents.grouped()] == [f"{NUMBER - 3}+"]
    marks = diagram.marks_of_definition(definition)
    assert (marks.tokens, marks.more) == ({"CheckStock": NUMBER - 3}, True)
    engine.suspend_instance(orders[-1], actor="tests")
    monkeypatch.setattr(diagram, "INSTANCES_READ", NUMBER)
    marks = diagram.marks_of_definition(definition)
    assert (marks.tokens, marks.incidents, marks.more) == ({"CheckStock": NUMBER}, {"CheckStock": NUMBER - 1}, False)


def test_a_definition_without_any_is_none_however_many_others_have(orders, monkeypatch):
    """It is asked by itself, as far as a limit goes; what is not known is said to be nothing."""
    bpmn = model(start(), service("work"), end(), flows("start -> work -> end"), id="calm")
    engine.deploy({"calm.bpmn": bpmn}, actor="tests")
    first, *_others = [engine.start("calm", actor="tests").thread_id for _ in range(3)]
    calm = definitions.find_definition("calm").id

    def incidents_of() -> paging.Count | None:
        return definitions.get_definition(calm, counts=True).incidents

    monkeypatch.setattr(definitions, "READ", NUMBER - 3)
    assert incidents_of() == paging.Count(0)
    monkeypatch.setattr(definitions, "ASKED", 2)
    assert incidents_of() is None
    # One that is older than all that are read of others.
    (task,) = engine.fetch_and_lock(["work"], worker="w", max=1)
    assert task.instance_id == first
    engine.fail_task(task.id, worker="w", message="broken", retries=0)
    more = [engine.start("order", actor="tests").thread_id for _ in range(NUMBER)]
    for task in engine.fetch_and_lock(["orders.check-stock"], worker="w", max=NUMBER):
        engine.fail_task(task.id, worker="w", message="broken", retries=0)
    assert len(more) == NUMBER
    monkeypatch.setattr(definitions, "ASKED", 3)
    assert str(incidents_of()) == "1+"
    monkeypatch.setattr(definitions, "READ", -1)
    assert definitions.get_definition(calm, counts=True).failed == paging.Count(0)
    monkeypatch.setattr(definitions, "ASKED", 2)
    assert definitions.get_definition(calm, counts=True).failed is None


def test_topics_are_counted_each_by_itself(orders):
    assert overview.ready_by_topic() == [("orders.check-stock", paging.Count(1))]
    for task in engine.fetch_and_lock(["orders.check-stock"], worker="w"):
        engine.complete_task(task.id, worker="w", variables={"in_stock": True})
    for _ in range(2):
        engine.start("order", actor="tests")
    check, charge = ("orders.check-stock", paging.Count(2)), ("payments.charge", paging.Count(1))
    assert overview.ready_by_topic() == [check, charge]
    assert overview.ready_by_topic(1) == [check]
    assert overview.ready_by_topic(1, 1) == [("orders.check-stock", paging.Count(1, more=True))]
    assert overview.ready_by_topic(2, each=1) == [(check[0], paging.Count(1, more=True)), charge]


def test_many_topics_are_counted_no_further_than_one(orders):
    """The budget is divided among the topics that are told, those with most, and first among all."""
    for id in orders:
        engine.cancel_instance(id, actor="tests")
    for topic, number in (("a", 1), ("b", 5), ("c", 3)):
        bpmn = model(start(), service("work", topic), end(), flows("start -> work -> end"), id=topic)
        engine.deploy({f"{topic}.bpmn": bpmn}, actor="tests")
        for _ in range(number):
            engine.start(topic, actor="tests")
    assert overview.ready_by_topic() == [("b", paging.Count(5)), ("c", paging.Count(3)), ("a", paging.Count(1))]
    assert [(topic, str(number)) for topic, number in overview.ready_by_topic(3, 6)] == [
        ("b", "2+"), ("c", "2+"), ("a", "1"),
    ]  # fmt: skip
    assert [(topic, str(number)) for topic, number in overview.ready_by_topic(2, 8)] == [("b", "4+"), ("c", "3")]
    assert [(topic, str(number)) for topic, number in overview.ready_by_topic(1, 9)] == [("b", "5")]


def test_an_instance_says_where_it_is_and_what_it_waits_for(orders):
    instance = instances.get_instance(orders[0])
    assert instance.incidents == 1
    assert [(place.node_id, place.name, place.tokens) for place in instance.places] == [
        ("CheckStock", "Check stock", 1)
    ]
    waits = instances.open_work(instance)
    assert [(task.topic, task.state, task.retries) for task in waits.external_tasks] == [
        ("orders.check-stock", "FAILED", 0)
    ]
    assert [(found.message, found.topic) for found in waits.incidents] == [("broken", "orders.check-stock")]
    assert [(v.name, str(v.value)) for v in instances.variables_of(orders[0])] == [("n", "0"), ("price", "0.1")]
    marks = diagram.marks_of_instance(orders[0], instance.started_at)
    assert marks.tokens == marks.incidents == {"CheckStock": 1}
    assert marks.flows == {"ToCheckStock": 1}


def test_a_token_that_forked_is_nowhere(orders):
    (task,) = engine.fetch_and_lock(["orders.check-stock"], worker="w")
    engine.complete_task(task.id, worker="w", variables={"in_stock": True})
    instance = instances.get_instance(task.instance_id)
    assert {place.node_id for place in instance.places} == {"ChargeCard", "PackParcel"}


def test_figures_and_groups(orders):
    figures = overview.figures()
    assert (figures.instances["RUNNING"].number, figures.incidents.number) == (NUMBER, NUMBER - 1)
    assert overview.ready_by_topic() == [("orders.check-stock", paging.Count(1))]
    (group,) = incidents.grouped()
    assert (group["node_name"], group["message"]) == ("Check stock", "broken")
    assert group["number"] == paging.Count(NUMBER - 1)
    definition = definitions.find_definition("order")
    assert definitions.get_definition(definition.id, counts=True).incidents.number == NUMBER - 1
    assert diagram.marks_of_definition(definition).tokens == {"CheckStock": NUMBER}


def test_the_chart_counts_by_hour(orders):
    now = instances.get_instance(orders[0]).started_at
    hours = overview.last_hours(now).hours
    assert len(hours) == 24
    assert sum(hour.started for hour in hours) == NUMBER
    engine.cancel_instance(orders[0], actor="tests")
    assert sum(hour.failed for hour in overview.last_hours(now).hours) == 1


def test_hours_that_were_not_read_are_a_gap_and_failures_are_read_by_themselves(orders, monkeypatch):
    now = instances.get_instance(orders[0]).started_at
    for id in orders:
        engine.cancel_instance(id, actor="tests")
    monkeypatch.setattr(overview, "READ_FOR_CHART", 2)
    lately = overview.last_hours(now)
    first, *_others, last = lately.hours
    assert (first.started, first.completed, first.failed) == (None, None, 0)
    assert (last.started, last.completed) == (3, 0)
    assert sum(hour.failed for hour in lately.hours) == NUMBER
    assert lately.since.keys() == {"started", "completed"}
    assert lately.since["started"] == instances.get_instance(orders[-3]).started_at
    monkeypatch.setattr(overview, "FAILURES_READ", NUMBER - 1)
    lately = overview.last_hours(now)
    assert [lately.hours[0].failed, lately.hours[-1].failed] == [None, 3]
    assert lately.since.keys() == {"started", "completed", "failed"}
