"""The store on Django's connection: the caller's transaction, its errors, and a schema that the models describe."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from bpm.engine import step as stepping
from bpm.engine.acting import act
from bpm.engine.step import Refused, step
from bpm.graph import Process
from bpm.models import ProcessInstance, RuntimeEvent, Token
from bpm.semantics import commands as c
from bpm.store import definitions, django_channel, ids, reading
from bpm.store.projection import Projection
from tests.database.store.conftest import store_graph
from tests.pure.semantics.drawing import draw


@pytest.fixture
def definition():
    definitions.forget()
    yield store_graph(None, drawn())
    definitions.forget()


def drawn() -> Process:
    return draw("start s > user U > end e")


def start(definition, thread=None, **more):
    return step(
        thread or ids.new_instance(), lambda at: c.StartInstance(at=at), actor="ann", definition=definition.id, **more
    )


@pytest.mark.django_db(transaction=True)
def test_its_own_transaction(definition):
    record = start(definition)
    assert not connection.in_atomic_block
    instance = ProcessInstance.objects.get()
    assert (instance.id, instance.state, instance.definition_id) == (record.thread_id, "RUNNING", definition.id)
    assert Token.objects.filter(instance=instance, state="WAITING").count() == 1
    assert RuntimeEvent.objects.filter(thread_id=instance.id).count() == len(record.events)


@pytest.mark.django_db(transaction=True)
def test_the_callers_transaction(definition):
    told = []
    with transaction.atomic():
        thread = start(definition).thread_id
        django_channel().after_commit(lambda: told.append("committed"))
        with pytest.raises(Refused) as caught:
            start(definition)
        assert caught.value.code == "second_instance"
        step(thread, lambda at: c.SetVariables(at=at, variables={"x": 1}), actor="ann")
        assert told == []
    assert told == ["committed"]
    assert reading.stored_state(thread).version == 2
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        rolled_back = start(definition).thread_id
        raise ZeroDivisionError
    assert reading.stored_state(rolled_back) is None
    # A block that is over does not bind the next one.
    with transaction.atomic():
        start(definition)


@pytest.fixture
def by_hand():
    """Django's connection with autocommit off."""
    transaction.set_autocommit(False)
    yield
    transaction.rollback()
    transaction.set_autocommit(True)


@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_the_caller_ends_by_hand(definition, by_hand):
    """Django tells nobody of such a commit: nothing waits for it, and what follows is left to the schedulers."""
    thread = act(ids.new_instance(), lambda at: c.StartInstance(at=at), actor="ann", definition=definition.id).thread_id
    act(thread, lambda at: c.SetVariables(at=at, variables={"x": 1}), actor="ann")
    transaction.commit()
    act(thread, lambda at: c.SetVariables(at=at, variables={"x": 2}), actor="ann")
    transaction.rollback()
    act(thread, lambda at: c.SetVariables(at=at, variables={"x": 3}), actor="ann")
    transaction.commit()
    state = reading.stored_state(thread)
    assert (state.version, state.variables[0, "x"].value) == (3, 3)


@pytest.mark.django_db(transaction=True)
def test_a_savepoint_of_the_callers(definition):
    with transaction.atomic():
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            start(definition)
            raise ZeroDivisionError
        other = start(definition).thread_id
    assert [instance.id for instance in ProcessInstance.objects.all()] == [other]


@pytest.mark.django_db(transaction=True)
def test_what_the_caller_takes_back_is_not_remembered(definition, monkeypatch):
    """Neither a savepoint's work nor that of the whole block: the memory is what stands, or what stood before."""
    memory = Projection()
    monkeypatch.setattr(stepping, "MEMORY", memory)
    thread = start(definition).thread_id

    def write(x):
        step(thread, lambda at: c.SetVariables(at=at, variables={"x": x}), actor="ann")

    def remembered():
        held = memory.get(thread)
        assert (held.version, held.last_at) == reading.standing(thread)
        return held.version, held.state.variables[0, "x"].value

    with transaction.atomic():
        write(1)
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            write(2)
            raise ZeroDivisionError
        point = transaction.savepoint_create()
        write(3)
        transaction.savepoint_rollback(point)
        write(4)
    assert remembered() == (3, 4)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        write(5)
        raise ZeroDivisionError
    assert remembered() == (3, 4)
    write(6)
    assert remembered() == (4, 6)


@pytest.mark.django_db
def test_a_testcase_is_nobodys_transaction(definition):
    """Inside pytest-django's (and Django's TestCase's) own block several instances may be used, as in real life."""
    one, other = start(definition), start(definition)
    assert {instance.id for instance in ProcessInstance.objects.all()} == {one.thread_id, other.thread_id}
    connection.check_constraints()
    with transaction.atomic():
        start(definition)
        with pytest.raises(Refused, match="already"):
            start(definition)


@pytest.mark.django_db
def test_models_and_migrations_agree():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
