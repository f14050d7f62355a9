"""What is deployed: immutable process definitions, and what waits to start them."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from bpm.models import rules


class ProcessDefinition(models.Model):
    """A deployed version of a model; immutable once stored.

    The last four columns are what loading a part of an instance asks of the graph, so that one round trip finds
    everything: joining nodes, scopes that hold an inclusive join, and the variables that expressions read.
    """

    id = models.UUIDField(primary_key=True)
    key = models.CharField(_("key"))
    name = models.CharField(_("name"), blank=True)
    version = models.IntegerField(_("version"))
    version_tag = models.CharField(_("version tag"), null=True)
    graph = models.JSONField(_("graph"))
    graph_hash = models.CharField(_("hash of the graph"))
    source = models.TextField(_("source"))
    source_hash = models.CharField(_("hash of the source"))
    resource = models.CharField(_("file"), blank=True)
    deployment_id = models.UUIDField(_("deployment"), db_index=True)
    created_at = models.DateTimeField(_("created"))
    created_by = models.CharField(_("created by"))
    commit_version = models.BigIntegerField(_("commit"))
    commit_at = models.DateTimeField(_("time of its commit"))
    joins = models.JSONField(_("joining nodes"))
    whole_scopes = models.JSONField(_("scopes with an inclusive join"))
    reads = models.JSONField(_("variables read"))
    dynamic = models.BooleanField(_("reads any variable"))

    class Meta:
        db_table = "process_definitions"
        verbose_name = _("process definition")
        verbose_name_plural = _("process definitions")
        constraints = [models.UniqueConstraint(fields=["key", "version"], name="process_definitions_key_version")]
        triggers = [
            *rules.immutable("a process definition"),
            *rules.explained_by_commit(f"'{'0' * 8}-0000-0000-0000-{'0' * 12}'::uuid"),
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.version}"


class DefinitionState(models.Model):
    """Whether a definition may be started, where that was ever said: none of a suspended one begins."""

    class State(models.TextChoices):
        ACTIVE = "ACTIVE", _("active")
        SUSPENDED = "SUSPENDED", _("suspended")

    process_def_id = models.UUIDField(primary_key=True)
    state = models.CharField(_("state"), choices=State)
    version = models.IntegerField(_("version"))
    commit_version = models.BigIntegerField(_("commit"))
    commit_at = models.DateTimeField(_("time of its last commit"))

    class Meta:
        db_table = "definition_states"
        verbose_name = _("state of a definition")
        verbose_name_plural = _("states of definitions")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=["ACTIVE", "SUSPENDED"]), name="definition_states_state"
            ),
        ]
        triggers = [
            *rules.versioned("process_def_id"),
            rules.never_deleted(),
            rules.never_truncated(),
            *rules.explained_by_commit(f"'{'0' * 8}-0000-0000-0000-{'0' * 12}'::uuid"),
        ]

    def __str__(self) -> str:
        return f"{self.process_def_id} {self.state}"


class StartSubscription(models.Model):
    """A start event that waits for a timer, message, signal or condition. It has no instance yet."""

    class Kind(models.TextChoices):
        MESSAGE = "MESSAGE", _("message")
        SIGNAL = "SIGNAL", _("signal")
        TIMER = "TIMER", _("timer")
        CONDITION = "CONDITION", _("condition")

    class State(models.TextChoices):
        OPEN = "OPEN", _("open")
        CLOSED = "CLOSED", _("closed")

    id = models.UUIDField(primary_key=True)
    definition = models.ForeignKey(
        ProcessDefinition, on_delete=models.DO_NOTHING, db_column="process_def_id", related_name="subscriptions"
    )
    definition_key = models.CharField(_("key"))
    node_id = models.CharField(_("node"))
    kind = models.CharField(_("kind"), choices=Kind)
    name = models.CharField(_("name"), blank=True)
    fire_at = models.DateTimeField(_("due"), null=True)
    schedule = models.JSONField(_("schedule"), null=True)
    state = models.CharField(_("state"), choices=State)
    version = models.IntegerField(_("version"))
    commit_version = models.BigIntegerField(_("commit"))
    commit_at = models.DateTimeField(_("time of its last commit"))
    created_at = models.DateTimeField(_("created"))

    class Meta:
        db_table = "start_subscriptions"
        verbose_name = _("start subscription")
        verbose_name_plural = _("start subscriptions")
        constraints = [
            models.CheckConstraint(condition=models.Q(state__in=["OPEN", "CLOSED"]), name="start_subscriptions_state"),
            models.UniqueConstraint(
                fields=["definition", "node_id", "kind", "name"],
                condition=models.Q(state="OPEN"),
                name="start_subscriptions_open",
            ),
        ]
        indexes = [
            models.Index(fields=["kind", "name"], condition=models.Q(state="OPEN"), name="start_subscriptions_name"),
            models.Index(
                fields=["fire_at"], condition=models.Q(state="OPEN", kind="TIMER"), name="start_subscriptions_due"
            ),
            models.Index(fields=["definition_key"], condition=models.Q(state="OPEN"), name="start_subscriptions_key"),
        ]
        triggers = [
            *rules.versioned("id", "process_def_id", "node_id", "kind"),
            rules.never_truncated(),
            *rules.explained_by_commit(f"'{'0' * 8}-0000-0000-0000-{'0' * 12}'::uuid"),
        ]

    def __str__(self) -> str:
        return f"{self.definition_key} {self.node_id}"
