"""Messages: the sender's row, the receiver's row, exactly once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import psycopg
import pytest

from bpm.engine.step import Refused, step
from bpm.graph import Formula, Trigger
from bpm.semantics import commands as c
from bpm.store import ids, outbox, plain_channel, reading, schedule
from bpm.store.history_rows import called_instance

WAITS = ("start s > catch m > end e",)
MESSAGE = {"trigger": Trigger(kind="message", name=Formula(text="paid"))}


def publish(run, **more):
    name = f"paid-{run.prefix}"
    published = outbox.publish("MESSAGE", name, {"variables": {"x": 1}}, actor="ann", channel=run.channel, **more)
    (message,) = outbox.pending_named("MESSAGE", name, channel=run.channel)
    assert message.id == published.id
    return message


def consume(run, message, channel=None):
    incoming = message.incoming()
    command = {"ticket": 2, "variables": message.body["variables"], "message": incoming.to_json()}
    return step(
        run.thread,
        lambda at: c.Correlate(at=at, **command),
        actor="relay",
        message=incoming,
        channel=channel or run.channel,
    )


@pytest.fixture
def run(deploy):
    run = deploy(*WAITS, m=MESSAGE)
    run.start()
    return run


def test_a_second_delivery_changes_nothing(run):
    message = publish(run)
    first = consume(run, message)
    second = consume(run, message)
    assert not first.repeated and second.repeated
    assert (second.thread_id, second.version) == (run.thread, first.version)
    assert outbox.delivered({message.id: [run.thread]}, actor="relay", channel=run.channel) == [message.id]
    assert outbox.delivered({message.id: [run.thread]}, actor="relay", channel=run.channel) == []
    assert outbox.pending_named("MESSAGE", message.name, channel=run.channel) == []
    run.agrees()


def test_two_receivers_of_one_message(deploy):
    """One of the two gets it, even when both relays deliver at the same moment."""
    one, other = deploy(*WAITS, m=MESSAGE), deploy(*WAITS, m=MESSAGE)
    one.start()
    other.start()
    message = publish(one)
    assert not consume(one, message).repeated
    again = consume(other, message)
    assert again.repeated and again.thread_id == one.thread


def test_many_relays_deliver_once(run, roles):
    message = publish(run)

    def relay(_):
        with psycopg.connect(roles.application, autocommit=True) as connection:
            return consume(run, message, plain_channel(connection)).repeated

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(relay, range(8))) == [False] + [True] * 7
    run.agrees()


def test_a_signal_reaches_each_ticket_once(deploy):
    one, other = deploy(*WAITS, m=MESSAGE), deploy(*WAITS, m=MESSAGE)
    one.start()
    other.start()
    outbox.publish("SIGNAL", one.prefix, {"variables": {}}, actor="ann", many=True, channel=one.channel)
    (signal,) = outbox.pending_named("SIGNAL", one.prefix, channel=one.channel)
    for run in (one, other):
        incoming = replace(signal.incoming(), ticket=2)
        make = lambda at: c.Correlate(at=at, ticket=2)  # noqa: E731
        done = [step(run.thread, make, actor="relay", message=incoming, channel=run.channel).repeated for _ in range(2)]
        assert done == [False, True]


def test_expired_messages_go_into_history(run, connection):
    message_id = outbox.publish("MESSAGE", "late", {}, actor="ann", live_seconds=0, channel=run.channel).id
    assert outbox.pending_named("MESSAGE", "late", channel=run.channel) == []
    assert message_id in outbox.expire(actor="sweeper", limit=1000, channel=run.channel)
    rows = connection.execute(
        "SELECT event_type FROM work_events WHERE entity_id = %s ORDER BY commit_sequence", [message_id]
    ).fetchall()
    assert rows == [("MESSAGE_SENT",), ("MESSAGE_EXPIRED",)]


def test_a_call_and_its_answer(deploy):
    """Caller and called instance speak through rows; the called instance's id follows from the ticket."""
    called = deploy("start s > external A > end e")
    caller = deploy("start s > call K > end e")
    caller.start(business_key="A-17")
    (call,) = outbox.sent_by(caller.thread, 1, channel=caller.channel)
    assert (call.kind, call.name) == ("CALL", "K")
    called.thread = called_instance(caller.thread, call.body["ticket"])
    assert call.target == called.thread
    answer_to = {"thread": str(caller.thread), "ticket": call.body["ticket"], "wants": None}
    start = {"caller": answer_to, "trigger": "call", "incoming": call.incoming()}
    assert not called.start(**start).repeated
    assert called.start(**start).repeated
    called.complete("A", x=1)
    called.agrees()
    version = called.records[-1].version
    (result,) = outbox.sent_by(called.thread, version, channel=called.channel)
    assert (result.kind, result.target) == ("RESULT", caller.thread)
    caller.do(
        c.CallReturned,
        ticket=result.body["caller"]["ticket"],
        outcome=result.body["outcome"],
        variables=result.body["variables"],
        message=result.incoming().to_json(),
        incoming=result.incoming(),
    )
    caller.agrees()
    state = reading.stored_state(caller.thread, channel=caller.channel)
    assert state.instances[0].state == "COMPLETED"


def test_an_unknown_receiver_is_refused_and_takes_nothing(run):
    message = publish(run)
    stranger = replace(run, thread=ids.new_instance())
    with pytest.raises(Refused) as caught:
        consume(stranger, message)
    assert caught.value.code == "not_found"
    assert not consume(run, message).repeated


def test_messages_come_first_in_first_out(run):
    ids_sent = [
        outbox.publish("MESSAGE", f"fifo-{run.prefix}", {"n": n}, actor="ann", channel=run.channel).id for n in range(5)
    ]
    found, after = [], None
    while page := outbox.pending(after=after, limit=3, channel=run.channel):
        found += [one.id for one in page if one.name == f"fifo-{run.prefix}"]
        after = page[-1]
    assert found == ids_sent


def test_the_engine_notes_what_it_did(channel, connection):
    id = schedule.engine_event("ENGINE_TICK", {"job": "timers", "counts": {"fired": 3}}, channel=channel)
    assert connection.execute("SELECT event_type, payload FROM engine_events WHERE id = %s", [id]).fetchone() == (
        "ENGINE_TICK",
        {"job": "timers", "counts": {"fired": 3}},
    )
