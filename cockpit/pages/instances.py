"""The list of instances, the newest first, and its filters."""

from __future__ import annotations

from contextlib import nullcontext

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from bpm.queries import definitions, instances, rows
from bpm.queries.limits import SEARCHED, TookTooLong, at_most
from bpm.queries.paging import Page
from bpm.queries.variables import BadFilter, Condition, condition
from cockpit.pages.shown import Shown, first, kept, page_of

# What the segments above the list choose: name -> (title, states, with incident).
CHOICES = {
    "": (gettext_lazy("All"), (), None),
    "running": (gettext_lazy("Running"), ("RUNNING",), None),
    "incident": (gettext_lazy("With incidents"), (), True),
    "suspended": (gettext_lazy("Suspended"), ("SUSPENDED",), None),
    "completed": (gettext_lazy("Completed"), ("COMPLETED",), None),
    "failed": (gettext_lazy("Failed"), ("FAILED",), None),
    "cancelled": (gettext_lazy("Cancelled"), ("CANCELLED",), None),
}
FILTERS = ("state", "process", "q", "node", "variable")


def listing(request: HttpRequest) -> Shown:
    """One page of instances; asked by htmx: the rows alone."""
    chosen = first(request, "state")
    _title, states, with_incident = CHOICES.get(chosen, CHOICES[""])
    wanted, unfit = _condition(first(request, "variable"))

    def listed(after: str | None) -> Page[rows.Instance]:
        return instances.list_instances(
            after=after,
            definition_key=first(request, "process") or None,
            states=states,
            with_incident=with_incident,
            search=first(request, "q") or None,
            node=first(request, "node") or None,
            variables=wanted,
            known=first(request, "known") if request.headers.get("HX-Request") else None,
        )

    found, given_up = Page[rows.Instance](()), False
    if not unfit:
        try:
            with at_most(SEARCHED) if wanted else nullcontext():
                found = page_of(listed, request)
        except TookTooLong:
            given_up = True
        except BadFilter:
            unfit = _(
                "Nothing is found so: a name has up to 255 characters, a value up to 200, a pattern no \\ at its end."
            )
    context = {
        "page": found,
        "chosen": chosen,
        "choices": [(name, title) for name, (title, _states, _with) in CHOICES.items()],
        "process": first(request, "process"),
        "search": first(request, "q"),
        "node": first(request, "node"),
        "variable": first(request, "variable"),
        "unfit": unfit,
        "given_up": given_up,
        "seconds": f"{SEARCHED:g}",
        "after": first(request, "after"),
        "query": kept(request, *FILTERS),
        "query_without_state": kept(request, *(name for name in FILTERS if name != "state")),
        "filtered": any(first(request, name) for name in FILTERS),
    }
    if request.headers.get("HX-Request"):
        return Shown("cockpit/instances_rows.html", context=context, fragment=True, tag=found.tag)
    context["processes"] = definitions.keys_with_names()
    return Shown("cockpit/instances.html", _("Instances"), context, tag=found.tag)


def _condition(text: str) -> tuple[list[Condition], str]:
    """The condition on a variable that a reader has written, and what is wrong with it."""
    try:
        return ([condition(text)] if text else []), ""
    except BadFilter:
        return [], _("This is no condition: write name:operator:value.")
