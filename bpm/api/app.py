"""The API: its routers under one roof, its errors, its page of documentation."""

from __future__ import annotations

from ninja import NinjaAPI, Swagger

from bpm.api import (
    decisions,
    definitions,
    exports,
    external_tasks,
    files,
    incidents,
    instances,
    integrity,
    messages,
    problems,
    traces,
    user_tasks,
    variables,
)
from bpm.api.exact import ExactParser, ExactRenderer

DESCRIPTION = """
Runs BPMN processes and evaluates DMN decisions. Authenticate with `Authorization: Bearer TOKEN` (`manage.py bpm token
NAME` makes one), or with the session of the cockpit and its CSRF token.

- Lists are paged by key: `after` of an answer asks for the next page.
- A request with `Idempotency-Key` is carried out once: sent again it gives the first answer (`repeated` is true). A key
  belongs to who sends it, and to the instance that it is about; of what is about none (start, deploy, fetch, publish)
  a sender uses a key once.
- Numbers are exact: 12.50 comes back as 12.50.
- Errors are problem documents (RFC 9457) with a stable `code`. After an error nothing has changed.
"""

api = NinjaAPI(
    title="Tokentrail",
    version="1",
    description=DESCRIPTION,
    urls_namespace="bpm-api",
    docs=Swagger(settings={"persistAuthorization": False, "docExpansion": "list"}),
    parser=ExactParser(),
    renderer=ExactRenderer(),
)
problems.install(api)
for prefix, router, tag in (
    ("", definitions.router, "definitions"),
    ("/decisions", decisions.router, "decisions"),
    ("/instances", instances.router, "instances"),
    ("/instances", variables.router, "variables"),
    ("/files", files.router, "variables"),
    ("/instances", traces.router, "history"),
    ("/external-tasks", external_tasks.router, "external tasks"),
    ("/user-tasks", user_tasks.router, "user tasks"),
    ("", messages.router, "messages and signals"),
    ("/incidents", incidents.router, "incidents"),
    ("/exports", exports.router, "audit"),
    ("", integrity.router, "audit"),
):
    api.add_router(prefix, router, tags=[tag])
