"""Contents of files that variables refer to."""

from __future__ import annotations

from django.db import models
from django.db.models import Func
from django.utils.translation import gettext_lazy as _

from bpm.models import rules


class VariableFile(models.Model):
    """A content, once, under its hash. History refers to it by the hash, so it stays as it is, as history does: no
    sweep, no archive and no retention takes it away, and the CHECK proves that it is what history speaks of.
    """

    sha256 = models.CharField(_("hash"), primary_key=True)
    content = models.BinaryField(_("content"))
    size = models.BigIntegerField(_("size"))
    kept_at = models.DateTimeField(_("kept since"))

    class Meta:
        db_table = "variable_files"
        verbose_name = _("content of a file")
        verbose_name_plural = _("contents of files")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    sha256=Func(
                        Func("content", function="sha256", output_field=models.BinaryField()),
                        models.Value("hex"),
                        function="encode",
                        output_field=models.CharField(),
                    ),
                    size=Func("content", function="length", output_field=models.BigIntegerField()),
                ),
                name="variable_files_hash",
            )
        ]
        triggers = rules.immutable("the content of a file")

    def __str__(self) -> str:
        return self.sha256
