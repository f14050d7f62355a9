"""Recompute the chain of seals from the rows as they are now. It changes nothing; the page says what was found."""

from __future__ import annotations

from django.http import HttpRequest

from bpm.audit.shortly import verify_within
from cockpit.actions.answering import audit_verb
from cockpit.pages.shown import Shown

# So long somebody waits for a page.
SECONDS = 25.0


@audit_verb
def view(request: HttpRequest) -> Shown:
    """POST, asked by htmx."""
    context = {"found": verify_within(SECONDS), "seconds": round(SECONDS)}
    return Shown("cockpit/seals_verified.html", context=context, fragment=True)
