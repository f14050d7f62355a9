"""What auditors look at: whether history is whole (violations, seals), exports of it, and where old months lie."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from bpm.api.streaming import download
from bpm.audit import chain, sealing
from bpm.audit.archive import catalog, retention
from bpm.audit.export import requests
from bpm.audit.export.running import FORMATS
from bpm.audit.export.selection import STATES
from bpm.audit.places import PlaceError
from bpm.queries import definitions, integrity
from cockpit.access import auditors_only, may_audit
from cockpit.pages.sentences import STATES as STATES_SAID
from cockpit.pages.shown import Shown, first, page_of

# Seconds by which seals may be behind before that is called late.
LATE = 60.0
EXPORTS = 50
ABOUT = {
    "csv": gettext_lazy("a row an event, for spreadsheets"),
    "parquet": gettext_lazy("a row an event, with types"),
    "jsonl": gettext_lazy("a line a commit, which can be replayed"),
    "xes": gettext_lazy("process mining (IEEE 1849)"),
    "ocel": gettext_lazy("process mining, object-centric (OCEL 2.0)"),
}
UNDER_WAY = ("WAITING", "RUNNING")


def violations(request: HttpRequest) -> Shown:
    """Invariants that did not hold, those noted last first."""
    context = {
        "page": page_of(integrity.list_violations, request),
        "lately": integrity.violations_of_late(),
        "days": integrity.LATELY,
        "after": first(request, "after"),
        "query": "",
    }
    return Shown("cockpit/violations.html", _("Integrity"), context)


def seals(request: HttpRequest) -> Shown:
    """The chain's head, how far it is behind, and its newest links."""
    return Shown("cockpit/seals.html", _("Seals"), seals_context(request))


def seals_context(request: HttpRequest) -> dict[str, Any]:
    """What the page of seals says, with or without a verification."""
    head, behind = chain.head(), sealing.delay()
    return {
        "page": page_of(integrity.list_seals, request),
        "head": head if head.sealed_at else None,
        "behind": behind,
        "late": behind.seconds > LATE,
        "epochs": len(chain.epochs()),
        "after": first(request, "after"),
        "query": "",
        "may_audit": may_audit(request),
    }


def exports(request: HttpRequest) -> Shown:
    """The exports that were asked for; asked by htmx: the rows alone. Whoever may audit can ask for one."""
    found = requests.list_exports(EXPORTS)
    context = {"exports": found, "under_way": any(one.state in UNDER_WAY for one in found)}
    context["may_audit"] = may_audit(request)
    if request.headers.get("HX-Request"):
        return Shown("cockpit/exports_rows.html", context=context, fragment=True)
    context |= {
        "formats": [(name, ABOUT.get(name, form.about)) for name, form in FORMATS.items()],
        "processes": definitions.keys_with_names(),
        "states": [(state, _(STATES_SAID[state])) for state in STATES],
        "instance": first(request, "instance"),
        "set_up": requests.is_set_up(),
    }
    return Shown("cockpit/exports.html", _("Exports"), context)


@auditors_only
def export_file(request: HttpRequest, id: UUID) -> StreamingHttpResponse:
    """The file of an export that is done."""
    try:
        export = requests.get_export(id)
        return download(request, requests.read_file(export), export.name)
    except (KeyError, OSError, PlaceError, requests.NoPlace):
        raise Http404(_("The file is not where it was written.")) from None


def archives(request: HttpRequest) -> Shown:
    """The months that were archived, and for how long history stays in the database."""
    parts = [
        {
            "part": part,
            "rows": _sum(table["rows"] for table in part.manifest["tables"].values()),
            "stayed": _sum(part.kept.values()),
            "tables": [(name, table["rows"]) for name, table in part.manifest["tables"].items()],
        }
        for part in reversed(catalog.parts())
    ]
    return Shown("cockpit/archives.html", _("Archives"), {"parts": parts, "retentions": retention.retentions()})


def _sum(numbers: Iterable[int]) -> int:
    return sum(numbers)
