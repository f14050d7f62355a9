"""Every error of the API as a problem document (RFC 9457), from one table: code -> status and title."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial, wraps
from typing import Any

import structlog
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.urls import URLPattern, URLResolver
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from bpm.api.charsets import as_text
from bpm.audit.trace import BadCursor as BadTraceCursor
from bpm.engine.errors import DeployRefused, EngineError
from bpm.queries.limits import TookTooLong
from bpm.queries.paging import BadCursor
from bpm.queries.variables import BadFilter
from bpm.store import values
from bpm.store.errors import NOT_NOW, LostRace, StoreError

log = structlog.get_logger(__name__)

# code -> (status, title). Codes of the engine's refusals are here under their own names.
PROBLEMS: Mapping[str, tuple[int, str]] = {
    "not_authenticated": (401, "Authentication is needed"),
    "not_allowed": (403, "This is not allowed"),
    "csrf_failed": (403, "The CSRF token is missing or wrong"),
    "not_found": (404, "There is no such thing"),
    "method_not_allowed": (405, "This cannot be done here"),
    "wrong_state": (409, "It is not in a state in which this can be done"),
    "not_running": (409, "The instance has ended or is suspended"),
    "not_locked": (409, "The task is not locked"),
    "wrong_worker": (409, "The task is locked by another worker"),
    "lock_expired": (409, "The lock has run out"),
    "wrong_user": (409, "The task belongs to another person"),
    "not_set_up": (409, "This server is not set up for it"),
    "takes_too_long": (409, "It takes longer than a request may"),
    "duplicate": (409, "This has been done already"),
    "key_conflict": (409, "The idempotency key was used for something else"),
    "second_instance": (409, "One transaction changes one instance"),
    "too_large": (413, "The request is too large"),
    "bad_request": (400, "The request cannot be read"),
    "bad_cursor": (400, "The cursor belongs to another list"),
    "search_too_wide": (400, "The search reads too much"),
    "invalid": (422, "The arguments make no sense"),
    "invalid_variables": (422, "The variables cannot be taken"),
    "deploy_refused": (422, "The files cannot be deployed"),
    "evaluation_failed": (422, "The decision cannot be evaluated with these variables"),
    "fault": (500, "The engine could not take the answer: the task has failed"),
    "suspended": (409, "The definition is suspended"),
    "busy": (503, "The instance is busy"),
    "unavailable": (503, "The database cannot be reached"),
    "error": (500, "Something went wrong"),
}
MEDIA_TYPE = "application/problem+json"
TYPE = "urn:tokentrail:problem:"
RETRY_AFTER = "1"

# Errors of HTTP and of the framework by their status.
BY_STATUS = {status: code for code, (status, _title) in reversed(list(PROBLEMS.items()))} | {
    409: "wrong_state",
    422: "invalid",
}


class Problem(Exception):
    """An error of the API itself, by its code."""

    def __init__(self, code: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.more = more


def document(request: HttpRequest, code: str, detail: str, **more: Any) -> HttpResponse:
    """The problem document. A code that the table does not know is a refusal (409)."""
    status, title = PROBLEMS.get(code, (409, "The engine refused this"))
    said = {"type": TYPE + code, "title": title, "status": status, "detail": detail, "code": code}
    told = _sayable({**said, "instance": request.path, **more})
    response = HttpResponse(values.dumps(told), content_type=MEDIA_TYPE)
    response.status_code = status
    if status == 401:
        response["WWW-Authenticate"] = "Bearer"
    if status == 503:
        response["Retry-After"] = RETRY_AFTER
    return response


def _sayable(value: Any) -> Any:
    """The same with another character for what no text may hold: an error repeats what was sent, whatever it was."""
    match value:
        case str():
            return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
        case Mapping():
            return {name: _sayable(item) for name, item in value.items()}
        case list() | tuple():
            return [_sayable(item) for item in value]
    return value


def _problem(request: HttpRequest, problem: Problem) -> HttpResponse:
    return document(request, problem.code, problem.detail, **problem.more)


def _refused(request: HttpRequest, refused: EngineError) -> HttpResponse:
    return document(request, refused.code, refused.message)


def _deploy_refused(request: HttpRequest, refused: DeployRefused) -> HttpResponse:
    """All that was found, each with where and what."""
    found = [
        {
            "severity": diagnostic.severity,
            "code": diagnostic.code,
            "message": diagnostic.message,
            "file": diagnostic.file,
            "element": diagnostic.element,
            "line": diagnostic.line,
        }
        for diagnostic in refused.diagnostics
    ]
    return document(request, refused.code, refused.message, diagnostics=found)


def _where(place: Sequence[str | int]) -> str:
    """As the caller knows it: without our name for the body, and without the types of which a value could have been."""
    parts = [str(part) for part in place]
    if parts[:2] == ["body", "given"]:
        del parts[1]
    return ".".join(part for part in parts if "[" not in part and "(" not in part)


def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    errors = [{"where": _where(found.get("loc", ())), "what": found.get("msg", "")} for found in error.errors]
    detail = "; ".join(f"{found['where']}: {found['what']}" for found in errors)
    return document(request, "invalid", detail, errors=errors)


def _not_authenticated(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return document(request, "not_authenticated", "send a token (Authorization: Bearer ...), or log in to the cockpit")


def _http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    # The framework hides what the parser said of a body behind an error of its own.
    if isinstance(cause := error.__cause__ or error.__context__, Problem):
        return _problem(request, cause)
    if isinstance(cause, RequestDataTooBig):
        return _too_large(request, cause)
    return document(request, BY_STATUS.get(error.status_code, "bad_request"), error.message)


def _not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return document(request, "not_found", str(error) or "there is nothing at this address")


def _bad_cursor(request: HttpRequest, error: Exception) -> HttpResponse:
    return document(request, "bad_cursor", str(error))


def _bad_filter(request: HttpRequest, error: BadFilter) -> HttpResponse:
    return document(request, "invalid", str(error))


def _too_wide(request: HttpRequest, error: TookTooLong) -> HttpResponse:
    """Not 503: sent again it would read as much again."""
    return document(request, "search_too_wide", f"{error}: ask for less, by eq, gt or lt, or with one more condition")


def _too_large(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    return document(request, "too_large", "the body is larger than the server takes")


def _unreadable(request: HttpRequest, error: Exception) -> HttpResponse:
    return document(request, "bad_request", str(error))


def _unfit(request: HttpRequest, error: values.UnfitValue) -> HttpResponse:
    return document(request, "invalid_variables", str(error))


def _lost_race(request: HttpRequest, error: StoreError) -> HttpResponse:
    return document(request, "busy", "others are changing this instance; try again")


def _unavailable(request: HttpRequest, error: Exception) -> HttpResponse:
    log.warning("database unavailable", path=request.path, error=str(error))
    why = NOT_NOW.get(getattr(error.__cause__, "sqlstate", None) or "", "the database cannot be reached")
    return document(request, "unavailable", f"{why}; try again")


def _unexpected(request: HttpRequest, error: Exception) -> HttpResponse:
    """What nobody foresaw: the log has it all, the answer nothing."""
    log.exception("request failed", path=request.path, method=request.method)
    return document(request, "error", "the server could not do this; its log says why")


# The most special class of an exception decides.
HANDLERS: tuple[tuple[type[Exception], Callable[[HttpRequest, Any], HttpResponse]], ...] = (
    (Problem, _problem),
    (DeployRefused, _deploy_refused),
    (EngineError, _refused),
    (ValidationError, _invalid),
    (AuthenticationError, _not_authenticated),
    (HttpError, _http_error),
    (Http404, _not_found),
    (BadCursor, _bad_cursor),
    (BadTraceCursor, _bad_cursor),
    (BadFilter, _bad_filter),
    (TookTooLong, _too_wide),
    (RequestDataTooBig, _too_large),
    (SuspiciousOperation, _unreadable),
    (MultiPartParserError, _unreadable),
    (UnreadablePostError, _unreadable),
    (values.UnfitValue, _unfit),
    (LostRace, _lost_race),
    (OperationalError, _unavailable),
    (InterfaceError, _unavailable),
    (Exception, _unexpected),
)


def install(api: NinjaAPI) -> None:
    """Let the API answer every exception with a problem document."""
    for error, handler in HANDLERS:
        api.add_exception_handler(error, handler)


def nothing_here(request: HttpRequest) -> HttpResponse:
    """Any other address below the API's."""
    return document(request, "not_found", "there is nothing at this address")


type Addresses = tuple[list[URLResolver | URLPattern], str, str]


def documented(api: NinjaAPI) -> Addresses:
    """The API's addresses, answering with a problem document, too, where a method is not allowed, where the address
    holds a NUL character (PostgreSQL has no such text, so nothing can be found by it), and where it asks by a name that
    is not known here: a condition that was misspelt would give everything.
    """
    urls: Addresses = api.urls
    for pattern in urls[0]:
        if isinstance(pattern, URLPattern):
            path = "/" + PARAMETER.sub(r"{\1}", str(pattern.pattern))
            pattern.callback = _documented(pattern.callback, partial(_asked_by, api, path))
    return urls


# An address holds its parameters as <name> or <converter:name>.
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


@cache
def _asked_by(api: NinjaAPI, path: str, method: str) -> frozenset[str] | None:
    """The names that the address may be asked by, as its description says; None for what is not described there."""
    described = api.get_openapi_schema(path_prefix="")["paths"].get(path, {}).get(method.lower())
    if described is None:
        return None
    return frozenset(one["name"] for one in described.get("parameters", ()) if one["in"] == "query")


def _unknown_name(request: HttpRequest, known: frozenset[str] | None) -> HttpResponse | None:
    strangers = [] if known is None else [name for name in request.GET if name not in known]
    if not strangers:
        return None
    may_be = ", ".join(sorted(known or ())) or "nothing"
    errors = [{"where": f"query.{name}", "what": f"is not known here, but {may_be}"} for name in strangers]
    return document(request, "invalid", "; ".join(f"{one['where']}: {one['what']}" for one in errors), errors=errors)


def _documented(
    view: Callable[..., HttpResponse], asked_by: Callable[[str], frozenset[str] | None]
) -> Callable[..., HttpResponse]:
    @wraps(view)
    def documented_view(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:
        if "\x00" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return document(request, "bad_request", "the address holds a NUL character")
        as_text(request)
        if request.GET and (problem := _unknown_name(request, asked_by(request.method or ""))):
            return problem
        response = view(request, *arguments, **named)
        if response.status_code != 405:
            return response
        allowed = response["Allow"]
        problem = document(request, "method_not_allowed", f"{request.method} is not allowed here, but {allowed}")
        problem["Allow"] = allowed
        return problem

    return documented_view
