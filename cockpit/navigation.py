"""The sidebar: our pages first, then the tables behind them."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from bpm.queries import integrity, overview
from cockpit.access import may_audit
from cockpit.admin.tables import shown_models, table_of


def entries(request: HttpRequest) -> list[dict[str, Any]]:
    """The groups of the sidebar for this person."""
    groups: list[dict[str, Any]] = [{"items": _pages(request)}]
    groups.append({"title": _("Audit"), "separator": True, "items": _audit(request)})
    runtime, history = shown_models()
    for title, listed in ((_("Runtime tables"), runtime), (_("History tables"), history)):
        tables = [model for model in listed if request.user.has_perm(f"bpm.view_{model._meta.model_name}")]
        items = [_table(request, model) for model in tables]
        groups.append({"title": title, "collapsible": True, "separator": True, "items": items})
    people = [
        _entry(request, title, icon, f"auth_{model}_changelist")
        for title, icon, model in ((_("Users"), "person", "user"), (_("Groups"), "group", "group"))
        if request.user.has_perm(f"auth.view_{model}")
    ]
    groups.append({"title": _("Access"), "collapsible": True, "separator": True, "items": people})
    return groups


def _pages(request: HttpRequest) -> list[dict[str, Any]]:
    entries = [
        _entry(request, title, icon, page)
        for title, icon, page in (
            (_("Overview"), "space_dashboard", "index"),
            (_("Processes"), "account_tree", "definitions"),
            (_("Decisions"), "table_chart", "decisions"),
            (_("Instances"), "route", "instances"),
            (_("Incidents"), "error", "incidents"),
            (_("User tasks"), "person_check", "user-tasks"),
            (_("External tasks"), "deployed_code", "external-tasks"),
        )
    ]
    if incidents := overview.open_incidents():
        entries[4] |= {"badge": str(incidents), "badge_variant": "danger"}
    return entries


def _audit(request: HttpRequest) -> list[dict[str, Any]]:
    entries = [
        _entry(request, title, icon, page)
        for title, icon, page in (
            (_("Integrity"), "verified_user", "integrity"),
            (_("Seals"), "link", "seals"),
            (_("Exports"), "download", "exports"),
            (_("Archives"), "inventory_2", "archives"),
        )
    ]
    if may_audit(request):
        entries.insert(2, _entry(request, _("Reports"), "manage_history", "reports"))
    if violations := integrity.violations_of_late():
        entries[0] |= {"badge": str(violations), "badge_variant": "danger"}
    return entries


def _table(request: HttpRequest, model: Any) -> dict[str, Any]:
    title = str(model._meta.verbose_name_plural)
    return _entry(
        request, title[:1].upper() + title[1:], table_of(model).icon, f"bpm_{model._meta.model_name}_changelist"
    )


def _entry(request: HttpRequest, title: str, icon: str, page: str) -> dict[str, Any]:
    link = reverse(f"cockpit:{page}")
    # The overview's address begins every other one.
    active = request.path == link if page == "index" else request.path.startswith(link)
    return {"title": title, "icon": icon, "link": link, "active": active}
