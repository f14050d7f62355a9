"""Messages of one sender, name and key: first in, first out at each receiver, whoever brings them."""

from __future__ import annotations

import random
import threading
from uuid import UUID

from django.db import connection

from bpm import engine
from bpm.engine import follow, relay
from bpm.store import outbox
from tests.database.engine.drawing import catch, end, exclusive, flows, message, model, start, throw

MANY = 12
PAID = '<bpmn:message id="m1" name="Paid"/>'
LISTENS = model(
    start(), exclusive("again"), catch("wait", message("m1")), exclusive("more"), end(),
    flows("start -> again -> wait -> more -> end", "more -> again", more_again=f"${{n &lt; {MANY - 1}}}",
          more_end=f"${{n &gt;= {MANY - 1}}}"),
    before=PAID, id="listens",
)  # fmt: skip
# Throws three messages of one name, one after the other.
THROWS = model(
    start(), throw("one", message("m1")), throw("two", message("m1")), throw("three", message("m1")), end(),
    flows("start -> one -> two -> three -> end"), before=PAID, id="throws",
)  # fmt: skip


def heard(world, instance: UUID) -> list[int]:
    """What the receiver was brought, in the order of its commits."""
    rows = world.ask(
        """SELECT value::int FROM runtime_event WHERE thread_id = %s AND event_type = 'VARIABLE_SET' AND name = 'n'
        ORDER BY commit_sequence, ordinal""",
        instance,
    )
    return [n for (n,) in rows]


def test_several_relays_at_once_keep_the_order(world, monkeypatch):
    world.deploy(LISTENS)
    instances = [world.start("listens", business_key=key) for key in ("A", "B")]
    with monkeypatch.context() as patch:
        # Nobody brings them at once.
        patch.setattr(follow.Following, "run", lambda *_: None)
        for n in range(MANY):
            for key in ("A", "B"):
                engine.publish("Paid", business_key=key, variables={"n": n}, actor="bank", ttl=86_400)
    waiting = outbox.pending(limit=1_000)
    assert len(waiting) == 2 * MANY
    failed: list[Exception] = []

    def bring(seed: int) -> None:
        mine = list(waiting)
        random.Random(seed).shuffle(mine)  # noqa: S311
        try:
            for one in mine * 3:
                follow.go_on(*relay.deliver(one), budget=1)
        except Exception as problem:
            failed.append(problem)
        finally:
            connection.close()

    threads = [threading.Thread(target=bring, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _ in range(MANY):
        engine.advance_left_behind(older_than=0)
        engine.deliver_pending()
    assert failed == []
    for instance in instances:
        assert heard(world, instance) == list(range(MANY))
        assert world.state(instance) == "COMPLETED"
    assert world.ask("SELECT state, count(*) FROM runtime_message WHERE box = 'OUT' GROUP BY 1") == [
        ("DELIVERED", 2 * MANY)
    ]


def test_what_an_instance_throws_arrives_in_its_order(world):
    world.deploy(THROWS, LISTENS)
    world.start("throws")
    receiver = world.start("listens", variables={"n": 0})
    for _ in range(4):
        engine.deliver_pending()
    sent = world.ask("SELECT sender_version, sender_ordinal FROM runtime_message WHERE box = 'OUT' ORDER BY 1, 2")
    taken = world.ask(
        """SELECT sender_version, sender_ordinal FROM runtime_message WHERE box = 'IN' AND instance_id = %s
        ORDER BY commit_version""",
        receiver,
    )
    assert taken == sent
    assert len(taken) == 3


def test_what_was_taken_and_not_closed_holds_up_nothing_and_does_not_expire(world, monkeypatch):
    """Whoever brought it died between the receiver's commit and the end of the sender's row."""
    world.deploy(LISTENS)
    instance = world.start("listens", business_key="A")
    with monkeypatch.context() as patch:
        patch.setattr(outbox, "delivered", lambda *_, **said: [])
        engine.publish("Paid", business_key="A", variables={"n": 0}, actor="bank", ttl=5)
    assert heard(world, instance) == [0]
    assert world.ask("SELECT state FROM runtime_message WHERE box = 'OUT'") == [("PENDING",)]
    world.move_clock(10)
    assert engine.expire_messages() == {"expired": 0}
    engine.publish("Paid", business_key="A", variables={"n": 1}, actor="bank")
    engine.deliver_pending()
    engine.deliver_pending()
    assert heard(world, instance) == [0, 1]
    assert world.ask("SELECT DISTINCT state FROM runtime_message WHERE box = 'OUT'") == [("DELIVERED",)]
    told = world.ask("SELECT payload ->> 'receivers' FROM work_events WHERE event_type = 'MESSAGE_DELIVERED'")
    assert told == [(f'["{instance}"]',)] * 2
