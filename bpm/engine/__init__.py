"""The step that everything goes through, and the verbs built on it.

A verb checks what it was given (`variables`), finds the instance and the ordinal that an id stands for, and makes one
step: `step` locks the instance's version row, loads what the command needs, lets `semantics.decide` decide, and flushes
the events with the rows they explain in one transaction. After the commit `follow` lets the instance go on: its ACTIVE
tokens are advanced, what it told others is delivered, each in a transaction of its own, a bounded number here and the
rest by whoever was registered as announcer (Celery, by `bpm.jobs`). Inside the caller's `transaction.atomic()` all that
waits for the caller's commit.

A verb that refuses raises an EngineError (`code`, `message`), and then nothing has changed.

- `deploying`      deploy
- `decisions`      evaluate_decision, find_decision
- `starting`       start, find_definition
- `external_tasks` fetch_and_lock, complete_task, complete_and_lock_next, fail_task, throw_task_error, extend_lock,
                   unlock_task
- `user_tasks`     claim_task, unclaim_task, assign_user_task, delegate_user_task, resolve_user_task,
                   complete_user_task, throw_user_task_error
- `conditions`     evaluate_conditions: what starts with a condition
- `messages`       correlate (refused where nobody waits), publish (waits for its receiver), throw_signal
- `timers`         fire_due_timers, fire_timer, fire_start_timers
- `operators`      retry_incident, set_retries, cancel_instance, suspend_instance, resume_instance, set_variables
- `suspending`     suspend_definition, resume_definition
- `versions`       plan_migration, migrate_instance, modify_instance, restart_instance
- `relay`          deliver: what instances told each other, to its receivers
- `follow`         what comes after a commit; `announcing` who is told of work that is ready
- `trying`         what cannot be done blocks nothing else and becomes an incident
- `recovery`       what schedulers ask again and again: locks that ran out, tokens left behind, what has ended
- `files`          keep_file, read_file: files that variables refer to
- `variables`      what comes in as JSON; `errors` what is raised; `acting` how a verb acts
- `subscriptions`  what starts a process without anybody naming it
"""

from __future__ import annotations

from bpm.engine.acting import KeyConflict, Refused
from bpm.engine.announcing import Announcement, announce, register, unregister
from bpm.engine.conditions import evaluate_conditions
from bpm.engine.decisions import Evaluated, evaluate_decision, find_decision
from bpm.engine.deploying import Deployed, Deployment, deploy
from bpm.engine.errors import DeployRefused, EngineError, EvaluationFailed, Invalid, InvalidVariables, NotFound
from bpm.engine.external_tasks import (
    complete_and_lock_next,
    complete_task,
    extend_lock,
    fail_task,
    fetch_and_lock,
    task_headers,
    throw_task_error,
    topics_beside,
    unlock_task,
)
from bpm.engine.files import File, keep_file, read_file
from bpm.engine.follow import continue_instance
from bpm.engine.messages import correlate, publish, throw_signal
from bpm.engine.operators import (
    cancel_instance,
    resume_instance,
    retry_incident,
    set_retries,
    set_variables,
    suspend_instance,
)
from bpm.engine.recovery import (
    advance_left_behind,
    deliver_pending,
    ensure_partitions,
    expire_messages,
    forgotten_tasks,
    recover,
    release_expired_locks,
    sweep_ended,
    sweep_messages,
    sweep_receipts,
    tick,
)
from bpm.engine.starting import find_definition, start
from bpm.engine.suspending import resume_definition, suspend_definition
from bpm.engine.timers import fire_due_timers, fire_start_timers, fire_timer
from bpm.engine.user_tasks import (
    assign_user_task,
    claim_task,
    complete_user_task,
    delegate_user_task,
    resolve_user_task,
    throw_user_task_error,
    unclaim_task,
)
from bpm.engine.variables import checked, dumps, loads
from bpm.engine.versions import MigrationPlan, migrate_instance, modify_instance, plan_migration, restart_instance
from bpm.store.claims import LockedTask, Topic, Topics
from bpm.store.outbox import Published
from bpm.store.records import CommitRecord

__all__ = [
    "Announcement",
    "CommitRecord",
    "DeployRefused",
    "Deployed",
    "Deployment",
    "EngineError",
    "Evaluated",
    "EvaluationFailed",
    "File",
    "Invalid",
    "InvalidVariables",
    "KeyConflict",
    "LockedTask",
    "MigrationPlan",
    "NotFound",
    "Published",
    "Refused",
    "Topic",
    "Topics",
    "advance_left_behind",
    "announce",
    "assign_user_task",
    "cancel_instance",
    "checked",
    "claim_task",
    "complete_and_lock_next",
    "complete_task",
    "complete_user_task",
    "continue_instance",
    "correlate",
    "delegate_user_task",
    "deliver_pending",
    "deploy",
    "dumps",
    "ensure_partitions",
    "evaluate_conditions",
    "evaluate_decision",
    "expire_messages",
    "extend_lock",
    "fail_task",
    "fetch_and_lock",
    "find_decision",
    "find_definition",
    "fire_due_timers",
    "fire_start_timers",
    "fire_timer",
    "forgotten_tasks",
    "keep_file",
    "loads",
    "migrate_instance",
    "modify_instance",
    "plan_migration",
    "publish",
    "read_file",
    "recover",
    "register",
    "release_expired_locks",
    "resolve_user_task",
    "restart_instance",
    "resume_definition",
    "resume_instance",
    "retry_incident",
    "set_retries",
    "set_variables",
    "start",
    "suspend_definition",
    "suspend_instance",
    "sweep_ended",
    "sweep_messages",
    "sweep_receipts",
    "task_headers",
    "throw_signal",
    "throw_task_error",
    "throw_user_task_error",
    "tick",
    "topics_beside",
    "unclaim_task",
    "unlock_task",
    "unregister",
]
