"""Where history lies that was moved out of the database, how long it stays there, and exports that run."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from bpm.models import rules
from bpm.models.columns import NIL


class Archive(models.Model):
    """A part of a month of history that was written, read back, verified and taken out of the database.

    `kept` counts, by table, the rows that stayed in the month's partitions: those of instances that were still open, or
    that a retention keeps. The manifest also lies beside the files.
    """

    number = models.BigAutoField(primary_key=True)
    month = models.DateField(_("month"))
    part = models.IntegerField(_("part"))
    address = models.CharField(_("place"))
    manifest = models.JSONField(_("manifest"))
    kept = models.JSONField(_("rows that stayed"))
    archived_at = models.DateTimeField(_("archived"))

    class Meta:
        db_table = "runtime_archive"
        verbose_name = _("archive")
        verbose_name_plural = _("archives")
        constraints = [models.UniqueConstraint(fields=["month", "part"], name="runtime_archive_part")]
        triggers = rules.append_only()

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} {self.part}"


class ArchivedInstance(models.Model):
    """An instance of which an archive has rows: it stays findable, and is read from there."""

    id = models.BigAutoField(primary_key=True)
    instance_id = models.UUIDField(_("instance"))
    archive = models.ForeignKey(
        Archive, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="instances"
    )
    process_def_id = models.UUIDField(_("definition"), null=True)
    definition_key = models.CharField(_("key"), null=True)
    business_key = models.CharField(_("business key"), null=True)
    state = models.CharField(_("state"), null=True)
    started_at = models.DateTimeField(_("started"), null=True)
    ended_at = models.DateTimeField(_("ended"), null=True)
    stayed = models.BooleanField(_("its rows stayed in the database as well"))

    class Meta:
        db_table = "runtime_archived_instance"
        verbose_name = _("archived instance")
        verbose_name_plural = _("archived instances")
        constraints = [
            models.UniqueConstraint(fields=["instance_id", "archive"], name="runtime_archived_instance_once")
        ]
        indexes = [
            models.Index(fields=["definition_key", "-started_at"], name="runtime_archived_by_key"),
            models.Index(
                fields=["business_key"],
                condition=models.Q(business_key__isnull=False),
                name="runtime_archived_business_key",
            ),
        ]
        triggers = rules.append_only()

    def __str__(self) -> str:
        return str(self.instance_id)


class Retention(models.Model):
    """For how many days after an instance has ended its history stays in the database; NULL: for ever.

    Nothing is moved for which nobody has said so: a definition without a row is kept, unless the row of the key "" says
    otherwise for all of them.
    """

    key = models.CharField(_("definition"), primary_key=True)
    keep_days = models.IntegerField(_("days"), null=True)
    version = models.IntegerField(_("version"))
    commit_version = models.BigIntegerField(_("commit"))
    commit_at = models.DateTimeField(_("changed"))

    class Meta:
        db_table = "runtime_retention"
        verbose_name = _("retention")
        verbose_name_plural = _("retentions")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(keep_days__isnull=True) | models.Q(keep_days__gte=0), name="runtime_retention_days"
            )
        ]
        triggers = [
            *rules.versioned("key"),
            rules.never_truncated(),
            *rules.explained_by_commit(f"'{NIL}'::uuid"),
        ]

    def __str__(self) -> str:
        return f"{self.key or '*'} {self.keep_days}"


class Export(models.Model):
    """An export that somebody asked for and a worker carries out. `done` grows as events are written."""

    class State(models.TextChoices):
        WAITING = "WAITING", _("waiting")
        RUNNING = "RUNNING", _("running")
        DONE = "DONE", _("done")
        FAILED = "FAILED", _("failed")

    id = models.UUIDField(primary_key=True)
    asked_by = models.CharField(_("asked by"))
    reason = models.TextField(_("stated reason"), null=True)
    format = models.CharField(_("format"))
    selection = models.JSONField(_("selection"))
    masking = models.JSONField(_("masks"))
    name = models.CharField(_("file"))
    state = models.CharField(_("state"), choices=State)
    done = models.BigIntegerField(_("events written"), default=0)
    manifest = models.JSONField(_("manifest"), null=True)
    error = models.TextField(_("error"), null=True)
    version = models.IntegerField(_("version"))
    asked_at = models.DateTimeField(_("asked"))
    seen_at = models.DateTimeField(_("last sign of life"))

    class Meta:
        db_table = "runtime_export"
        verbose_name = _("export")
        verbose_name_plural = _("exports")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=["WAITING", "RUNNING", "DONE", "FAILED"]), name="runtime_export_state"
            )
        ]
        indexes = [
            models.Index(
                fields=["asked_at"],
                condition=models.Q(state__in=["WAITING", "RUNNING"]),
                name="runtime_export_open",
            )
        ]
        triggers = [*rules.versioned("id", "asked_by", "selection", "masking"), rules.never_truncated()]

    def __str__(self) -> str:
        return self.name
