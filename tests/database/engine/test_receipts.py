"""Every verb takes an idempotency key: the same again gives the stored result and does nothing, another is refused."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from bpm import engine
from tests.database.engine.drawing import (
    boundary,
    catch,
    end,
    error,
    flows,
    message,
    model,
    service,
    signal,
    start,
    user,
)

DECLINED = '<bpmn:error id="declined" errorCode="DECLINED"/>'
TASK = model(start(), service("pay"), end(), flows("start -> pay -> end"))
PERSON = model(
    start(), user("look"), boundary("no", "look", error("declined")), end(), end("refused"),
    flows("start -> look -> end", "no -> refused"), before=DECLINED,
)  # fmt: skip
TALKS = model(
    start(), catch("wait", message("m1")), catch("hear", signal("s1")), end(), flows("start -> wait -> hear -> end"),
    before='<bpmn:message id="m1" name="Paid"/><bpmn:signal id="s1" name="Go"/>',
)  # fmt: skip
HOT = model(
    start(), start("hot", "<bpmn:conditionalEventDefinition><bpmn:condition>${x &gt; 0}</bpmn:condition>"
          "</bpmn:conditionalEventDefinition>"),
    service("pay"), end(), flows("start -> pay -> end", "hot -> pay"),
)  # fmt: skip
LATER = model(start(), service("pay"), user("check"), end(), flows("start -> pay -> check -> end"))


@dataclass(frozen=True)
class Case:
    """How a verb is asked: twice the same, and once for something else under the same key."""

    model: bytes
    ask: Callable[[Any, UUID, str], Any]
    other: Callable[[Any, UUID, str], Any]


def locked(world, worker="w") -> UUID:
    """The task of the only instance, locked the first time it is asked for."""
    if not world.ask("SELECT 1 FROM external_task_events WHERE event_type = 'TASK_LOCKED'"):
        engine.fetch_and_lock(["pay"], worker=worker)
    return world.ask("SELECT id FROM external_tasks")[0][0]


def failed(world) -> UUID:
    """The incident of the only instance."""
    if not world.ask("SELECT id FROM incidents"):
        engine.fail_task(locked(world), worker="w", retries=0)
    return world.ask("SELECT id FROM incidents")[0][0]


def person(world) -> UUID:
    return world.ask("SELECT id FROM user_tasks")[0][0]


def claimed(world) -> UUID:
    engine.claim_task(person(world), "ann", key="before")
    return person(world)


def suspended(world, instance) -> UUID:
    engine.suspend_instance(instance, actor="olga", key="before")
    return instance


def ended(world, instance) -> UUID:
    engine.cancel_instance(instance, actor="olga", key="before")
    return instance


def delegated(world) -> UUID:
    engine.delegate_user_task(claimed(world), "bob", actor="ann", key="lent")
    return person(world)


def suspended_definition(world) -> str:
    engine.suspend_definition("p", actor="olga", key="before")
    return "p"


def migratable(world, instance) -> UUID:
    engine.deploy({"later.bpmn": LATER}, actor="dora")
    return instance


def deploy(world, key, *files) -> Any:
    return engine.deploy({f"{n}.bpmn": file for n, file in enumerate(files)}, actor="dora", key=key)


E = engine
CASES = {
    "deploy": Case(TASK, lambda w, i, k: deploy(w, k, LATER), lambda w, i, k: deploy(w, k, TALKS)),
    "start": Case(
        TASK,
        lambda w, i, k: E.start("p", {"x": 1}, actor="ann", key=k),
        lambda w, i, k: E.start("p", {"x": 2}, actor="ann", key=k),
    ),
    "fetch_and_lock": Case(
        TASK,
        lambda w, i, k: E.fetch_and_lock(["pay"], worker="w", key=k),
        lambda w, i, k: E.fetch_and_lock(["pay"], worker="w", max=2, key=k),
    ),
    "extend_lock": Case(
        TASK,
        lambda w, i, k: E.extend_lock(locked(w), worker="w", seconds=9, key=k),
        lambda w, i, k: E.extend_lock(locked(w), worker="w", seconds=8, key=k),
    ),
    "unlock_task": Case(
        TASK,
        lambda w, i, k: E.unlock_task(locked(w), worker="w", actor="w", key=k),
        lambda w, i, k: E.unlock_task(locked(w), actor="w", key=k),
    ),
    "complete_task": Case(
        TASK,
        lambda w, i, k: E.complete_task(locked(w), worker="w", variables={"x": 1.50}, key=k),
        lambda w, i, k: E.complete_task(locked(w), worker="w", variables={"x": 2}, key=k),
    ),
    "complete_and_lock_next": Case(
        LATER,
        lambda w, i, k: E.complete_and_lock_next(locked(w), ["check"], worker="w", key=k),
        lambda w, i, k: E.complete_and_lock_next(locked(w), ["other"], worker="w", key=k),
    ),
    "fail_task": Case(
        TASK,
        lambda w, i, k: E.fail_task(locked(w), worker="w", message="no", key=k),
        lambda w, i, k: E.fail_task(locked(w), worker="w", message="none", key=k),
    ),
    "throw_task_error": Case(
        TASK,
        lambda w, i, k: E.throw_task_error(locked(w), worker="w", code="A", key=k),
        lambda w, i, k: E.throw_task_error(locked(w), worker="w", code="B", key=k),
    ),
    "claim_task": Case(
        PERSON,
        lambda w, i, k: E.claim_task(person(w), "ann", actor="x", key=k),
        lambda w, i, k: E.claim_task(person(w), "bob", actor="x", key=k),
    ),
    "unclaim_task": Case(
        PERSON,
        lambda w, i, k: E.unclaim_task(claimed(w), actor="ann", key=k),
        lambda w, i, k: E.claim_task(person(w), "bob", actor="ann", key=k),
    ),
    "complete_user_task": Case(
        PERSON,
        lambda w, i, k: E.complete_user_task(person(w), actor="ann", key=k),
        lambda w, i, k: E.complete_user_task(person(w), actor="ann", variables={"x": 1}, key=k),
    ),
    "throw_user_task_error": Case(
        PERSON,
        lambda w, i, k: E.throw_user_task_error(person(w), actor="ann", code="DECLINED", key=k),
        lambda w, i, k: E.throw_user_task_error(person(w), actor="ann", code="OTHER", key=k),
    ),
    "assign_user_task": Case(
        PERSON,
        lambda w, i, k: E.assign_user_task(person(w), "ann", actor="olga", key=k),
        lambda w, i, k: E.assign_user_task(person(w), "bob", actor="olga", key=k),
    ),
    "delegate_user_task": Case(
        PERSON,
        lambda w, i, k: E.delegate_user_task(claimed(w), "bob", actor="ann", key=k),
        lambda w, i, k: E.delegate_user_task(person(w), "cleo", actor="ann", key=k),
    ),
    "resolve_user_task": Case(
        PERSON,
        lambda w, i, k: E.resolve_user_task(delegated(w), actor="bob", key=k),
        lambda w, i, k: E.resolve_user_task(person(w), actor="bob", variables={"x": 1}, key=k),
    ),
    "correlate": Case(
        TALKS,
        lambda w, i, k: E.correlate("Paid", actor="bank", variables={"sum": 3}, key=k),
        lambda w, i, k: E.correlate("Paid", actor="bank", variables={"sum": 4}, key=k),
    ),
    "publish": Case(
        TALKS,
        lambda w, i, k: E.publish("Paid", actor="bank", business_key="A", key=k),
        lambda w, i, k: E.publish("Paid", actor="bank", business_key="A", ttl=5, key=k),
    ),
    "throw_signal": Case(
        TALKS,
        lambda w, i, k: E.throw_signal("Go", actor="bank", key=k),
        lambda w, i, k: E.throw_signal("Stop", actor="bank", key=k),
    ),
    "retry_incident": Case(
        TASK,
        lambda w, i, k: E.retry_incident(failed(w), actor="olga", key=k),
        lambda w, i, k: E.retry_incident(failed(w), actor="olga", retries=2, key=k),
    ),
    "cancel_instance": Case(
        TASK,
        lambda w, i, k: E.cancel_instance(i, actor="olga", key=k),
        lambda w, i, k: E.suspend_instance(i, actor="olga", key=k),
    ),
    "suspend_instance": Case(
        TASK,
        lambda w, i, k: E.suspend_instance(i, actor="olga", key=k),
        lambda w, i, k: E.cancel_instance(i, actor="olga", key=k),
    ),
    "resume_instance": Case(
        TASK,
        lambda w, i, k: E.resume_instance(suspended(w, i), actor="olga", key=k),
        lambda w, i, k: E.cancel_instance(i, actor="olga", key=k),
    ),
    "restart_instance": Case(
        TASK,
        lambda w, i, k: E.restart_instance(ended(w, i), actor="olga", key=k),
        lambda w, i, k: E.restart_instance(i, keep="none", actor="olga", key=k),
    ),
    "set_retries": Case(
        TASK,
        lambda w, i, k: E.set_retries(w.only("external_tasks", i), 5, actor="olga", key=k),
        lambda w, i, k: E.set_retries(w.only("external_tasks", i), 6, actor="olga", key=k),
    ),
    "evaluate_conditions": Case(
        HOT,
        lambda w, i, k: E.evaluate_conditions({"x": 1}, actor="olga", key=k),
        lambda w, i, k: E.evaluate_conditions({"x": 2}, actor="olga", key=k),
    ),
    "suspend_definition": Case(
        TASK,
        lambda w, i, k: E.suspend_definition("p", actor="olga", key=k),
        lambda w, i, k: E.resume_definition("p", actor="olga", key=k),
    ),
    "resume_definition": Case(
        TASK,
        lambda w, i, k: E.resume_definition(suspended_definition(w), actor="olga", key=k),
        lambda w, i, k: E.suspend_definition("p", actor="olga", key=k),
    ),
    "set_variables": Case(
        TASK,
        lambda w, i, k: E.set_variables(i, {"x": 1}, actor="olga", key=k),
        lambda w, i, k: E.set_variables(i, {"x": 2}, actor="olga", key=k),
    ),
    "modify_instance": Case(
        TASK,
        lambda w, i, k: E.modify_instance(i, start_before=["pay"], actor="olga", key=k),
        lambda w, i, k: E.modify_instance(i, start_after=["pay"], actor="olga", key=k),
    ),
    "migrate_instance": Case(
        TASK,
        lambda w, i, k: E.migrate_instance(migratable(w, i), version=2, actor="olga", key=k),
        lambda w, i, k: E.migrate_instance(i, actor="olga", key=k),
    ),
}
# What schedulers do again and again, and what changes nothing.
NO_KEY = {
    "advance_left_behind", "announce", "checked", "continue_instance", "deliver_pending", "dumps", "ensure_partitions",
    "evaluate_decision", "expire_messages", "find_decision", "find_definition", "fire_due_timers", "fire_start_timers",
    "fire_timer", "forgotten_tasks", "keep_file", "loads", "plan_migration", "read_file", "recover", "register",
    "release_expired_locks", "sweep_ended", "sweep_messages", "sweep_receipts", "task_headers", "tick", "topics_beside",
    "unregister",
}  # fmt: skip


def done(world) -> tuple[int, ...]:
    """How much the database holds: commits, and events of every kind."""
    return world.ask("SELECT (SELECT count(*) FROM runtime_commit), (SELECT count(*) FROM runtime_event)")[0]


def without_events(result: Any) -> Any:
    """A commit by its name; other results as they are."""
    if isinstance(result, tuple):
        return tuple(without_events(one) for one in result)
    if isinstance(result, engine.CommitRecord):
        return (result.sequence, result.thread_id, result.version, result.at, result.command)
    return result


def test_the_table_knows_every_verb():
    assert {name for name in engine.__all__ if name[0].islower()} - NO_KEY == set(CASES)


@pytest.mark.parametrize("verb", CASES)
def test_the_same_again_gives_the_stored_result_and_another_is_refused(world, verb):
    case = CASES[verb]
    world.deploy(case.model)
    instance = world.start()
    first = case.ask(world, instance, "k")
    after = done(world)
    second = case.ask(world, instance, "k")
    assert without_events(second) == without_events(first)
    assert getattr(second, "repeated", True) is True
    assert done(world) == after
    with pytest.raises(engine.KeyConflict) as conflict:
        case.other(world, instance, "k")
    assert conflict.value.code == "key_conflict"
    assert done(world) == after


@pytest.mark.parametrize("verb", CASES)
def test_a_key_that_is_none_is_refused(world, verb):
    case = CASES[verb]
    world.deploy(case.model)
    instance = world.start()
    for key in ("", "k" * 256, "a\x00b", 7):
        with pytest.raises(engine.Invalid):
            case.ask(world, instance, key)


NAMES = [
    (verb, name)
    for verb in CASES
    for name in ("actor", "worker")
    if name in inspect.signature(getattr(engine, verb)).parameters
]


@pytest.mark.parametrize(("verb", "name"), NAMES)
def test_a_name_that_nobody_may_have_is_refused(world, monkeypatch, verb, name):
    case, ask = CASES[verb], getattr(engine, verb)
    world.deploy(case.model)
    instance = world.start()
    other = {"actor": "else"} if name == "worker" else {}
    for bad in ("", "a" * 256, "a\x00b", 7):
        monkeypatch.setattr(engine, verb, lambda *given, bad=bad, **said: ask(*given, **said | other | {name: bad}))
        with pytest.raises(engine.Invalid):
            case.ask(world, instance, "k")


@pytest.mark.parametrize("verb", ["start", "fetch_and_lock", "publish", "correlate", "complete_task", "deploy"])
def test_at_once_with_one_key_it_is_done_once(world, verb):
    case = CASES[verb]
    world.deploy(case.model)
    instance = world.start()
    if verb == "complete_task":
        locked(world)
    results, failed, together = [], [], threading.Barrier(4)

    def ask() -> None:
        together.wait()
        try:
            results.append(case.ask(world, instance, "k"))
        except Exception as problem:
            failed.append(problem)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len({str(without_events(result)) for result in results}) == 1


def test_a_key_in_the_callers_transaction_stands_or_falls_with_it(world):
    world.deploy(TALKS)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        engine.publish("Paid", actor="bank", key="k")
        raise ZeroDivisionError
    published = engine.publish("Paid", actor="bank", key="k")
    with transaction.atomic():
        assert engine.publish("Paid", actor="bank", key="k") == published
        with pytest.raises(engine.KeyConflict):
            engine.publish("Paid", actor="bank", variables={"x": 1}, key="k")
    assert world.ask("SELECT count(*) FROM runtime_message WHERE box = 'OUT'") == [(1,)]


def test_a_fetch_asked_again_gives_what_is_still_held(world):
    world.deploy(TASK)
    for _ in range(2):
        world.start()
    first, second = engine.fetch_and_lock(["pay"], worker="w", max=2, key="k")
    engine.complete_task(first.id, worker="w")
    (again,) = engine.fetch_and_lock(["pay"], worker="w", max=2, key="k")
    assert again == second
    engine.unlock_task(second.id, worker="w", actor="w")
    assert engine.fetch_and_lock(["pay"], worker="w", max=2, key="k") == []
    assert len(engine.fetch_and_lock(["pay"], worker="w", max=2, key="k2")) == 1


def test_receipts_expire_and_what_was_done_stays_done(world):
    world.deploy(TASK)
    instance = world.start(key="k")
    published = engine.publish("Nobody", actor="bank", key="k")
    world.move_clock(8 * 86_400)
    engine.sweep_receipts()
    assert world.ask("SELECT count(*) FROM runtime_operation_receipt") == [(0,)]
    # An instance has its id of its key for ever: it is not started again, and that is said.
    with pytest.raises(engine.Refused) as refused:
        world.start(key="k")
    assert refused.value.code == "duplicate"
    assert engine.publish("Nobody", actor="bank", key="k").id != published.id
    engine.cancel_instance(instance, actor="olga")
    world.move_clock(17 * 86_400)
    assert engine.sweep_ended() == {"swept": 1}
    with pytest.raises(engine.Refused) as refused:
        world.start(key="k")
    assert refused.value.code == "duplicate"
    for verb in (engine.cancel_instance, engine.suspend_instance, engine.resume_instance):
        with pytest.raises(engine.EngineError) as gone:
            verb(instance, actor="olga")
        assert gone.value.code in ("not_found", "not_running")
