"""Archiving by the schedule: what the retentions let go is moved to the place of the setting BPM_ARCHIVE_TO.

Without the setting nothing is moved by itself. Taking a month out needs a right that a hardened site's program does not
have (`bpm_replace_month`): there the owner's own scheduler gives the command `bpm archive --due`.
"""

from __future__ import annotations

import structlog
from django.conf import settings

from bpm.audit.archive.months import archive_month, due_months
from bpm.audit.statements import ask

log = structlog.get_logger(__name__)

ACTOR, REASON = "engine", "retention"


def archive_place() -> str | None:
    """The folder or URL of the setting; None where archives are not made by themselves."""
    return getattr(settings, "BPM_ARCHIVE_TO", None) or None


def archive_due() -> dict[str, int]:
    """Archive the oldest month of which the retentions let history go. For the schedule: one month a turn."""
    to = archive_place()
    if to is None:
        return {}
    if not ask("may_archive")[0][0]:
        log.warning("not archived: this role may not take a month out; give `bpm archive --due` as the owner")
        return {}
    for month in due_months()[:1]:
        done = archive_month(month, to, explicit=False, actor=ACTOR, reason=REASON)
        log.info("archived", month=f"{month:%Y-%m}", part=done.part, rows=done.rows, stayed=done.stayed)
        return {"archived_rows": done.rows}
    return {}
