"""Work that waits for people: user tasks, and incidents that wait for an operator."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from bpm.models import rules
from bpm.models.columns import AttachedRow, legal_state, state_column
from bpm.semantics.lifecycle import DELEGATION


class UserTask(AttachedRow):
    """Work that waits for a person."""

    state = state_column("user_task")
    assignee = models.CharField(_("assignee"), null=True)
    candidate_users = models.JSONField(_("candidate users"))
    candidate_groups = models.JSONField(_("candidate groups"))
    due = models.CharField(_("due"), null=True)
    follow_up = models.CharField(_("follow up"), null=True)
    priority = models.BigIntegerField(_("priority"))
    form_key = models.CharField(_("form"), null=True)
    owner = models.CharField(_("owner"), null=True)
    delegation = models.CharField(_("delegation"), choices=[(state, state) for state in DELEGATION], null=True)

    class Meta:
        db_table = "user_tasks"
        verbose_name = _("user task")
        verbose_name_plural = _("user tasks")
        constraints = [
            legal_state("user_task", "user_tasks"),
            models.CheckConstraint(
                condition=models.Q(delegation__isnull=True) | models.Q(delegation__in=DELEGATION),
                name="user_tasks_delegation",
            ),
        ]
        indexes = [
            models.Index(fields=["token"], condition=models.Q(state__in=["READY", "CLAIMED"]), name="user_tasks_open"),
            models.Index(
                fields=["assignee", "-created_at"],
                condition=models.Q(state__in=["READY", "CLAIMED"]),
                name="user_tasks_assignee",
            ),
            models.Index(
                fields=["-created_at"], condition=models.Q(state__in=["READY", "CLAIMED"]), name="user_tasks_newest"
            ),
        ]
        triggers = [
            *rules.versioned("id", "instance_id", "token_id"),
            *rules.lifecycle("user_task"),
            *rules.explained_by_event("work_events", "entity_id"),
            *rules.kept_while_open(),
        ]

    def __str__(self) -> str:
        return f"{self.node_id} {self.id}"


class Incident(AttachedRow):
    """Work that stopped and waits for an operator. `task` is the external task that failed, if one did."""

    kind = models.CharField(_("kind"))
    message = models.TextField(_("message"))
    task = models.ForeignKey(
        "bpm.ExternalTask",
        on_delete=models.DO_NOTHING,
        null=True,
        db_constraint=False,
        db_index=False,
        related_name="incidents",
        verbose_name=_("task"),
    )
    state = state_column("incident")

    class Meta:
        db_table = "incidents"
        verbose_name = _("incident")
        verbose_name_plural = _("incidents")
        constraints = [legal_state("incident", "incidents")]
        indexes = [
            models.Index(fields=["token"], condition=models.Q(state="OPEN"), name="incidents_open"),
            models.Index(fields=["-created_at"], condition=models.Q(state="OPEN"), name="incidents_newest"),
        ]
        triggers = [
            *rules.versioned("id", "instance_id", "token_id"),
            *rules.lifecycle("incident"),
            *rules.explained_by_event("work_events", "entity_id"),
            *rules.kept_while_open(),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.node_id}"
