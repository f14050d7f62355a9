"""Messages and signals: to whom they go, that they wait, and that they are taken once."""

from __future__ import annotations

import pytest

from bpm import engine
from bpm.engine import messages
from tests.database.engine.drawing import catch, end, flows, message, model, service, signal, start, throw, user

MESSAGE = '<bpmn:message id="m" name="Paid"/>'
SIGNAL = '<bpmn:signal id="s" name="Stop"/>'
WAITS = model(start(), catch("wait", message("m")), end(), flows("start -> wait -> end"), before=MESSAGE)
LATER = model(
    start(),
    service("first"),
    catch("wait", message("m")),
    end(),
    flows("start -> first -> wait -> end"),
    before=MESSAGE,
)
BEGINS = model(
    start(inner=message("m")), user("look"), end(), flows("start -> look -> end"), id="begins", before=MESSAGE
)


def test_asked_again_while_its_commit_is_on_its_way(world, monkeypatch):
    """The receipt is not there yet when it is looked for, and the ticket is gone when it is looked for."""
    world.deploy(WAITS)
    world.start()
    look, first = messages.tickets, []

    def late(*given, **said):
        monkeypatch.setattr(messages, "tickets", look)
        first.append(engine.correlate("Paid", actor="bank", key="k"))
        return look(*given, **said)

    monkeypatch.setattr(messages, "tickets", late)
    again = engine.correlate("Paid", actor="bank", key="k")
    assert again.repeated and again.sequence == first[0].sequence


def test_a_message_finds_who_waits_by_business_key(world):
    world.deploy(WAITS)
    one, two = world.start(business_key="A"), world.start(business_key="B")
    engine.correlate("Paid", business_key="B", variables={"sum": 3}, actor="bank")
    assert (world.state(one), world.state(two)) == ("RUNNING", "COMPLETED")
    assert world.variables(two) == {"sum": 3}


def test_a_message_finds_who_waits_by_variables(world):
    world.deploy(WAITS)
    one, two = world.start(variables={"order": 1}), world.start(variables={"order": 2})
    engine.correlate("Paid", correlation={"order": 2}, actor="bank")
    assert (world.state(one), world.state(two)) == ("RUNNING", "COMPLETED")


def test_a_message_that_nobody_waits_for_is_refused(world):
    world.deploy(WAITS)
    with pytest.raises(engine.NotFound, match="nobody waits"):
        engine.correlate("Paid", business_key="A", actor="bank")
    with pytest.raises(engine.NotFound):
        engine.correlate("Unknown", actor="bank")


def test_a_message_starts_a_process(world):
    world.deploy(BEGINS)
    record = engine.correlate("Paid", business_key="A", variables={"x": 1}, actor="bank")
    assert world.where(record.thread_id) == ["look"]
    assert world.variables(record.thread_id) == {"x": 1}
    assert world.ask("SELECT business_key FROM process_instances") == [("A",)]


def test_a_published_message_waits_for_its_receiver(world):
    world.deploy(LATER)
    engine.publish("Paid", business_key="A", variables={"sum": 3}, actor="bank", ttl=3600)
    instance = world.start(business_key="A")
    other = world.start(business_key="B")
    assert world.work("first") == 2
    engine.deliver_pending()
    assert (world.state(instance), world.state(other)) == ("COMPLETED", "RUNNING")
    assert world.variables(instance) == {"sum": 3}


def test_a_published_message_that_nobody_takes_expires_into_history(world):
    world.deploy(LATER)
    engine.publish("Paid", business_key="A", actor="bank", ttl=60)
    world.move_clock(61)
    assert engine.expire_messages() == {"expired": 1}
    world.start(business_key="A")
    world.work("first")
    engine.deliver_pending()
    assert world.ask("SELECT state FROM runtime_message WHERE box = 'OUT'") == [("EXPIRED",)]
    assert world.ask("SELECT state FROM process_instances") == [("RUNNING",)]


def test_a_published_message_with_a_key_is_published_once(world):
    world.deploy(LATER)
    for _ in range(2):
        engine.publish("Paid", business_key="A", actor="bank", ttl=60, key="payment-1")
    assert world.ask("SELECT count(*) FROM runtime_message") == [(1,)]


def test_messages_are_taken_in_the_order_in_which_they_came(world):
    twice = model(
        start(), catch("one", message("m")), user("between"), catch("two", message("m")), end(),
        flows("start -> one -> between -> two -> end"), before=MESSAGE,
    )  # fmt: skip
    world.deploy(twice)
    for number in (1, 2):
        engine.publish("Paid", business_key="A", variables={f"m{number}": number}, actor="bank", ttl=60)
    instance = world.start(business_key="A")
    engine.deliver_pending()
    assert world.variables(instance) == {"m1": 1}
    engine.complete_user_task(world.only("user_tasks", instance), actor="anna")
    engine.deliver_pending()
    assert world.state(instance) == "COMPLETED"
    assert world.variables(instance) == {"m1": 1, "m2": 2}


def test_one_instance_tells_another(world):
    # Thrown without a worker of its own: the engine sends it.
    sender = model(
        start(), throw("tell", message("m")), end(), flows("start -> tell -> end"), id="sender", before=MESSAGE
    )
    world.deploy(WAITS, sender)
    instance = world.start()
    world.start("sender")
    assert world.state(instance) == "COMPLETED"


def test_a_signal_goes_to_all_who_wait_at_its_throw_and_starts_processes(world):
    waits = model(start(), catch("wait", signal("s")), end(), flows("start -> wait -> end"), before=SIGNAL)
    begins = model(start(inner=signal("s")), user("look"), end(), flows("start -> look -> end"), id="b", before=SIGNAL)
    world.deploy(waits, begins)
    instances = [world.start() for _ in range(3)]
    assert engine.throw_signal("Stop", variables={"why": "fire"}, actor="anna") is not None
    assert [world.state(instance) for instance in instances] == ["COMPLETED"] * 3
    assert world.ask("SELECT count(*) FROM process_instances WHERE definition_key = 'b'") == [(1,)]
    late = world.start()
    engine.deliver_pending()
    assert world.state(late) == "RUNNING"


def test_a_signal_from_inside(world):
    waits = model(start(), catch("wait", signal("s")), end(), flows("start -> wait -> end"), before=SIGNAL)
    throws = model(start(), throw("stop", signal("s")), end(), flows("start -> stop -> end"), id="t", before=SIGNAL)
    world.deploy(waits, throws)
    instances = [world.start() for _ in range(2)]
    world.start("t")
    assert [world.state(instance) for instance in instances] == ["COMPLETED"] * 2


HEARS = model(start(), catch("wait", signal("s")), end(), flows("start -> wait -> end"), before=SIGNAL)


def signals(world):
    return world.ask("SELECT state FROM runtime_message WHERE box = 'OUT' ORDER BY created_at")


def test_a_signal_is_brought_again_to_a_receiver_that_was_busy(world, monkeypatch):
    world.deploy(HEARS)
    busy, free = world.start(), world.start()
    step = engine.relay.step

    def refuse(thread, *arguments, **said):
        if thread == busy:
            raise engine.Refused("others were faster", code="busy")
        return step(thread, *arguments, **said)

    with monkeypatch.context() as patch:
        patch.setattr(engine.relay, "step", refuse)
        engine.throw_signal("Stop", actor="anna")
    assert (world.state(busy), world.state(free)) == ("RUNNING", "COMPLETED")
    assert signals(world) == [("PENDING",)]
    engine.deliver_pending()
    assert world.state(busy) == "COMPLETED"
    assert signals(world) == [("DELIVERED",)]


def test_a_receiver_that_faults_keeps_a_signal_from_nobody(world, monkeypatch):
    world.deploy(HEARS)
    poisoned, healthy = world.start(), world.start()
    step = engine.relay.step

    def poison(thread, *arguments, **said):
        if thread == poisoned:
            raise ZeroDivisionError
        return step(thread, *arguments, **said)

    with monkeypatch.context() as patch:
        patch.setattr(engine.relay, "step", poison)
        engine.throw_signal("Stop", actor="anna")
    assert (world.state(poisoned), world.state(healthy)) == ("RUNNING", "COMPLETED")
    engine.deliver_pending()
    assert world.state(poisoned) == "COMPLETED"


def test_a_suspended_instance_hears_a_signal_when_it_is_resumed_and_holds_up_nobody(world):
    begins = model(start(inner=signal("s")), user("look"), end(), flows("start -> look -> end"), id="b", before=SIGNAL)
    twice = model(
        start(), catch("wait", signal("s")), catch("again", signal("s")), end(),
        flows("start -> wait -> again -> end"), id="twice", before=SIGNAL,
    )  # fmt: skip
    world.deploy(HEARS, twice, begins)
    instance, still, other = world.start(), world.start("twice"), world.start("twice")
    engine.suspend_instance(instance, actor="operator")
    engine.suspend_instance(still, actor="operator")
    engine.throw_signal("Stop", variables={"first": 1}, actor="anna")
    assert signals(world) == [("PENDING",)]
    assert world.where(other) == ["again"]
    engine.throw_signal("Stop", variables={"second": 2}, actor="anna")
    assert world.state(other) == "COMPLETED"
    # What is deployed later does not hear what was thrown before, and nothing starts a second time.
    world.deploy(begins.replace(b"look", b"see"))
    engine.deliver_pending()
    assert world.ask("SELECT count(*) FROM process_instances WHERE definition_key = 'b'") == [(2,)]
    for one in (instance, still):
        engine.resume_instance(one, actor="operator")
    engine.deliver_pending()
    assert world.state(instance) == "COMPLETED"
    assert world.variables(instance) == {"first": 1}
    # Its second catch was not open when the signals were thrown.
    assert world.where(still) == ["again"]
    assert signals(world) == [("DELIVERED",)] * 2


def test_a_busy_receiver_is_not_passed_over_for_a_new_instance(world, monkeypatch):
    world.deploy(WAITS, BEGINS)
    instance = world.start()
    step = engine.relay.step

    def refuse(thread, *arguments, **said):
        if thread == instance:
            raise engine.Refused("others were faster", code="busy")
        return step(thread, *arguments, **said)

    with monkeypatch.context() as patch:
        patch.setattr(engine.relay, "step", refuse)
        engine.publish("Paid", actor="bank")
    assert world.ask("SELECT count(*) FROM process_instances") == [(1,)]
    engine.deliver_pending()
    assert world.state(instance) == "COMPLETED"


def test_a_message_for_one_instance_finds_it_behind_many_others(world):
    world.deploy(WAITS)
    instances = [world.start() for _ in range(engine.relay.CANDIDATES + 2)]
    engine.correlate("Paid", instance=instances[-1], actor="bank")
    assert [world.state(instance) for instance in instances[-2:]] == ["RUNNING", "COMPLETED"]
