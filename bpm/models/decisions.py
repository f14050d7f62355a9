"""Deployed decisions: immutable, versioned a decision, each self-contained."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from bpm.models import rules


class DecisionDefinition(models.Model):
    """A deployed version of one decision (or decision service) of a DMN file; immutable once stored.

    `decisions` is what the file says with all that it imports (`bpm.decisions.to_json`), the same for each decision of
    the file: an old version goes on to mean what it meant, whatever is deployed later.
    """

    id = models.UUIDField(primary_key=True)
    key = models.CharField(_("key"))
    name = models.CharField(_("name"), blank=True)
    version = models.IntegerField(_("version"))
    version_tag = models.CharField(_("version tag"), null=True)
    decisions = models.JSONField(_("decisions"))
    decisions_hash = models.CharField(_("hash of the decisions"))
    source = models.TextField(_("source"))
    source_hash = models.CharField(_("hash of the source"))
    resource = models.CharField(_("file"), blank=True)
    deployment_id = models.UUIDField(_("deployment"), db_index=True)
    created_at = models.DateTimeField(_("created"))
    created_by = models.CharField(_("created by"))
    commit_version = models.BigIntegerField(_("commit"))
    commit_at = models.DateTimeField(_("time of its commit"))

    class Meta:
        db_table = "decision_definitions"
        verbose_name = _("decision definition")
        verbose_name_plural = _("decision definitions")
        constraints = [models.UniqueConstraint(fields=["key", "version"], name="decision_definitions_key_version")]
        triggers = [
            *rules.immutable("a decision definition"),
            *rules.explained_by_commit(f"'{'0' * 8}-0000-0000-0000-{'0' * 12}'::uuid"),
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.version}"
