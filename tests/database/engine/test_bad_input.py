"""Bad input to any verb: a named error that says why, and nothing has changed."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from bpm import engine
from bpm.store import ids
from tests.database.engine.drawing import catch, end, flows, message, model, service, start, user

MODEL = model(
    start(), service("pay"), user("look"), catch("wait", message("m1")), end(),
    flows("start -> pay -> look -> wait -> end"), before='<bpmn:message id="m1" name="Paid"/>',
)  # fmt: skip
UNKNOWN = ids.new_instance()
E = engine
W = {"worker": "w"}
A = {"actor": "ann"}

# Verb -> how it is asked about an entity (or instance) of that id. All take an id first.
OF_TASKS: dict[str, Callable[..., Any]] = {
    "complete_task": lambda id, **more: E.complete_task(id, **(W | more)),
    "fail_task": lambda id, **more: E.fail_task(id, **(W | more)),
    "throw_task_error": lambda id, **more: E.throw_task_error(id, **({"code": "A"} | W | more)),
    "extend_lock": lambda id, **more: E.extend_lock(id, **(W | more)),
    "unlock_task": lambda id, **more: E.unlock_task(id, **(W | A | more)),
    "set_retries": lambda id, **more: E.set_retries(id, 3, **(A | more)),
}
OF_PEOPLE: dict[str, Callable[..., Any]] = {
    "claim_task": lambda id: E.claim_task(id, "ann"),
    "unclaim_task": lambda id: E.unclaim_task(id, **A),
    "assign_user_task": lambda id: E.assign_user_task(id, "ann", **A),
    "delegate_user_task": lambda id: E.delegate_user_task(id, "bob", **A),
    "resolve_user_task": lambda id, **more: E.resolve_user_task(id, **(A | more)),
    "complete_user_task": lambda id, **more: E.complete_user_task(id, **(A | more)),
    "throw_user_task_error": lambda id, **more: E.throw_user_task_error(id, **({"code": "A"} | A | more)),
}
OF_INSTANCES: dict[str, Callable[..., Any]] = {
    "cancel_instance": lambda id: E.cancel_instance(id, **A),
    "suspend_instance": lambda id: E.suspend_instance(id, **A),
    "resume_instance": lambda id: E.resume_instance(id, **A),
    "set_variables": lambda id, **more: E.set_variables(id, **({"variables": {"x": 1}} | A | more)),
    "modify_instance": lambda id, **more: E.modify_instance(id, **({"start_before": ["pay"]} | A | more)),
    "restart_instance": lambda id, **more: E.restart_instance(id, **(A | more)),
    "migrate_instance": lambda id: E.migrate_instance(id, version=2, **A),
}
WITH_VARIABLES: dict[str, Callable[..., Any]] = {
    **{name: OF_TASKS[name] for name in ("complete_task", "fail_task", "throw_task_error")},
    **{name: OF_PEOPLE[name] for name in ("complete_user_task", "resolve_user_task", "throw_user_task_error")},
    **{name: OF_INSTANCES[name] for name in ("set_variables", "modify_instance", "restart_instance")},
    "start": lambda _, **more: E.start("p", **(A | more)),
    "correlate": lambda _, **more: E.correlate("Paid", **(A | more)),
    "publish": lambda _, **more: E.publish("Paid", **(A | more)),
    "throw_signal": lambda _, **more: E.throw_signal("Go", **(A | more)),
}
# What is no JSON value, and what the error says of it.
NO_VALUES: dict[str, tuple[Any, str]] = {
    "NaN": ({"x": float("nan")}, "no JSON number"),
    "infinite": ({"x": [float("-inf")]}, "no JSON number"),
    "a decimal NaN": ({"x": Decimal("sNaN")}, "no JSON number"),
    "NUL": ({"x": "a\x00b"}, "NUL"),
    "NUL in a name": ({"a\x00b": 1}, "NUL"),
    "NUL in a key": ({"x": {"a\x00b": 1}}, "NUL"),
    "half a surrogate": ({"x": "\ud800"}, "surrogate"),
    "a set": ({"x": {1, 2}}, "no JSON value"),
    "bytes": ({"x": b"1"}, "no JSON value"),
    "an object": ({"x": object()}, "no JSON value"),
    "a key that is no text": ({"x": {1: 2}}, "no text"),
    "no map": ([1, 2], "map"),
    "a text": ("x=1", "map"),
    "no name": ({"": 1}, "no name"),
    "a long name": ({"x" * 256: 1}, "no name"),
    "too deep": ({"x": json.loads("[" * 200 + "]" * 200)}, "deeper"),
    "a huge number": ({"x": 1 << 100_000}, "beyond"),
    "a huge exponent": ({"x": Decimal("1e1000000")}, "beyond"),
}


@pytest.fixture
def there(world) -> dict[str, Any]:
    """An instance whose task is locked by "w", and the ids of what there is."""
    world.deploy(MODEL)
    instance = world.start()
    (task,) = engine.fetch_and_lock(["pay"], worker="w", lock_seconds=60)
    return {"instance": instance, "task": task.id, "person": UUID(int=task.id.int + 1)}


def everything(world) -> list[tuple]:
    """All that could change: counts, and the versions of all rows."""
    return world.ask("""SELECT (SELECT count(*) FROM runtime_commit), (SELECT count(*) FROM runtime_event),
        (SELECT sum(version) FROM runtime_thread_version), (SELECT sum(version) FROM external_tasks),
        (SELECT count(*) FROM runtime_operation_receipt), (SELECT count(*) FROM runtime_message)""")


def refused(world, ask: Callable[[], Any], *codes: str) -> engine.EngineError:
    """The error: of our own, with one of these codes and a sentence; nothing has changed."""
    before = everything(world)
    with pytest.raises(engine.EngineError) as error:
        ask()
    assert error.value.code in codes, error.value
    assert error.value.message.strip()
    assert everything(world) == before
    return error.value


def test_ids_of_nothing(world, there):
    others = {
        "tasks": (OF_TASKS, ids.entity(UNKNOWN, 5)),
        "people": (OF_PEOPLE, ids.entity(UNKNOWN, 5)),
        "instances": (OF_INSTANCES, UNKNOWN),
    }
    entity, instance = there["task"], there["instance"]
    for kind, (verbs, unknown) in others.items():
        # An id of another kind is no id of this one.
        wrong = instance if kind != "instances" else entity
        for verb in verbs.values():
            for id in (unknown, str(unknown), wrong, "", "x", "1", None, 7, "\x00", "a" * 10_000, ids.NIL):
                refused(world, lambda verb=verb, id=id: verb(id), "not_found")
    absent = ids.entity(instance, 4_000_000_000)
    for verb in (*OF_TASKS.values(), *OF_PEOPLE.values()):
        refused(world, lambda verb=verb: verb(absent), "not_found")
    refused(world, lambda: engine.retry_incident(absent, **A), "not_found")
    refused(world, lambda: engine.start("unknown", **A), "not_found")
    refused(world, lambda: engine.start("p", version=9, **A), "not_found")
    refused(world, lambda: engine.correlate("Unknown", **A), "not_found")


def test_another_worker_and_a_lock_that_ran_out(world, there):
    of_workers = {name: verb for name, verb in OF_TASKS.items() if name != "set_retries"}
    for verb in of_workers.values():
        error = refused(world, lambda verb=verb: verb(there["task"], worker="other"), "wrong_worker")
        assert "locked by w" in error.message
    world.move_clock(61)
    for name, verb in of_workers.items():
        if name != "unlock_task":
            assert "ran out" in refused(world, lambda verb=verb: verb(there["task"]), "lock_expired").message
    engine.release_expired_locks()
    for verb in of_workers.values():
        refused(world, lambda verb=verb: verb(there["task"]), "not_locked")


def test_an_instance_that_has_ended(world, there):
    engine.complete_task(there["task"], worker="w")
    person = world.only("user_tasks", there["instance"])
    engine.cancel_instance(there["instance"], **A)
    for name, verb in OF_INSTANCES.items():
        if name != "restart_instance":  # what an ended instance is for
            said = refused(world, lambda verb=verb: verb(there["instance"]), "not_running", "invalid", "not_found")
            assert said.message
    for verb in OF_TASKS.values():
        refused(world, lambda verb=verb: verb(there["task"]), "not_running")
    for verb in OF_PEOPLE.values():
        refused(world, lambda verb=verb: verb(person), "not_running")


@pytest.mark.parametrize("verb", WITH_VARIABLES)
def test_variables_that_are_none(world, there, verb):
    engine.deploy({"p.bpmn": MODEL}, actor="dora")
    id = {**dict.fromkeys(OF_TASKS, there["task"]), **dict.fromkeys(OF_INSTANCES, there["instance"])}.get(verb)
    if verb in OF_PEOPLE:
        engine.complete_task(there["task"], worker="w")
        id = world.only("user_tasks", there["instance"])
    for what, (variables, said) in NO_VALUES.items():
        error = refused(
            world, lambda given=variables: WITH_VARIABLES[verb](id, variables=given), "invalid_variables", "too_large"
        )
        assert said in error.message, what
        assert len(error.message) < 1_000, what


@pytest.mark.parametrize("verb", WITH_VARIABLES)
def test_a_hundred_megabytes_are_refused_before_they_cost_anything(world, there, verb):
    huge = {"x": ["y" * 1_000_000] * 100}
    tracemalloc.start()
    try:
        refused(world, lambda: WITH_VARIABLES[verb](there["task"], variables=huge), "too_large", "not_found")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000


def test_names_and_numbers_out_of_bounds(world, there):
    task, instance = there["task"], there["instance"]
    bad_names = ("", "x" * 256, "a\x00b", "\ud800", None, 7)
    for name in bad_names:
        for ask in (
            lambda n: E.start("p", actor=n),
            lambda n: E.fetch_and_lock(["pay"], worker=n),
            lambda n: E.fetch_and_lock([n], worker="w"),
            lambda n: E.complete_task(task, worker=n),
            lambda n: E.extend_lock(task, worker=n),
            lambda n: E.throw_task_error(task, worker="w", code=n),
            lambda n: E.publish(n, actor="ann"),
            lambda n: E.correlate(n, actor="ann"),
            lambda n: E.throw_signal(n, actor="ann"),
            lambda n: E.cancel_instance(instance, actor=n),
            lambda n: E.deploy({"p.bpmn": MODEL}, actor=n),
        ):
            refused(world, lambda ask=ask, name=name: ask(name), "invalid")
    for reason in ("x" * 5_000, "a\x00b", 7):
        refused(world, lambda reason=reason: E.cancel_instance(instance, actor="ann", reason=reason), "invalid")
        refused(world, lambda reason=reason: E.publish("Paid", actor="ann", reason=reason), "invalid")
        refused(world, lambda reason=reason: E.unlock_task(task, actor="ann", reason=reason), "invalid")
    for seconds in (0, -1, float("nan"), float("inf"), 10**9, "60", None, True):
        refused(world, lambda s=seconds: E.fetch_and_lock(["pay"], worker="w", lock_seconds=s), "invalid")
        refused(world, lambda s=seconds: E.extend_lock(task, worker="w", seconds=s), "invalid")
        refused(world, lambda s=seconds: E.publish("Paid", actor="ann", ttl=s), "invalid")
    for number in (0, -1, 10**9, "1", 1.5, None, True):
        refused(world, lambda n=number: E.fetch_and_lock(["pay"], worker="w", max=n), "invalid")
        refused(world, lambda n=number: E.retry_incident(ids.entity(instance, 9), actor="ann", retries=n), "invalid")
    for number in (-1, 10**9, "1", 1.5, True):
        refused(world, lambda n=number: E.fail_task(task, worker="w", retries=n), "invalid")
    for topics in ("pay", [], None, 7):
        refused(world, lambda t=topics: E.fetch_and_lock(t, worker="w"), "invalid")
    for node in ("nowhere", "end", "a\x00b", 7):
        refused(world, lambda n=node: E.start("p", actor="ann", node=n), "invalid")
    for version in (0, -1, "1", 1 << 70, 1.5, True):
        refused(world, lambda v=version: E.start("p", actor="ann", version=v), "invalid", "not_found")


def test_models_that_are_none(world, there):
    for files in ({}, {"a.bpmn": b""}, {"a.bpmn": b"\x00"}, {"a.bpmn": b"<a/>"}, {"": MODEL}, {"a\x00b": MODEL}):
        refused(world, lambda files=files: E.deploy(files, actor="dora"), "invalid", "deploy_refused")
