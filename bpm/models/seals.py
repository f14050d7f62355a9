"""Seals: the chain of hashes over committed history. See `bpm.audit` for what is sealed and how it is verified."""

from __future__ import annotations

from django.db import models
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext_lazy as _

from bpm.models import rules
from bpm.models.columns import TransactionId


class SealEpoch(models.Model):
    """Transaction ids begin anew in a server that a logical dump was restored into; an epoch is one server's.

    What history held when it was opened (up to `after_*`) is sealed by its first seal, as far as older epochs had not
    sealed it (up to `before_*`); what came later, by transaction id.
    """

    number = models.IntegerField(primary_key=True)
    server = models.CharField(_("server's identifier"))
    before_sequence = models.BigIntegerField(_("last commit sealed by older epochs"))
    before_event = models.BigIntegerField(_("last engine event sealed by older epochs"))
    after_sequence = models.BigIntegerField(_("last commit before it"))
    after_event = models.BigIntegerField(_("last engine event before it"))
    opened_at = models.DateTimeField(_("opened"))

    class Meta:
        db_table = "runtime_seal_epoch"
        verbose_name = _("epoch of seals")
        verbose_name_plural = _("epochs of seals")
        triggers = rules.append_only()

    def __str__(self) -> str:
        return str(self.number)


class Seal(models.Model):
    """One link of the chain: the digests of all rows whose transaction lies in [xid_from, xid_until).

    `tables` has for each table (name, rows, digest); `leaves` names the rows (table by table: id and half of the row's
    SHA-256), so that a row that was changed, removed or inserted can be named. Only what is in `body` is hashed.
    """

    class Kind(models.TextChoices):
        OPENING = "OPENING", _("what an epoch began with")
        XIDS = "XIDS", _("transactions")

    number = models.BigIntegerField(primary_key=True)
    epoch = models.IntegerField(_("epoch"))
    kind = models.CharField(_("kind"), choices=Kind)
    form = models.SmallIntegerField(_("canonical form"))
    xid_from = TransactionId(_("from transaction"))
    xid_until = TransactionId(_("before transaction"))
    commits = models.IntegerField(_("commits"))
    events = models.IntegerField(_("events"))
    state_commands = models.IntegerField(_("state commands"))
    last_sequence = models.BigIntegerField(_("highest commit so far"))
    last_event = models.BigIntegerField(_("highest engine event so far"))
    tables = models.JSONField(_("digests by table"))
    leaves = models.BinaryField(_("rows"))
    body = models.TextField(_("what is hashed"))
    hash = models.CharField(_("hash"))
    sealed_at = models.DateTimeField(_("sealed"))
    xid = TransactionId(_("transaction"), db_default=RawSQL("pg_current_xact_id()", ()))

    class Meta:
        db_table = "runtime_seal"
        verbose_name = _("seal")
        verbose_name_plural = _("seals")
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=["OPENING", "XIDS"]), name="runtime_seal_kind")
        ]
        triggers = rules.append_only()

    def __str__(self) -> str:
        return str(self.number)
