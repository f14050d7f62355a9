"""The overview: what runs, what waits, what failed, and what to repair first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from bpm.queries import definitions, incidents, instances, integrity, overview
from cockpit.pages.shown import Shown

# The dashboard is asked every few seconds: it counts no further than this.
COUNTED = 10_000
OF_TOPIC = 1_000
LATE = 60  # seconds after which a due timer is called late


def page(request: HttpRequest) -> Shown:
    """Figures, the last day as a chart, what fails most often, the newest instances; asked by htmx: the live part."""
    now = timezone.now()
    figures = overview.figures(COUNTED)
    late = figures.late_timers is not None and (now - figures.late_timers).total_seconds() > LATE
    live: dict[str, Any] = {
        "violations": integrity.violations_of_late(),
        "figures": figures,
        "timers_late": late,
        "groups": incidents.grouped(),
        "newest": instances.list_instances(size=8).items,
        "topics": overview.ready_by_topic(6, COUNTED, OF_TOPIC),
    }
    if request.headers.get("HX-Request"):
        return Shown("cockpit/overview_live.html", context=live, fragment=True)
    deployed = definitions.list_definitions(counts=True, size=8)
    lately = overview.last_hours(now)
    context = {
        **live,
        "chart": json.dumps(chart_of(lately.hours)),
        "chart_options": json.dumps(CHART_OPTIONS),
        "reach": [(title, lately.since[what]) for what, title, _colour in SERIES if what in lately.since],
        "deployed": deployed,
    }
    return Shown("cockpit/overview.html", _("Overview"), context)


CHART_OPTIONS = {
    "responsive": True,
    "maintainAspectRatio": False,
    "animation": False,
    "interaction": {"mode": "index", "intersect": False},
    "plugins": {"legend": {"display": False}},
    "datasets": {"bar": {"borderRadius": 3, "maxBarThickness": 14, "categoryPercentage": 0.7, "barPercentage": 0.9}},
    "scales": {
        "x": {"grid": {"display": False}, "ticks": {"color": "#94a3b8", "maxTicksLimit": 9, "maxRotation": 0}},
        "y": {
            "beginAtZero": True,
            "border": {"display": False},
            "grid": {"color": "rgba(148,163,184,.18)"},
            "ticks": {"color": "#94a3b8", "precision": 0, "maxTicksLimit": 5},
        },
    },
}


# What the chart shows of each hour: (figure, title, colour).
SERIES = (
    ("started", gettext_lazy("Started"), "#6366f1"),
    ("completed", gettext_lazy("Completed"), "#22c55e"),
    ("failed", gettext_lazy("Failed or cancelled"), "#ef4444"),
)


def chart_of(hours: Sequence[overview.Hour]) -> dict[str, Any]:
    """The hours as Chart.js wants them; what is not known is a gap."""
    return {
        "labels": [date_format(timezone.localtime(hour.at), "H:i") for hour in hours],
        "datasets": [
            {"label": str(title), "backgroundColor": colour, "data": [getattr(hour, what) for hour in hours]}
            for what, title, colour in SERIES
        ],
    }
