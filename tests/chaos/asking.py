"""What a client hears while the database takes no changes, and whether anything changed."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import Error
from django.test import Client

from bpm import engine
from bpm.store import access
from tests.chaos import models, proof


def prepare(prefix: str) -> dict[str, str]:
    """An instance whose task a worker holds, one at a person's task, and a token of the API."""
    engine.deploy(models.STANDING, actor="dora")
    instance = engine.start("chaos_flaky", business_key=prefix, actor="ann").thread_id
    (task,) = [task for task in engine.fetch_and_lock(["charge"], worker="w", max=100) if task.instance_id == instance]
    people = engine.start("chaos_people", business_key=prefix, actor="ann").thread_id
    ((person,),) = proof.ask("SELECT id FROM user_tasks WHERE instance_id = %s", people)
    token = access.issue_token(prefix, "operator")
    return {"instance": str(instance), "task": str(task.id), "person": str(person), "token": token}


def verbs(there: dict[str, str]) -> dict[str, Callable[[], Any]]:
    """Verbs of every kind, with a key each."""
    instance, task, person = there["instance"], there["task"], there["person"]
    by: dict[str, Any] = {"actor": "ann"}
    return {
        "deploy": lambda: engine.deploy({"pack.bpmn": models.PACK.replace(b"pack", b"packed")}, key="k", **by),
        "start": lambda: engine.start("chaos_broken", key="k", business_key="later", **by),
        "fetch_and_lock": lambda: engine.fetch_and_lock(["repair"], worker="w"),
        "extend_lock": lambda: engine.extend_lock(task, worker="w", key="k"),
        "complete_task": lambda: engine.complete_task(task, worker="w", variables={"tried": 1}, key="c"),
        "claim_task": lambda: engine.claim_task(person, "ann", key="k"),
        "publish": lambda: engine.publish("ChaosSent", business_key="later", key="p", **by),
        "set_variables": lambda: engine.set_variables(instance, {"a": 1}, key="s", **by),
        "suspend_instance": lambda: engine.suspend_instance(instance, key="u", **by),
        "release_expired_locks": engine.release_expired_locks,
        "recover": engine.recover,
    }


def ask_all(there: dict[str, str]) -> dict[str, list[str]]:
    """Ask every verb; what kind of error each raised, and its words (none: it was done)."""
    return {name: heard(verb) for name, verb in verbs(there).items()}


def heard(verb: Callable[[], Any]) -> list[str]:
    """The error's class, and what it says."""
    try:
        verb()
    except (Error, engine.EngineError) as error:
        return [type(error).__name__, str(error)]
    return []


def ask_api(there: dict[str, str]) -> dict[str, Any]:
    """What the API answers to a reader and to a writer."""
    headers = {"Authorization": f"Bearer {there['token']}"}
    client = Client(SERVER_NAME="localhost")
    reading = client.get(f"/api/instances/{there['instance']}", headers=headers)
    body = json.dumps({"process": "chaos_broken"})
    writing = client.post("/api/instances", body, content_type="application/json", headers=headers)
    return {"reading": reading.status_code, "writing": writing.status_code, "said": writing.json(),
            "retry_after": writing.headers.get("Retry-After")}  # fmt: skip


def counts() -> list[int]:
    """How much the database holds."""
    tables = ("runtime_commit", "runtime_event", "process_instances", "runtime_message", "runtime_operation_receipt")
    return [proof.ask(f"SELECT count(*) FROM {table}")[0][0] for table in tables]


def start_large(number: int) -> list[str]:
    """Start an instance with variables that no compression makes small, until that is refused; what was said."""
    for one in range(number):
        start = partial(
            engine.start, "chaos_broken", {"text": secrets.token_hex(500_000)}, actor="ann", key=f"large {one}"
        )
        said = heard(start)
        if said:
            return said
    return []


def problems(prefix: str | None = None) -> dict[str, Any]:
    """What is wrong with any instance (of a business key), and how many there are."""
    rows = proof.ask("SELECT id, business_key FROM process_instances")
    found = [id for id, key in rows if prefix in (None, key)]
    return {"instances": len(found), "found": proof.problems(found)}
