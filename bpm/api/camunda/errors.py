"""Every error in Camunda's shape: `{"type": "RestException", "message": "...", "code": 0}`.

What the errors are is said once, by `bpm.api.problems`; here each code has the status and type that clients of Camunda
know it by. Code 1 says that sending the request again is safe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI

from bpm.api import problems
from bpm.engine.errors import DeployRefused
from bpm.store import values

REST, REQUEST, ENGINE = "RestException", "InvalidRequestException", "ProcessEngineException"
AGAIN = 1
# Our code -> (status, type). What is not here is a refusal by state: as Camunda's engine says it, 500.
BY_CODE: Mapping[str, tuple[int, str]] = {
    "not_authenticated": (401, REST),
    "not_allowed": (403, "AuthorizationException"),
    "not_found": (404, REST),
    "method_not_allowed": (405, REST),
    "too_large": (413, REQUEST),
    "bad_request": (400, REQUEST),
    "invalid": (400, REQUEST),
    "invalid_variables": (400, REST),
    "search_too_wide": (400, REST),
    "not_supported": (400, REQUEST),
    "no_match": (400, REST),
    "deploy_refused": (400, "ParseException"),
    # Of a lock.
    "not_locked": (400, REST),
    "wrong_worker": (400, REST),
    "lock_expired": (400, REST),
    "busy": (500, "OptimisticLockingException"),
    "unavailable": (503, ENGINE),
}
BY_STATE = (500, ENGINE)
KEPT_HEADERS = ("Retry-After", "WWW-Authenticate")


def document(code: str, message: str, **more: Any) -> HttpResponse:
    """The error in Camunda's shape, with more fields where it has some."""
    status, kind = BY_CODE.get(code, BY_STATE)
    said = {"type": kind, "message": message, "code": AGAIN if code == "busy" else 0, **more}
    return HttpResponse(values.dumps(said), content_type="application/json", status=status)


def install(api: NinjaAPI) -> None:
    """Let the API answer every exception so."""
    for error, handler in problems.HANDLERS:
        api.add_exception_handler(error, partial(_translated, handler))
    api.add_exception_handler(DeployRefused, _deploy_refused)


@csrf_exempt
def nothing_here(request: HttpRequest) -> HttpResponse:
    """Any other address below this API's: an operation of Camunda's that there is none of here."""
    return document("not_found", f"{request.method} {request.path} is not supported here".replace("\x00", "\ufffd"))


def _translated(
    handler: Callable[[HttpRequest, Any], HttpResponse], request: HttpRequest, error: Exception
) -> HttpResponse:
    problem = handler(request, error)
    said = values.loads(problem.content.decode())
    answer = document(said["code"], said["detail"])
    for name in KEPT_HEADERS:
        if name in problem:
            answer[name] = problem[name]
    return answer


def _deploy_refused(request: HttpRequest, refused: Any) -> HttpResponse:
    """With all that was found, by file."""
    details: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for found in refused.diagnostics:
        report = details.setdefault(found.file, {"errors": [], "warnings": []})
        report["errors" if found.severity == "error" else "warnings"].append(
            {
                "message": found.message,
                "line": found.line,
                "column": 0,
                "mainElementId": found.element or None,
                "elementIds": [found.element] if found.element else [],
            }
        )
    return document(refused.code, refused.message, details=details)
