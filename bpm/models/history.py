"""History: what has happened, append-only and partitioned by month on `at`.

Django's key is `id`; the tables' own key is (id, at), as partitioning needs. An event of the core is rebuilt exactly
from its row: the ordinals of the core are in the UUIDs (see `bpm.store.ids`).
"""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from bpm.models import rules
from bpm.models.columns import Sourced, TransactionId


class EventRow(Sourced):
    """The columns of every event."""

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(_("time"))
    instance_id = models.UUIDField(_("instance"))
    event_type = models.CharField(_("type"))
    token_id = models.UUIDField(_("token"), null=True)
    node_id = models.CharField(_("node"), null=True)
    from_state = models.CharField(_("from"), null=True)
    to_state = models.CharField(_("to"), null=True)
    reason = models.CharField(_("reason"), null=True)
    payload = models.JSONField(_("payload"))

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.event_type} {self.node_id or ''}"


def _indexes(table: str, entity: str) -> list[models.Index]:
    """By row version: the event rule and the life of one entity. By commit: the trace of an instance. By transaction:
    seals.
    """
    return [
        models.Index(fields=[entity, "row_version"], name=f"{table}_row"),
        models.Index(fields=["instance_id", "commit_sequence", "ordinal"], name=f"{table}_trace"),
        models.Index(fields=["xid"], name=f"{table}_xid"),
    ]


class TokenEvent(EventRow):
    """What happened to a token."""

    class Meta:
        db_table = "token_events"
        verbose_name = _("token event")
        verbose_name_plural = _("token events")
        indexes = _indexes("token_events", "token_id")
        triggers = rules.append_only()


class ExternalTaskEvent(EventRow):
    """What happened to an external task. `worker_id` and `error` are parts of the event's payload, kept here alone."""

    task_id = models.UUIDField(_("task"))
    worker_id = models.CharField(_("worker"), null=True)
    error = models.TextField(_("error"), null=True)

    class Meta:
        db_table = "external_task_events"
        verbose_name = _("external task event")
        verbose_name_plural = _("external task events")
        indexes = _indexes("external_task_events", "task_id")
        triggers = rules.append_only()


class TimerEvent(EventRow):
    """What happened to a timer."""

    timer_id = models.UUIDField(_("timer"))

    class Meta:
        db_table = "timer_events"
        verbose_name = _("timer event")
        verbose_name_plural = _("timer events")
        indexes = _indexes("timer_events", "timer_id")
        triggers = rules.append_only()


class WorkEvent(EventRow):
    """What happened to a user task, an incident, a ticket, a message or a decision (`entity` says which)."""

    entity = models.CharField(_("entity"))
    entity_id = models.UUIDField(_("entity's id"))

    class Meta:
        db_table = "work_events"
        verbose_name = _("work event")
        verbose_name_plural = _("work events")
        indexes = _indexes("work_events", "entity_id")
        triggers = rules.append_only()


class EngineEvent(EventRow):
    """What happened to an instance as a whole; with no instance and no commit: what the engine itself did."""

    instance_id = models.UUIDField(_("instance"), null=True)  # type: ignore[assignment]
    entity = models.CharField(_("entity"))

    class Meta:
        db_table = "engine_events"
        verbose_name = _("engine event")
        verbose_name_plural = _("engine events")
        indexes = [
            models.Index(fields=["instance_id", "row_version"], name="engine_events_row"),
            models.Index(fields=["instance_id", "commit_sequence", "ordinal"], name="engine_events_trace"),
            models.Index(fields=["xid"], name="engine_events_xid"),
            models.Index(
                fields=["event_type", "-at"], condition=models.Q(instance_id__isnull=True), name="engine_events_own"
            ),
        ]
        triggers = rules.append_only()


class RuntimeEvent(models.Model):
    """A view: all history of all threads, in commit order (commit_sequence, ordinal)."""

    id = models.CharField(primary_key=True)
    source = models.CharField(_("table"))
    at = models.DateTimeField(_("time"))
    thread_id = models.UUIDField(_("thread"), null=True)
    commit_sequence = models.BigIntegerField(_("commit"), null=True)
    ordinal = models.IntegerField(_("ordinal in the commit"), null=True)
    thread_version = models.BigIntegerField(_("instance version"), null=True)
    row_version = models.IntegerField(_("row version"), null=True)
    event_type = models.CharField(_("type"))
    entity = models.CharField(_("entity"))
    entity_id = models.UUIDField(_("entity's id"), null=True)
    token_id = models.UUIDField(_("token"), null=True)
    node_id = models.CharField(_("node"), null=True)
    from_state = models.CharField(_("from"), null=True)
    to_state = models.CharField(_("to"), null=True)
    reason = models.CharField(_("reason"), null=True)
    worker_id = models.CharField(_("worker"), null=True)
    error = models.TextField(_("error"), null=True)
    scope = models.BigIntegerField(_("variable scope"), null=True)
    name = models.CharField(_("variable"), null=True)
    value = models.JSONField(_("value"), null=True)
    payload = models.JSONField(_("payload"))
    caused_by = models.BigIntegerField(_("causing commit"), null=True)
    actor = models.CharField(_("actor"))
    stated_reason = models.TextField(_("stated reason"), null=True)
    xid = TransactionId(_("transaction"))
    engine_version = models.CharField(_("engine version"))
    format = models.SmallIntegerField(_("format of the payload"))

    class Meta:
        managed = False
        db_table = "runtime_event"
        verbose_name = _("event")
        verbose_name_plural = _("events")

    def __str__(self) -> str:
        return f"{self.event_type} {self.node_id or ''}"
