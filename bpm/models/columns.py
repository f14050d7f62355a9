"""Columns that many tables share."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext_lazy as _

from bpm.semantics.lifecycle import states

NIL = "00000000-0000-0000-0000-000000000000"


class TransactionId(models.Field):
    """PostgreSQL's 64-bit transaction id (xid8): seals wait until no older transaction is open."""

    description = "transaction id"

    def db_type(self, connection: Any) -> str:
        return "xid8"

    def get_internal_type(self) -> str:
        return "TransactionId"


def state_column(entity: str) -> models.CharField:
    """The state of an entity, with the legal values of its lifecycle as choices."""
    return models.CharField(_("state"), choices=[(state, state) for state in states(entity)])


def legal_state(entity: str, table: str) -> models.CheckConstraint:
    """CHECK of the legal values; transitions are for `rules.lifecycle`."""
    return models.CheckConstraint(condition=models.Q(state__in=states(entity)), name=f"{table}_state")


class RuntimeRow(models.Model):
    """What every runtime row has. `ordinal` is the id of the core; the row's UUID is made of it (see
    `bpm.store.ids`).
    """

    id = models.UUIDField(primary_key=True)
    ordinal = models.BigIntegerField(_("ordinal"))
    version = models.IntegerField(_("version"))
    commit_version = models.BigIntegerField(_("instance version of its last commit"))
    commit_at = models.DateTimeField(_("time of its last commit"))
    created_at = models.DateTimeField(_("created"))

    class Meta:
        abstract = True


class InstanceRow(RuntimeRow):
    """A runtime row of one instance."""

    instance = models.ForeignKey(
        "bpm.ProcessInstance",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="%(class)ss",
        verbose_name=_("instance"),
    )

    class Meta:
        abstract = True


class AttachedRow(InstanceRow):
    """A runtime row that hangs on a token; on the instance itself where `token_id` is the instance's id."""

    token = models.ForeignKey(
        "bpm.Token",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="%(class)ss",
        verbose_name=_("token"),
    )
    node_id = models.CharField(_("node"))

    class Meta:
        abstract = True


class Sourced(models.Model):
    """What every row of history carries from the first migration on: an append-only table cannot be filled in later."""

    commit_sequence = models.BigIntegerField(_("commit"), null=True)
    ordinal = models.IntegerField(_("ordinal in the commit"), null=True)
    thread_version = models.BigIntegerField(_("instance version"), null=True)
    row_version = models.IntegerField(_("row version"), null=True)
    caused_by = models.BigIntegerField(_("causing commit"), null=True)
    actor = models.CharField(_("actor"))
    stated_reason = models.TextField(_("stated reason"), null=True)
    xid = TransactionId(_("transaction"), db_default=RawSQL("pg_current_xact_id()", ()))
    engine_version = models.CharField(_("engine version"))
    format = models.SmallIntegerField(_("format of the payload"))

    class Meta:
        abstract = True
