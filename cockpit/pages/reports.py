"""Who did what when, and which worker caused which failure: the newest of a time, by a person or a worker."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from bpm.audit import reports
from bpm.audit.export.selection import Selection
from bpm.audit.shortly import newest_within
from bpm.queries import instances
from bpm.queries.nodes import name_of
from cockpit.access import auditors_only
from cockpit.pages.shown import Shown, first

# So long somebody waits for a page, and so many rows it shows.
SECONDS = 5.0
SHOWN = 100
CHOICES = {"who": gettext_lazy("Who did what"), "failures": gettext_lazy("Which worker failed")}
HOURS = {
    1: gettext_lazy("The last hour"),
    24: gettext_lazy("The last 24 hours"),
    7 * 24: gettext_lazy("The last 7 days"),
    31 * 24: gettext_lazy("The last 31 days"),
}
FAILURES = {
    "failed": ("error", "red", gettext_lazy("failed")),
    "did not answer in time": ("timer_off", "amber", gettext_lazy("did not answer in time")),
    "reported a BPMN error": ("report", "amber", gettext_lazy("reported a BPMN error")),
}


@auditors_only
def page(request: HttpRequest) -> Shown:
    """One of the reports, narrowed to a time and a name."""
    chosen = first(request, "report") if first(request, "report") in CHOICES else "who"
    hours = next((number for number in HOURS if str(number) == first(request, "hours")), 24)
    name = first(request, "name")
    names = (name,) if name else ()
    since = timezone.now() - timedelta(hours=hours)
    rows = (
        reports.who_did_what_when(Selection(since=since, users=names))
        if chosen == "who"
        else reports.which_worker_failed(Selection(since=since, workers=names))
    )
    found = newest_within(SECONDS, rows, SHOWN)
    newest, number = found or ([], 0)
    context = {
        "chosen": chosen,
        "choices": CHOICES.items(),
        "hours": hours,
        "periods": HOURS.items(),
        "name": name,
        "rows": _shaped(newest),
        "given_up": found is None,
        "seconds": round(SECONDS),
        "number": number,
        "shown": len(newest),
    }
    return Shown("cockpit/reports.html", _("Reports"), context)


def _shaped(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with what people call their instance and place, and what was done in the reader's language."""
    known = instances.named(UUID(str(row["instance"])) for row in rows if row["instance"])
    shaped = []
    for row in rows:
        id = UUID(str(row["instance"])) if row["instance"] else None
        key, definition = known.get(id, (None, None)) if id else (None, None)
        place = name_of(definition, row["node"]) if definition and row["node"] else row["node"]
        icon, tone, told = FAILURES.get(row.get("what", ""), ("", "", ""))
        did = _(row["did"]) if "did" in row else ""
        shaped.append({**row, "title": key, "place": place, "icon": icon, "tone": tone, "told": told, "did": did})
    return shaped
