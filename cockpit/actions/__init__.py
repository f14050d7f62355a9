"""What an operator may do, a module a verb: each takes a POST, calls one verb of the engine and says what happened.

The person is the actor; where a reason is asked for it is kept in history. A refusal of the engine is shown in its own
words, and then nothing has changed. ROUTES is the table of addresses.
"""

from __future__ import annotations

from cockpit.actions import (
    ask_export,
    assign_task,
    cancel_instance,
    claim_task,
    complete_task,
    delegate_task,
    deploy,
    migrate_instance,
    migrate_version,
    modify_instance,
    replay_instance,
    restart_instance,
    resume_definition,
    resume_instance,
    retry_incident,
    retry_incidents,
    set_variables,
    start_instance,
    suspend_definition,
    suspend_instance,
    unclaim_task,
    verify_seals,
)
from cockpit.pages.shown import Route

ROUTES: tuple[Route, ...] = (
    ("deploy/", "deploy", deploy.view),
    ("processes/<uuid:id>/start/", "start", start_instance.view),
    ("processes/<uuid:id>/suspend/", "suspend-definition", suspend_definition.view),
    ("processes/<uuid:id>/resume/", "resume-definition", resume_definition.view),
    ("instances/<uuid:id>/cancel/", "cancel-instance", cancel_instance.view),
    ("instances/<uuid:id>/suspend/", "suspend-instance", suspend_instance.view),
    ("instances/<uuid:id>/restart/", "restart-instance", restart_instance.view),
    ("instances/<uuid:id>/resume/", "resume-instance", resume_instance.view),
    ("instances/<uuid:id>/migrate/run/", "migrate-instance", migrate_instance.view),
    ("processes/<uuid:id>/migrate/run/", "migrate-version", migrate_version.view),
    ("instances/<uuid:id>/modify/run/", "modify-instance", modify_instance.view),
    ("instances/<uuid:id>/replay/", "replay-instance", replay_instance.view),
    ("instances/<uuid:id>/variables/", "set-variables", set_variables.view),
    ("incidents/retry/", "retry-incidents", retry_incidents.view),
    ("incidents/<uuid:id>/retry/", "retry-incident", retry_incident.view),
    ("audit/exports/ask/", "ask-export", ask_export.view),
    ("audit/seals/verify/", "verify-seals", verify_seals.view),
    ("tasks/<uuid:id>/claim/", "claim-task", claim_task.view),
    ("tasks/<uuid:id>/assign/", "assign-task", assign_task.view),
    ("tasks/<uuid:id>/delegate/", "delegate-task", delegate_task.view),
    ("tasks/<uuid:id>/unclaim/", "unclaim-task", unclaim_task.view),
    ("tasks/<uuid:id>/complete/", "complete-task", complete_task.view),
)
