"""Dates, times and durations in variables: the same values in expressions, for workers, in rows and when replayed."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from bpm import bean, engine
from bpm.audit.replaying import replay_stored
from tests.database.engine.drawing import catch, end, exclusive, flows, message, model, service, start, user

GIVEN: list[object] = []
TODAY = (
    "<camunda:inputOutput><camunda:inputParameter name='{name}'>{text}</camunda:inputParameter></camunda:inputOutput>"
)


@bean("calendar.next_day")
def next_day(day: date) -> date:
    GIVEN.append(day)
    return day + timedelta(days=1)


def taking(name: str, text: str) -> str:
    return f"<bpmn:extensionElements>{TODAY.format(name=name, text=text)}</bpmn:extensionElements>"


def test_a_date_stays_a_date(world):
    ways = flows(
        "start -> set -> g",
        "g -> late -> end",
        "g -> early -> end",
        g_late="${due > '2026-12-01'}",
        g_early="=due &lt; date(&quot;2026-12-01&quot;) and order.wait > duration(&quot;PT1H&quot;)",
    )
    follow = taking("follow", "${calendar.next_day(due)}")
    world.deploy(
        model(start(), user("set"), exclusive("g"), service("late"), service("early", inner=follow), end(), ways)
    )
    instance = world.start(variables={"order": {"wait": timedelta(hours=2)}, "at": datetime(2026, 11, 1, tzinfo=UTC)})
    engine.set_variables(instance, {"due": date(2026, 11, 29), "exact": Decimal("1.10")}, actor="ann")
    ((person,),) = world.ask("SELECT id FROM user_tasks WHERE instance_id = %s", instance)
    engine.complete_user_task(person, actor="ann")

    assert world.where(instance) == ["early"]
    assert [date(2026, 11, 29)] == GIVEN
    (task,) = engine.fetch_and_lock(["early"], worker="w", lock_seconds=60)
    assert task.variables["due"] == {"$type": "date", "value": "2026-11-29"}
    assert task.variables["follow"] == {"$type": "date", "value": "2026-11-30"}
    assert task.variables["order"] == {"wait": {"$type": "duration", "value": "PT2H"}}
    engine.complete_task(task.id, worker="w", variables={"done": datetime(2026, 11, 30, 8, tzinfo=UTC)})

    assert world.state(instance) == "COMPLETED"
    assert world.variables(instance)["done"] == {"$type": "dateTime", "value": "2026-11-30T08:00:00Z"}
    assert replay_stored([instance], again=True)[0].problems == ()


def test_messages_find_their_receiver_by_a_date(world):
    key = "<bpmn:extensionElements><zeebe:subscription correlationKey='=due'/></bpmn:extensionElements>"
    names = f"""<bpmn:message id="m1" name="Paid" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">{key}</bpmn:message>
        <bpmn:message id="m2" name="Sent"/>"""
    parts = (start(), catch("paid", message("m1")), catch("sent", message("m2")), end())
    world.deploy(model(*parts, flows("start -> paid -> sent -> end"), before=names))
    first, second = (world.start(variables={"due": date(2026, 11, day)}) for day in (28, 29))
    engine.correlate("Paid", actor="ann", correlation={"due": date(2026, 11, 29)})
    assert (world.where(first), world.where(second)) == (["paid"], ["sent"])
    engine.correlate("Sent", actor="ann", correlation={"due": date(2026, 11, 29)})
    assert (world.where(first), world.state(second)) == (["paid"], "COMPLETED")


def test_timers_and_due_dates_take_typed_values(world):
    timer = "<bpmn:timerEventDefinition><bpmn:timeDate>=at</bpmn:timeDate></bpmn:timerEventDefinition>"
    world.deploy(model(start(), catch("pause", timer), user("look", "camunda:dueDate='${at}'"), end(),
                       flows("start -> pause -> look -> end")))  # fmt: skip
    instance = world.start(variables={"at": datetime(2020, 1, 1, tzinfo=UTC)})
    engine.fire_due_timers()

    ((due,),) = world.ask("SELECT due FROM user_tasks WHERE instance_id = %s", instance)
    assert due == "2020-01-01T00:00:00Z"
    assert replay_stored([instance], again=True)[0].problems == ()
