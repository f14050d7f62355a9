"""Variables: one row a variable and scope. Their history is `runtime_state_command`."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from bpm.models import rules
from bpm.models.columns import InstanceRow


class Variable(InstanceRow):
    """`scope` 0 is the process, another ordinal is one visit of an activity. An unset variable stays as a row."""

    # Without an index of its own: the unique one begins with it, and plans would take the wrong one of the two.
    instance = models.ForeignKey(
        "bpm.ProcessInstance",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="variables",
        verbose_name=_("instance"),
    )
    scope = models.BigIntegerField(_("scope"))
    name = models.CharField(_("name"))
    value = models.JSONField(_("value"))
    present = models.BooleanField(_("has a value"))

    class Meta:
        db_table = "variables"
        verbose_name = _("variable")
        verbose_name_plural = _("variables")
        constraints = [
            models.UniqueConstraint(fields=["instance", "scope", "name"], name="variables_instance_scope_name")
        ]
        triggers = [
            *rules.versioned("id", "instance_id", "scope", "name"),
            *rules.explained_by_event("runtime_state_command", "variable_id"),
            *rules.kept_while_open(),
        ]

    def __str__(self) -> str:
        return self.name
