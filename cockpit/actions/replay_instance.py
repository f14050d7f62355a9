"""Replay one instance from its history, decide each command again, and compare with its rows. It changes nothing."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest

from bpm.audit.replaying import replay_stored
from cockpit.actions.answering import audit_verb
from cockpit.pages.instance import found
from cockpit.pages.shown import Shown

# About ten seconds' worth: so long somebody waits for a page.
COMMITS = 20_000


@audit_verb
def view(request: HttpRequest, id: UUID) -> Shown:
    """POST, asked by htmx."""
    too_long = found(id).version > COMMITS
    context = {"id": id, "limit": COMMITS, "outcome": None if too_long else replay_stored([id], again=True)[0]}
    return Shown("cockpit/replayed.html", context=context, fragment=True)
