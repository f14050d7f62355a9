"""The API: its routers under one roof, and what all its addresses have in common."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, path, re_path
from ninja import NinjaAPI

from bpm.api.camunda import (
    about,
    definitions,
    deployments,
    errors,
    events,
    external_tasks,
    history,
    incidents,
    instances,
    tasks,
    variables,
)
from bpm.api.charsets import as_text
from bpm.api.exact import ExactParser, ExactRenderer


class CamundaAPI(NinjaAPI):
    """Answers with a media type and nothing beside it: the JavaScript client reads JSON only of `application/json`."""

    def get_content_type(self) -> str:
        """Without a charset."""
        return ExactRenderer.media_type


api = CamundaAPI(
    title="Camunda 7 REST",
    version=about.VERSION,
    urls_namespace="bpm-camunda",
    docs_url=None,
    openapi_url=None,
    parser=ExactParser(),
    renderer=ExactRenderer(),
)
errors.install(api)
for prefix, router in (
    ("", about.router),
    ("/external-task", external_tasks.router),
    ("/process-definition", definitions.router),
    ("/process-instance", instances.router),
    ("/process-instance", variables.router),
    ("/execution", variables.executions),
    ("", events.router),
    ("/task", tasks.router),
    ("/deployment", deployments.router),
    ("/incident", incidents.router),
    ("/history", history.router),
):
    api.add_router(prefix, router)


def addresses() -> list[URLPattern | URLResolver]:
    """Every address, and an answer of our own at any other."""
    found: list[URLPattern | URLResolver] = [
        path(str(pattern.pattern), _checked(pattern.callback))
        for pattern in api.urls[0]
        if isinstance(pattern, URLPattern) and str(pattern.pattern)
    ]
    return [*found, re_path("", errors.nothing_here)]


def _checked(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """As `bpm.api.problems.documented`, in Camunda's shape."""

    @wraps(view)
    def checked(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:
        if "\x00" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return errors.document("bad_request", "the address holds a NUL character")
        as_text(request)
        response = view(request, *arguments, **named)
        if response.status_code == 204:
            # The JavaScript client parses whatever says that it is JSON, also nothing.
            del response["Content-Type"]
        if response.status_code != 405:
            return response
        allowed = response["Allow"]
        answer = errors.document("method_not_allowed", f"{request.method} is not supported here, but {allowed}")
        answer["Allow"] = allowed
        return answer

    return checked
