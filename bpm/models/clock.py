"""The only clock is the database's. A test database alone may hold an offset: how scenarios move time."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.utils.translation import gettext_lazy as _

from bpm.models import rules


class ClockOffset(models.Model):
    """At most one row. It is refused unless a superuser has marked the database as one for tests, by a table named
    `tokentrail_test_database` that a superuser owns (nobody else can make one)."""

    id = models.BooleanField(primary_key=True, default=True)
    ahead = models.DurationField(_("ahead of the real time"))

    class Meta:
        db_table = "runtime_clock_offset"
        verbose_name = _("clock offset")
        verbose_name_plural = _("clock offsets")
        constraints = [models.CheckConstraint(condition=models.Q(id=True), name="runtime_clock_offset_single")]
        triggers = [
            pgtrigger.Trigger(
                name=f"{rules.PREFIX}tests_only",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                func=rules.line("""
                    IF NOT EXISTS (
                        SELECT FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
                        WHERE c.relname = 'tokentrail_test_database' AND c.relkind = 'r' AND r.rolsuper
                    ) THEN
                        RAISE EXCEPTION 'the clock of this database cannot be moved: it is not marked as one for tests'
                            USING ERRCODE = 'TT105';
                    END IF;
                    RETURN NEW;
                """),
            )
        ]

    def __str__(self) -> str:
        return str(self.ahead)
