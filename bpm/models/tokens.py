"""Tokens, and who forked or was joined into whom."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from bpm.models import rules
from bpm.models.columns import InstanceRow, legal_state, state_column

OPEN = models.Q(state__in=["ACTIVE", "WAITING"])


class Token(InstanceRow):
    """A place where the instance is. `scope_id` is the token at the enclosing subprocess, or the instance itself."""

    node_id = models.CharField(_("node"))
    state = state_column("token")
    scope_id = models.UUIDField(_("scope"))
    parent_token = models.ForeignKey(
        "self",
        on_delete=models.DO_NOTHING,
        null=True,
        db_constraint=False,
        db_index=False,
        related_name="children",
        verbose_name=_("forked by"),
    )
    flow_id = models.CharField(_("came by flow"), null=True)
    step = models.CharField(_("step"))
    local_scope = models.BigIntegerField(_("scope of its own variables"), default=0)
    loop_index = models.IntegerField(_("index in a multi-instance"), null=True)
    updated_at = models.GeneratedField(
        expression=models.F("commit_at"),  # type: ignore[arg-type]  # a name is an expression here, as Django documents
        output_field=models.DateTimeField(),
        db_persist=True,
        verbose_name=_("updated"),
    )

    class Meta:
        db_table = "tokens"
        verbose_name = _("token")
        verbose_name_plural = _("tokens")
        constraints = [legal_state("token", "tokens")]
        indexes = [
            models.Index(fields=["instance", "scope_id", "node_id"], condition=OPEN, name="tokens_open_scope"),
            models.Index(fields=["parent_token"], condition=OPEN, name="tokens_open_children"),
            models.Index(fields=["commit_at"], condition=models.Q(state="ACTIVE"), name="tokens_active"),
        ]
        triggers = [
            *rules.versioned("id", "instance_id"),
            *rules.lifecycle("token"),
            *rules.explained_by_event("token_events", "token_id"),
            *rules.kept_while_open(),
        ]

    def __str__(self) -> str:
        return f"{self.node_id} ({self.ordinal})"


class TokenLink(InstanceRow):
    """FORK: the parent forked the child. JOIN: the parent was consumed by a gateway, and the child went on."""

    class Type(models.TextChoices):
        FORK = "FORK", _("fork")
        JOIN = "JOIN", _("join")

    parent_token = models.ForeignKey(
        Token, on_delete=models.DO_NOTHING, db_constraint=False, related_name="links_to", verbose_name=_("parent")
    )
    child_token = models.ForeignKey(
        Token, on_delete=models.DO_NOTHING, db_constraint=False, related_name="links_from", verbose_name=_("child")
    )
    link_type = models.CharField(_("type"), choices=Type)

    class Meta:
        db_table = "token_links"
        verbose_name = _("token link")
        verbose_name_plural = _("token links")
        constraints = [
            models.CheckConstraint(condition=models.Q(link_type__in=["FORK", "JOIN"]), name="token_links_type")
        ]
        triggers = [
            *rules.versioned("id", "instance_id", "parent_token_id", "child_token_id", "link_type"),
            *rules.explained(
                "token_events",
                ("token_id", "NEW.child_token_id"),
                also=(("instance_id", "NEW.instance_id"), ("thread_version", "NEW.commit_version")),
            ),
            *rules.kept_while_open(),
        ]

    def __str__(self) -> str:
        return f"{self.link_type} {self.parent_token_id} {self.child_token_id}"
