"""Every event says who, every act of an operator why: over all verbs, and over all that the engine does by itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from bpm import engine
from bpm.audit.archive import retention
from bpm.audit.export import Selection, export
from bpm.audit.places import place
from bpm.jobs import schedule
from tests.database.engine.drawing import boundary, catch, end, flows, message, model, service, start, user

MESSAGES = '<bpmn:message id="m" name="paid"/><bpmn:message id="b" name="begin"/><bpmn:error id="e" errorCode="E"/>'
CONDITION = "<bpmn:conditionalEventDefinition><bpmn:condition>${go}</bpmn:condition></bpmn:conditionalEventDefinition>"
WHO, WHY = "olga", "since the customer asked"
MODELS = {
    "work.bpmn": model(start(), service("A"), end(), flows("start -> A -> end"), id="work"),
    "people.bpmn": model(
        start(),
        user("U"),
        boundary("B", "U", '<bpmn:errorEventDefinition errorRef="e"/>'),
        end(),
        flows("start -> U -> end", "B -> end"),
        id="people",
        before=MESSAGES,
    ),
    "told.bpmn": model(
        start(), catch("M", message("m")), end(), flows("start -> M -> end"), id="told", before=MESSAGES
    ),
    "begun.bpmn": model(start("s", message("b")), end(), flows("s -> end"), id="begun", before=MESSAGES),
    "if.bpmn": model(start("c", CONDITION), end(), flows("c -> end"), id="if"),
}
BY: dict[str, Any] = {"actor": WHO, "reason": WHY}


def begun(world, process: str, table: str = "") -> Any:
    instance = world.start(process)
    return world.only(table, instance) if table else instance


def incident(world) -> Any:
    instance = world.start("work")
    engine.fail_task(locked(world, instance), worker="ada", message="no", retries=0)
    return world.only("incidents", instance)


def locked(world, instance=None) -> Any:
    mine = instance or world.start("work")
    (task,) = (one for one in engine.fetch_and_lock(["A"], worker="ada", max=100) if one.instance_id == mine)
    return task.id


def claimed(world) -> Any:
    task = begun(world, "people", "user_tasks")
    engine.claim_task(task, "ann")
    return task


def delegated(world) -> Any:
    task = begun(world, "people", "user_tasks")
    engine.delegate_user_task(task, "ann", actor="ann")
    return task


def changed(world) -> Any:
    instance = world.start("work")
    world.deploy(MODELS["work.bpmn"].replace(b'id="A"', b'id="A" name="again"'))
    return instance


def ended(world) -> Any:
    instance = world.start("work")
    engine.cancel_instance(instance, actor="ann")
    return instance


# verb -> how an operator, or a program for somebody, gives it; verbs of workers have no reason but their work.
ACTS: dict[str, Callable[[Any], Any]] = {
    "start": lambda world: engine.start("work", **BY),
    "deploy": lambda world: engine.deploy({"new.bpmn": MODELS["work.bpmn"].replace(b'"work"', b'"new"')}, **BY),
    "correlate": lambda world: begun(world, "told") and engine.correlate("paid", **BY),
    "publish": lambda world: engine.publish("begin", **BY),
    "throw_signal": lambda world: engine.throw_signal("none", **BY),
    "evaluate_conditions": lambda world: engine.evaluate_conditions({"go": True}, **BY),
    "claim_task": lambda world: engine.claim_task(begun(world, "people", "user_tasks"), "ann", **BY),
    "unclaim_task": lambda world: engine.unclaim_task(claimed(world), **BY),
    "assign_user_task": lambda world: engine.assign_user_task(begun(world, "people", "user_tasks"), "ann", **BY),
    "delegate_user_task": lambda world: engine.delegate_user_task(begun(world, "people", "user_tasks"), "ann", **BY),
    "resolve_user_task": lambda world: engine.resolve_user_task(delegated(world), **BY),
    "complete_user_task": lambda world: engine.complete_user_task(begun(world, "people", "user_tasks"), **BY),
    "throw_user_task_error": lambda world: engine.throw_user_task_error(
        begun(world, "people", "user_tasks"), code="E", **BY
    ),
    "unlock_task": lambda world: engine.unlock_task(locked(world), **BY),
    "set_retries": lambda world: engine.set_retries(waiting(world), 5, **BY),
    "suspend_definition": lambda world: engine.suspend_definition("told", **BY),
    "resume_definition": lambda world: engine.resume_definition(suspended_definition(), **BY),
    "retry_incident": lambda world: engine.retry_incident(incident(world), **BY),
    "set_variables": lambda world: engine.set_variables(begun(world, "work"), {"a": 1}, **BY),
    "suspend_instance": lambda world: engine.suspend_instance(begun(world, "work"), **BY),
    "resume_instance": lambda world: engine.resume_instance(suspended(world), **BY),
    "cancel_instance": lambda world: engine.cancel_instance(begun(world, "work"), **BY),
    "modify_instance": lambda world: engine.modify_instance(begun(world, "work"), start_before=["A"], **BY),
    "migrate_instance": lambda world: engine.migrate_instance(changed(world), **BY),
    "restart_instance": lambda world: engine.restart_instance(ended(world), **BY),
}


def suspended(world) -> Any:
    instance = begun(world, "work")
    engine.suspend_instance(instance, actor="ann")
    return instance


def waiting(world) -> Any:
    instance = world.start("work")
    return world.only("external_tasks", instance)


def suspended_definition() -> str:
    engine.suspend_definition("begun", actor="ann")
    return "begun"


def verbs(parameter: str) -> set[str]:
    """The engine's verbs that take this."""
    found = {name: getattr(engine, name) for name in engine.__all__}
    return {
        name
        for name, one in found.items()
        if inspect.isfunction(one) and parameter in inspect.signature(one).parameters
    }


def test_every_verb_of_people_takes_a_reason():
    assert verbs("actor") - verbs("worker") <= verbs("reason")
    assert verbs("reason") - set(ACTS) == set(), "a new verb: let it be among the acts of this test"


def test_every_act_stands_in_history_with_who_and_why(world, tmp_path):
    engine.deploy(MODELS, actor="tester")
    acts = {name: ACTS[name] for name in sorted(verbs("reason"))}
    acts["an export"] = lambda world: export(Selection(), "csv", place(str(tmp_path)), "x.csv", **BY)
    acts["a retention"] = lambda world: retention.set_retention("work", 30, **BY)
    for name, act in acts.items():
        ((last,),) = world.ask("SELECT max(sequence) FROM runtime_commit")
        act(world)
        mine = "sequence > %s AND actor = %s AND stated_reason = %s"
        found = world.ask(f"SELECT sequence FROM runtime_commit WHERE {mine}", last, WHO, WHY)
        assert found, f"{name} left no commit with who and why"
        others = world.ask(
            "SELECT event_type, actor, stated_reason FROM runtime_event WHERE commit_sequence = ANY(%s)"
            " AND (actor <> %s OR stated_reason IS DISTINCT FROM %s)",
            [row[0] for row in found],
            WHO,
            WHY,
        )
        assert others == [], name


def test_no_event_is_anybodys(world):
    """Workers, people, timers, the engine's own rounds: each event and commit names who."""
    engine.deploy(MODELS, actor="tester")
    for act in (incident, locked, claimed, suspended):
        act(world)
    world.move_clock(300)
    for job in schedule.JOBS:
        schedule.run_job(job)
    for table in ("runtime_event", "runtime_commit"):
        assert world.ask(f"SELECT * FROM {table} WHERE coalesce(actor, '') = ''") == []
    events = "SELECT DISTINCT actor FROM runtime_event"
    assert {"ada", "ann", "tester", "engine"} <= {actor for (actor,) in world.ask(events)}
    workers = world.ask("SELECT DISTINCT worker_id FROM external_task_events WHERE event_type = 'TASK_FAILED'")
    assert workers == [("ada",)]
    with pytest.raises(engine.EngineError):
        engine.start("work", actor="")
