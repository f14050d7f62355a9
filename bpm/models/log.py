"""The commit log: the authority. Append-only but for the narrow row that every step locks, and the caches beside it."""

from __future__ import annotations

from django.db import models
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext_lazy as _

from bpm.models import rules
from bpm.models.columns import Sourced, TransactionId


class Commit(models.Model):
    """One transaction of one thread. The nil UUID is the thread of all that happens outside of instances: locks of
    tasks, deliveries, deployments; such a commit has its sequence as its version.

    `arguments` holds the command without the variables that `runtime_state_command` keeps (see `bpm.store.arguments`).
    """

    sequence = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField(_("time"))
    thread_id = models.UUIDField(_("thread"))
    run_id = models.UUIDField(_("run"))
    version = models.BigIntegerField(_("version"))
    process_def_id = models.UUIDField(_("definition"), null=True)
    command = models.CharField(_("command"))
    arguments = models.JSONField(_("arguments"))
    actor = models.CharField(_("actor"))
    stated_reason = models.TextField(_("stated reason"), null=True)
    key = models.CharField(_("idempotency key"), null=True)
    caused_by = models.BigIntegerField(_("causing commit"), null=True)
    events = models.IntegerField(_("number of events"))
    counters = models.JSONField(_("counters afterwards"))
    xid = TransactionId(_("transaction"), db_default=RawSQL("pg_current_xact_id()", ()))
    engine_version = models.CharField(_("engine version"))
    format = models.SmallIntegerField(_("format"))

    class Meta:
        db_table = "runtime_commit"
        verbose_name = _("commit")
        verbose_name_plural = _("commits")
        indexes = [models.Index(fields=["xid"], name="runtime_commit_xid")]
        triggers = rules.append_only()

    def __str__(self) -> str:
        return str(self.sequence)


class ThreadVersion(models.Model):
    """The row that every step of an instance locks first and advances last."""

    thread_id = models.UUIDField(primary_key=True)
    version = models.BigIntegerField(_("version"))
    last_at = models.DateTimeField(_("time of its last commit"))
    counters = models.JSONField(_("counters"))

    class Meta:
        db_table = "runtime_thread_version"
        verbose_name = _("thread version")
        verbose_name_plural = _("thread versions")
        triggers = [
            *rules.versioned("thread_id"),
            *rules.explained(
                "runtime_commit", ("thread_id", "NEW.thread_id"), ("version", "NEW.version"), at="NEW.last_at"
            ),
            rules.never_deleted(),
            rules.never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.thread_id} {self.version}"


class StateCommand(Sourced):
    """A variable was set or unset. The value is stored here once; arguments refer to it by its ordinal."""

    class Op(models.TextChoices):
        SET = "SET", _("set")
        UNSET = "UNSET", _("unset")

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(_("time"))
    instance_id = models.UUIDField(_("instance"))
    variable_id = models.UUIDField(_("variable"))
    op = models.CharField(_("operation"), choices=Op)
    scope = models.BigIntegerField(_("scope"))
    name = models.CharField(_("name"))
    value = models.JSONField(_("value"), null=True)
    token_id = models.UUIDField(_("token"), null=True)
    node_id = models.CharField(_("node"), null=True)
    reason = models.CharField(_("reason"), null=True)
    payload = models.JSONField(_("payload"))

    class Meta:
        db_table = "runtime_state_command"
        verbose_name = _("state command")
        verbose_name_plural = _("state commands")
        indexes = [
            models.Index(fields=["variable_id", "row_version"], name="runtime_state_command_row"),
            models.Index(fields=["instance_id", "commit_sequence", "ordinal"], name="runtime_state_command_trace"),
            models.Index(fields=["xid"], name="runtime_state_command_xid"),
        ]
        triggers = rules.append_only()

    def __str__(self) -> str:
        return f"{self.op} {self.name}"


class OperationReceipt(models.Model):
    """The stored result of a command that carried an idempotency key. Same key and content: this result again."""

    id = models.UUIDField(primary_key=True)
    instance_id = models.UUIDField(_("instance"))
    actor = models.CharField(_("actor"))
    key = models.CharField(_("idempotency key"))
    content = models.CharField(_("hash of the command"))
    result = models.JSONField(_("result"))
    version = models.IntegerField(_("version"))
    commit_version = models.BigIntegerField(_("instance version of its commit"))
    commit_at = models.DateTimeField(_("time of its commit"))
    created_at = models.DateTimeField(_("created"))

    class Meta:
        db_table = "runtime_operation_receipt"
        verbose_name = _("operation receipt")
        verbose_name_plural = _("operation receipts")
        constraints = [
            models.UniqueConstraint(fields=["instance_id", "actor", "key"], name="runtime_operation_receipt_key")
        ]
        indexes = [models.Index(fields=["created_at"], name="runtime_operation_receipt_age")]
        triggers = [
            *rules.versioned("id", "instance_id", "actor", "key", "content", "result"),
            *rules.explained_by_commit("NEW.instance_id"),
            rules.never_truncated(),
        ]

    def __str__(self) -> str:
        return self.key


class RunRecord(models.Model):
    """One continuous execution of a thread and its latest state: a cache, written in each commit."""

    run_id = models.UUIDField(primary_key=True)
    thread_id = models.UUIDField(_("thread"), db_index=True)
    number = models.IntegerField(_("number"))
    process_def_id = models.UUIDField(_("definition"))
    state = models.CharField(_("state"))
    last_sequence = models.BigIntegerField(_("last commit"))
    last_command = models.CharField(_("last command"))
    version = models.IntegerField(_("version"))
    commit_version = models.BigIntegerField(_("instance version of its last commit"))
    commit_at = models.DateTimeField(_("time of its last commit"))
    started_at = models.DateTimeField(_("started"))
    ended_at = models.DateTimeField(_("ended"), null=True)

    class Meta:
        db_table = "runtime_run_record"
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        triggers = [*rules.versioned("run_id", "thread_id"), *rules.kept_while_open("OLD.thread_id")]

    def __str__(self) -> str:
        return str(self.run_id)


class BaseState(models.Model):
    """All of a thread as it stood at one of its versions: where folding its history may begin. A cache, which `bpm
    snapshot` fills; `sequence` is the commit of that version, `state` has the rows by kind, as they were stored.
    """

    thread_id = models.UUIDField(primary_key=True)
    sequence = models.BigIntegerField(_("commit"))
    state = models.JSONField(_("state"))
    version = models.IntegerField(_("version"))
    commit_version = models.BigIntegerField(_("instance version"))
    commit_at = models.DateTimeField(_("time of its commit"))
    taken_at = models.DateTimeField(_("taken"))

    class Meta:
        db_table = "runtime_base_state"
        verbose_name = _("base state")
        verbose_name_plural = _("base states")
        triggers = [
            *rules.versioned("thread_id"),
            *rules.explained_by_commit("NEW.thread_id"),
            rules.never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.thread_id} {self.commit_version}"
