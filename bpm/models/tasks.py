"""External tasks: work done outside by a program. The task's state is not the token's."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from bpm.models import rules
from bpm.models.columns import AttachedRow, legal_state, state_column


class ExternalTask(AttachedRow):
    """A lock, its extension and its expiry change only this row, guarded by its own version."""

    topic = models.CharField(_("topic"))
    state = state_column("task")
    retries = models.IntegerField(_("retries left"))
    retry_at = models.DateTimeField(_("not before"), null=True)
    priority = models.BigIntegerField(_("priority"))
    lock_owner = models.CharField(_("worker"), null=True)
    lock_expire_at = models.DateTimeField(_("locked until"), null=True)

    class Meta:
        db_table = "external_tasks"
        verbose_name = _("external task")
        verbose_name_plural = _("external tasks")
        constraints = [
            legal_state("task", "external_tasks"),
            models.CheckConstraint(condition=models.Q(retries__gte=0), name="external_tasks_retries"),
        ]
        indexes = [
            models.Index(
                fields=["topic", "-priority", "created_at"],
                condition=models.Q(state="READY"),
                name="external_tasks_ready",
            ),
            models.Index(fields=["lock_expire_at"], condition=models.Q(state="LOCKED"), name="external_tasks_locked"),
            models.Index(
                fields=["token"],
                condition=models.Q(state__in=["READY", "LOCKED", "FAILED"]),
                name="external_tasks_open",
            ),
            models.Index(
                fields=["-created_at", "id"],
                condition=models.Q(state__in=["READY", "LOCKED", "FAILED"]),
                name="external_tasks_newest",
            ),
        ]
        triggers = [
            *rules.versioned("id", "instance_id", "token_id"),
            *rules.lifecycle("task"),
            *rules.explained_by_event("external_task_events", "task_id"),
            *rules.kept_while_open(),
        ]

    def __str__(self) -> str:
        return f"{self.topic} {self.id}"
