"""Tokens of programs that use the API, and the rights that people and tokens have."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class ApiToken(models.Model):
    """A program's key to the API. Only a hash is kept: whoever reads this table can use none of them."""

    class Role(models.TextChoices):
        WORKER = "worker", _("worker")
        OPERATOR = "operator", _("operator")
        AUDITOR = "auditor", _("auditor")

    id = models.UUIDField(primary_key=True)
    name = models.CharField(_("name"), unique=True)
    digest = models.CharField(_("hash"), unique=True)
    role = models.CharField(_("role"), choices=Role)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        related_name="api_tokens",
        verbose_name=_("person who answers for it"),
    )
    created_at = models.DateTimeField(_("created"))
    last_used_at = models.DateTimeField(_("last used"), null=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True)

    class Meta:
        db_table = "api_tokens"
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(role__in=["worker", "operator", "auditor"]), name="api_tokens_role"
            )
        ]
        permissions = [
            ("work", "Can fetch and complete external tasks"),
            ("operate", "Can deploy, start, retry, cancel, suspend and set variables"),
            ("audit", "Can read, verify and export history"),
        ]

    def __str__(self) -> str:
        return self.name
