"""BPMN 2.0 processes in Django and PostgreSQL: the engine.

The one sentence that decides every trade-off: whenever the machine dies, restarts, races or retries, the exact state
of the engine is in the database, and the history explains how it got there.

Pure packages at the bottom decide (no clock, no chance, no input or output): expressions, decisions, graph, compiler,
semantics, replay, scenarios. Above them PostgreSQL: models, store. Above that what may do or ask: engine,
queries, audit. On top what calls it: api, jobs, management. sdk stands alone. Imports point down only; the contracts
in pyproject.toml say exactly how.

What a handler needs comes from here, and is loaded only when somebody asks:

    from bpm import BpmnError, TaskContext, TaskFailure, bean, external_task
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bpm.jobs.handlers import BpmnError, TaskContext, TaskFailure, external_task
    from bpm.store.beans import bean

__all__ = ["BpmnError", "TaskContext", "TaskFailure", "bean", "external_task"]


def __getattr__(name: str) -> Any:
    """The pure packages are imported without Django and Celery, so nothing of the upper packages is imported here."""
    if name not in __all__:
        raise AttributeError(f"module 'bpm' has no attribute {name!r}")
    if name == "bean":
        from bpm.store.beans import bean

        return bean
    from bpm.jobs import handlers

    return getattr(handlers, name)
