"""What instances tell each other, and what a token waits for besides tasks and timers."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from bpm.models import rules
from bpm.models.columns import AttachedRow, InstanceRow, legal_state, state_column


class WaitTicket(AttachedRow):
    """What a token waits for: a message, a signal, a called instance, a condition; or a compensation kept ready."""

    kind = models.CharField(_("kind"))
    name = models.CharField(_("name"))
    correlation = models.CharField(_("correlation key"), null=True)
    state = state_column("ticket")
    data = models.JSONField(_("data"))

    class Meta:
        db_table = "runtime_wait_ticket"
        verbose_name = _("wait ticket")
        verbose_name_plural = _("wait tickets")
        constraints = [legal_state("ticket", "runtime_wait_ticket")]
        indexes = [
            models.Index(fields=["token"], condition=models.Q(state="OPEN"), name="runtime_wait_ticket_open"),
            models.Index(
                fields=["kind", "name", "correlation"],
                condition=models.Q(state="OPEN"),
                name="runtime_wait_ticket_match",
            ),
        ]
        triggers = [
            *rules.versioned("id", "instance_id", "token_id"),
            *rules.lifecycle("ticket"),
            *rules.explained_by_event("work_events", "entity_id"),
            *rules.kept_while_open(),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class Message(InstanceRow):
    """One row at the sender (OUT), one at each receiver (IN), never both in one transaction.

    (sender, sender_version, sender_ordinal) names a message: the thread that sent it (the nil UUID: somebody outside),
    its version and the ordinal of the MESSAGE_SENT event. The receiver's row is written by the very commit that
    consumes the message, and is unique: a second delivery is recognised and changes nothing. Only what goes to many (a
    signal, a message to all) may have several IN rows, one a ticket.
    """

    class Box(models.TextChoices):
        OUT = "OUT", _("sent")
        IN = "IN", _("received")

    box = models.CharField(_("box"), choices=Box)
    sender = models.UUIDField(_("sender"))
    sender_version = models.BigIntegerField(_("sender's version"))
    sender_ordinal = models.BigIntegerField(_("sender's ordinal"))
    kind = models.CharField(_("kind"))
    name = models.CharField(_("name"))
    correlation = models.CharField(_("correlation key"), null=True)
    business_key = models.CharField(_("business key"), null=True)
    body = models.JSONField(_("body"))
    target = models.UUIDField(_("receiver, where it is known"), null=True)
    many = models.BooleanField(_("for all who wait"), default=False)
    ticket = models.BigIntegerField(_("ticket that consumed it"), default=0)
    expires_at = models.DateTimeField(_("expires"), null=True)
    state = state_column("message")

    class Meta:
        db_table = "runtime_message"
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        constraints = [
            legal_state("message", "runtime_message"),
            models.CheckConstraint(condition=models.Q(box__in=["OUT", "IN"]), name="runtime_message_box"),
            models.CheckConstraint(
                condition=models.Q(box="OUT") | models.Q(state="DELIVERED"), name="runtime_message_in_is_delivered"
            ),
            models.UniqueConstraint(
                fields=["sender", "sender_version", "sender_ordinal"],
                condition=models.Q(box="OUT"),
                name="runtime_message_sent_once",
            ),
            models.UniqueConstraint(
                fields=["sender", "sender_version", "sender_ordinal"],
                condition=models.Q(box="IN", many=False),
                name="runtime_message_received_once",
            ),
            models.UniqueConstraint(
                fields=["sender", "sender_version", "sender_ordinal", "instance", "ticket"],
                condition=models.Q(box="IN", many=True),
                name="runtime_message_received_each",
            ),
        ]
        indexes = [
            # First in, first out by (sender, name, key); the relay walks it in this order.
            models.Index(
                fields=["created_at", "sender_ordinal"],
                condition=models.Q(box="OUT", state="PENDING"),
                name="runtime_message_pending",
            ),
            models.Index(
                fields=["kind", "name", "correlation"],
                condition=models.Q(box="OUT", state="PENDING"),
                name="runtime_message_match",
            ),
        ]
        triggers = [
            *rules.versioned("id", "instance_id", "box", "sender", "sender_version", "sender_ordinal"),
            *rules.lifecycle("message"),
            *rules.explained_by_event("work_events", "entity_id", where="NEW.box = 'OUT'"),
            # What was received needs no event of its own: the commit that consumed it names it.
            *rules.explained_by_commit("NEW.instance_id", name="consumed", where="NEW.box = 'IN'"),
            *rules.kept_while_open(),
        ]

    def __str__(self) -> str:
        return f"{self.box} {self.kind} {self.name}"
