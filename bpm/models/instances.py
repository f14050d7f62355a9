"""One run of a definition: the container of tokens. It carries no execution detail."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from bpm.models import rules
from bpm.models.columns import RuntimeRow, legal_state, state_column
from bpm.models.definitions import ProcessDefinition


class ProcessInstance(RuntimeRow):
    """`caller` is what a called instance needs to answer; the two columns after it find it by its caller."""

    definition = models.ForeignKey(
        ProcessDefinition,
        on_delete=models.DO_NOTHING,
        db_column="process_def_id",
        db_constraint=False,
        related_name="instances",
        verbose_name=_("definition"),
    )
    definition_key = models.CharField(_("key"))
    state = state_column("instance")
    business_key = models.CharField(_("business key"), null=True)
    run_id = models.UUIDField(_("run"))
    caller = models.JSONField(_("caller"), null=True)
    parent_instance_id = models.UUIDField(_("calling instance"), null=True)
    parent_ticket = models.BigIntegerField(_("ticket of the call"), null=True)
    started_by = models.CharField(_("started by"))
    started_at = models.DateTimeField(_("started"))
    ended_at = models.DateTimeField(_("ended"), null=True)

    class Meta:
        db_table = "process_instances"
        verbose_name = _("process instance")
        verbose_name_plural = _("process instances")
        constraints = [
            legal_state("instance", "process_instances"),
            models.CheckConstraint(
                condition=models.Q(ended_at__isnull=True, state__in=["RUNNING", "SUSPENDED"])
                | models.Q(ended_at__isnull=False, state__in=["COMPLETED", "FAILED", "CANCELLED"]),
                name="process_instances_ended",
            ),
        ]
        indexes = [
            models.Index(fields=["-started_at", "id"], name="process_instances_newest"),
            models.Index(fields=["state", "-started_at"], name="process_instances_by_state"),
            models.Index(fields=["definition_key", "-started_at"], name="process_instances_by_key"),
            models.Index(
                fields=["definition", "state", "-started_at"],
                condition=models.Q(ended_at__isnull=True),
                name="process_instances_open",
            ),
            models.Index(
                fields=["business_key"],
                opclasses=["varchar_pattern_ops"],
                condition=models.Q(business_key__isnull=False),
                name="process_instances_by_business",
            ),
            models.Index(
                fields=["parent_instance_id", "parent_ticket"],
                condition=models.Q(parent_instance_id__isnull=False),
                name="process_instances_caller",
            ),
            models.Index(
                fields=["ended_at"], condition=models.Q(ended_at__isnull=False), name="process_instances_ended_at"
            ),
        ]
        triggers = [
            *rules.versioned("id"),
            *rules.lifecycle("instance", within="run_id"),
            *rules.runs(
                "instance",
                "run_id",
                "engine_events",
                ("instance_id", "NEW.id"),
                ("row_version", "NEW.version"),
                ("thread_version", "NEW.commit_version"),
            ),
            *rules.explained(
                "engine_events",
                ("instance_id", "NEW.id"),
                ("row_version", "NEW.version"),
                ("thread_version", "NEW.commit_version"),
            ),
            *rules.not_suspended(),
            *rules.kept_while_open("OLD.id"),
        ]

    def __str__(self) -> str:
        return f"{self.definition_key} {self.id}"
