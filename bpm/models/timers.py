"""Moments at which something happens to a token."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from bpm.models import rules
from bpm.models.columns import AttachedRow, legal_state, state_column


class Timer(AttachedRow):
    """`node_id` is the event of the model, `schedule` says how it goes on after it has fired."""

    fire_at = models.DateTimeField(_("due"))
    schedule = models.JSONField(_("schedule"))
    state = state_column("timer")

    class Meta:
        db_table = "timers"
        verbose_name = _("timer")
        verbose_name_plural = _("timers")
        constraints = [legal_state("timer", "timers")]
        indexes = [
            models.Index(fields=["fire_at"], condition=models.Q(state="SCHEDULED"), name="timers_due"),
            models.Index(fields=["token"], condition=models.Q(state="SCHEDULED"), name="timers_open"),
        ]
        triggers = [
            *rules.versioned("id", "instance_id", "token_id"),
            *rules.lifecycle("timer"),
            *rules.explained_by_event("timer_events", "timer_id"),
            *rules.kept_while_open(),
        ]

    def __str__(self) -> str:
        return f"{self.node_id} {self.fire_at}"
