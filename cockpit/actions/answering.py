"""How every verb answers: back to where the person was, with a sentence that says what happened."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from bpm.engine.errors import EngineError
from bpm.engine.variables import loads
from cockpit.access import auditors_only, operators_only

type View = Callable[..., Any]


class Refused(Exception):
    """What the person sent cannot be taken; the message says why."""


def verb(view: View) -> View:
    """A POST of an operator; what the engine or the form refuses becomes a message, and nothing has changed."""
    return operators_only(_answered(view))


def audit_verb(view: View) -> View:
    """A POST of somebody who may audit; the same with what is refused."""
    return auditors_only(_answered(view))


def _answered(view: View) -> View:
    @wraps(view)
    def answering(request: HttpRequest, **arguments: Any) -> Any:
        try:
            return view(request, **arguments)
        except (EngineError, Refused) as problem:
            messages.error(request, str(problem))
            return back(request)

    return require_POST(answering)


def done(request: HttpRequest, sentence: str, to: str | None = None, *arguments: Any) -> HttpResponse:
    """Say what happened, and go to a page or back."""
    messages.success(request, sentence)
    return redirect(to, *arguments) if to else back(request)


def back(request: HttpRequest) -> HttpResponse:
    """To the page the person came from, if it is one of ours."""
    origin = request.META.get("HTTP_REFERER", "")
    ours = url_has_allowed_host_and_scheme(origin, {request.get_host()}, require_https=request.is_secure())
    where = redirect(origin if ours else "cockpit:index")
    # htmx would follow a redirect itself, and put the whole page where a part of it was asked for.
    return HttpResponse(headers={"HX-Redirect": where["Location"]}) if request.headers.get("HX-Request") else where


def text_in(request: HttpRequest, name: str) -> str:
    """A text of the form, without what no text of the database holds."""
    return request.POST.get(name, "").replace("\x00", "").strip()


def reason_in(request: HttpRequest) -> str:
    """The stated reason. Raises Refused where there is none."""
    reason = text_in(request, "reason")
    if not reason:
        raise Refused(_("Please state a reason."))
    return reason


def number_in(request: HttpRequest, name: str, *, least: int = 1) -> int:
    """A whole number of the form; `least` where it is left out. Raises Refused."""
    text = request.POST.get(name, "").strip() or str(least)
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < least:
        raise Refused(_("{name} must be a whole number.").format(name=name))
    return int(text)


def retries_in(request: HttpRequest) -> int:
    """How often the work may be tried. Raises Refused."""
    text = request.POST.get("retries", "1").strip() or "1"
    if not text.isascii() or not text.isdigit() or len(text) > 3 or not 1 <= int(text) <= 100:
        raise Refused(_("Tries must be a number from 1 to 100."))
    return int(text)


def variables_in(request: HttpRequest) -> dict[str, Any]:
    """The variables of a form: a JSON object. Raises Refused, and InvalidVariables for what is no JSON."""
    found = loads(request.POST.get("variables", "").strip() or "{}")
    if not isinstance(found, dict):
        raise Refused(_("Variables must be a JSON object."))
    return found
