"""The search of the command palette: instances by business key or id, processes by name."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from unfold.dataclasses import SearchResult

from bpm.queries import definitions, instances
from cockpit.pages.sentences import STATES

FOUND = 8


def found(request: HttpRequest, text: str) -> list[SearchResult]:
    """What fits the text, processes first. unfold lowers the text; business keys are found as they were typed."""
    text = request.GET.get("s", text).strip()
    processes = [
        SearchResult(
            title=definition.title,
            description=f"{definition.key} · {definition.version}",
            link=reverse("cockpit:definition", args=[definition.id]),
            icon="account_tree",
        )
        for definition in definitions.list_definitions(search=text, size=FOUND).items
    ]
    runs = [
        SearchResult(
            title=instance.business_key or str(instance.id),
            description=f"{instance.title} · {_(STATES.get(instance.state, instance.state))}",
            link=reverse("cockpit:instance", args=[instance.id]),
            icon="route",
        )
        for instance in instances.list_instances(search=text, size=FOUND).items
    ]
    return processes + runs
