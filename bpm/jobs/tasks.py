"""The Celery tasks: thin, since everything that matters is in the database. Loaded by `autodiscover_tasks`.

A worker keeps its connection from task to task, as a web server does from request to request: a new one costs the
server many times what a task does, since each session plans and prepares for itself. Celery closes it after each task
unless the site sets CELERY_DB_REUSE_MAX; a worker says so where it is missing.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import structlog
from celery import shared_task
from celery.schedules import schedule
from celery.signals import beat_init, celeryd_after_setup, task_postrun, task_prerun, worker_init, worker_ready
from django.db import close_old_connections, connections

from bpm import engine
from bpm.jobs.queues import CONTINUE, JOB, WORK, consume_topics, consumed
from bpm.jobs.running import run_one
from bpm.jobs.schedule import JOBS, run_job
from bpm.jobs.starting import require_schema

log = structlog.get_logger(__name__)


@shared_task(name=WORK, ignore_result=True, acks_late=True, bind=True)
def work(self: Any, topic: str) -> None:
    """Do the next ready task of a topic, if there is one, and what follows from it and is this worker's."""
    run_one(topic, beside=consumed(self.app))


@shared_task(name=CONTINUE, ignore_result=True, acks_late=True)
def continue_instance(instance: str) -> None:
    """Let an instance go on whose tokens were not all advanced by the process that made them."""
    engine.continue_instance(UUID(instance))


@shared_task(name=JOB, ignore_result=True)
def job(name: str) -> None:
    """One job of the schedule."""
    run_job(name)


@worker_init.connect
def require_fit_database(sender: Any, **_: Any) -> None:
    """A worker does not start on a database that is not what it was written for. Raises SystemExit."""
    require_schema()
    if not sender.app.conf.get("db_reuse_max"):
        log.warning("each task opens a connection of its own, which costs many times the task: set CELERY_DB_REUSE_MAX")


@task_prerun.connect
@task_postrun.connect
def look_after_connections(sender: Any, **_: Any) -> None:
    """What Django does around a request, around a task: a connection that broke or grew old (CONN_MAX_AGE) is closed,
    and the next use of one that is kept looks whether the server is still there (CONN_HEALTH_CHECKS).
    """
    if not sender.request.is_eager:
        close_old_connections()


@beat_init.connect
def put_on_schedule(sender: Any, **_: Any) -> None:
    """Give Celery beat the table of jobs, on a database that is fit. A turn that was not taken in time is dropped: the
    next one does its work.
    """
    require_schema()
    sender.scheduler.update_from_dict(
        {
            f"bpm.{name}": {
                "task": JOB,
                "args": (name,),
                "schedule": schedule(one.every),
                "options": {"expires": max(5.0, one.every), "retry": False},
            }
            for name, one in JOBS.items()
        }
    )


@worker_ready.connect
def recover(**_: Any) -> None:
    """A worker starts: look at once for what was left behind, whatever the reason."""
    try:
        engine.recover()
    except Exception:
        log.exception("recovery failed; the schedule goes on with it")
    finally:
        # The worker's children are forked from this process and must not inherit a connection.
        connections.close_all()


celeryd_after_setup.connect(consume_topics)
