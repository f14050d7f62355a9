"""Ready-made reports: who did what when, and which worker caused which failure. Rows stream in the log's order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bpm.audit.export.selection import Selection, definitions_of
from bpm.audit.statements import ask
from bpm.store.values import loads

PAGE = 1_000

# Commands in words; another one is called by its own name.
WORDS: Mapping[str, str] = {
    "StartInstance": "started an instance",
    "CompleteExternalTask": "completed work",
    "FailExternalTask": "reported a failure",
    "ThrowBpmnError": "reported a BPMN error",
    "SetRetries": "set the retries of work",
    "CompleteUserTask": "completed a user task",
    "ThrowUserTaskError": "reported a BPMN error of a user task",
    "ClaimUserTask": "claimed a user task",
    "UnclaimUserTask": "gave a user task back",
    "AssignUserTask": "assigned a user task",
    "DelegateUserTask": "delegated a user task",
    "ResolveUserTask": "resolved a user task",
    "Correlate": "sent a message",
    "SetVariables": "set variables",
    "RetryIncident": "had an incident tried again",
    "CancelInstance": "cancelled an instance",
    "SuspendInstance": "suspended an instance",
    "ResumeInstance": "resumed an instance",
    "RestartInstance": "began a new run of an instance",
    "ModifyInstance": "moved tokens",
    "MigrateInstance": "migrated an instance",
    "FireTimer": "let a timer fire",
    "Deploy": "deployed models",
    "Export": "exported history",
    "Archive": "archived history",
    "SuspendDefinition": "suspended a definition",
    "ResumeDefinition": "resumed a definition",
    "SetRetention": "changed a retention",
    "Publish": "published a message",
    "Unlock": "gave work back",
}
ACTS = (
    "at",
    "who",
    "did",
    "instance",
    "definition",
    "definition_version",
    "node",
    "stated_reason",
    "command",
    "commit",
)
FAILURES = (
    "at", "worker", "what", "node", "instance", "task", "error", "locked_at", "retries_left", "incident", "commit",
)  # fmt: skip
_WHAT = {
    "TASK_FAILED": "failed",
    "TASK_TIMED_OUT": "did not answer in time",
    "TASK_ERROR_THROWN": "reported a BPMN error",
}


def who_did_what_when(selection: Selection, *, everything: bool = False) -> Iterator[dict[str, Any]]:
    """Acts of people and programs, deployments and exports among them; `everything`: of the engine and fetches, too."""
    asked = _conditions(selection) | {"everything": everything, "users": list(selection.users) or None, "limit": PAGE}
    after = 0
    while rows := ask("acts", asked | {"after": after}):
        about = {row[0]: row[5] for row in rows if row[5] is not None}
        found = {"instances": list(set(about.values())), "sequences": list(about)}
        nodes = dict(ask("nodes_of_commits", found)) if about else {}
        for sequence, at, actor, command, reason, instance, arguments, key, version in rows:
            yield {
                "at": at,
                "who": actor,
                "did": WORDS.get(command, command),
                "instance": instance or loads(arguments).get("instance"),
                "definition": key,
                "definition_version": version,
                "node": nodes.get(sequence),
                "stated_reason": reason,
                "command": command,
                "commit": sequence,
            }
        after = rows[-1][0]
        if len(rows) < PAGE:
            return


def which_worker_failed(selection: Selection) -> Iterator[dict[str, Any]]:
    """Failures of work: who had it, since when, what was said, and whether an incident came of it."""
    asked = _conditions(selection) | {"workers": list(selection.workers) or None, "limit": PAGE}
    after = 0
    while rows := ask("failures", asked | {"after": after}):
        for _, at, type, worker, error, payload, instance, node, task, sequence, locked, incident in rows:
            said = loads(payload)
            yield {
                "at": at,
                "worker": worker,
                "what": _WHAT[type],
                "node": node,
                "instance": instance,
                "task": task,
                "error": error or said.get("message") or said.get("code"),
                "locked_at": locked,
                "retries_left": said.get("retries"),
                "incident": incident,
                "commit": sequence,
            }
        after = rows[-1][0]
        if len(rows) < PAGE:
            return


def _conditions(selection: Selection) -> dict[str, Any]:
    return {
        "since": selection.since,
        "until": selection.until,
        "instances": list(selection.instances) or None,
        "definitions": definitions_of(selection),
    }
