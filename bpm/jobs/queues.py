"""Queues: each topic has its own, so that a worker can be given some topics and not others.

A worker of the default queue (`celery -A PROJECT worker`) also takes every topic that it has a handler for; a worker
that was given queues (`--queues=tokentrail.payments.charge`) takes those alone.
"""

from __future__ import annotations

from typing import Any

from bpm.jobs.handlers import topics

PREFIX = "tokentrail."
# The names of the Celery tasks (`tasks`), by which they are sent.
WORK, CONTINUE, JOB = "bpm.work", "bpm.continue_instance", "bpm.job"


def queue_of(topic: str) -> str:
    """The queue of a topic."""
    return f"{PREFIX}{topic}"


def consumed(app: Any) -> tuple[str, ...]:
    """The topics that the worker of this process takes: those with a handler whose queues it was given."""
    queues = app.amqp.queues.consume_from
    return tuple(topic for topic in topics() if queue_of(topic) in queues)


def consume_topics(instance: Any, **_: Any) -> None:
    """Celery's signal celeryd_after_setup: add the queues of the topics with handlers."""
    queues = instance.app.amqp.queues
    if instance.app.conf.task_default_queue in queues.consume_from:
        for topic in topics():
            queues.select_add(queue_of(topic))
