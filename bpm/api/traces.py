"""The history of an instance: a page of events as a JSON array, or all of them as a stream of lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from bpm.api.answers import known
from bpm.api.authentication import may
from bpm.api.problems import Problem
from bpm.api.schemas.given import Moment
from bpm.api.streaming import streamed
from bpm.audit.explain import explain, explain_tokens, open_tokens
from bpm.audit.trace import TraceEvent, Wanted, find_thread, stream, trace
from bpm.semantics.events import EVENT_TYPES
from bpm.store import values

router = Router()

LINES = "application/x-ndjson"


@router.get("/{id}/trace", auth=may("view"), response=list[dict[str, Any]])
def get_trace(
    request: HttpRequest,
    id: UUID,
    type: list[str] = Query([]),
    node: str | None = None,
    worker: str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    order: Literal["asc", "desc"] = "asc",
    after: str | None = None,
    size: int = Query(200, ge=1, le=1000),
) -> Any:
    """What happened in the instance, in commit order (`order=desc`: the newest first).

    The answer is an array of events. Where there are more, the header `Link` names the next page (rel="next") and
    `X-Next` its cursor (`after`). With `Accept: application/x-ndjson` all events are streamed, one a line.
    """
    known(type, EVENT_TYPES, "type")
    wanted = Wanted(types=tuple(type), node=node, worker=worker, since=since, until=until)
    newest_first = order == "desc"
    if LINES in request.headers.get("Accept", ""):
        if find_thread(id) is None:
            raise Problem("not_found", f"history knows no instance {id}")
        return streamed(request, _lines(stream(id, wanted, newest_first=newest_first)), LINES)
    page = trace(id, wanted, newest_first=newest_first, after=after, size=size)
    if page is None:
        raise Problem("not_found", f"history knows no instance {id}")
    body = values.dumps([event.as_json() for event in page.events])
    response = HttpResponse(body, content_type="application/json")
    if page.after is not None:
        query = {**{name: request.GET.getlist(name) for name in request.GET}, "after": page.after}
        response["Link"] = f'<{request.path}?{urlencode(query, doseq=True)}>; rel="next"'
        response["X-Next"] = page.after
    return response


@router.get("/{id}/explain", auth=may("view"), response=list[dict[str, Any]])
def get_explanation(request: HttpRequest, id: UUID, of: UUID | None = None) -> Any:
    """Why the instance is where it is: of each open token how it came there, what it waits for, who can move it.

    `of`: only this token, or the token on which this task, timer, ticket or incident hangs.
    """
    found = explain_tokens(open_tokens(id)) if of is None else [one for one in (explain(of),) if one is not None]
    mine = [explanation.as_json() for explanation in found if explanation.instance_id == id]
    if not mine and (of is not None or find_thread(id) is None):
        raise Problem("not_found", f"there is nothing to explain of {of or id} now")
    return mine


def _lines(events: Iterable[TraceEvent]) -> Iterator[bytes]:
    for event in events:
        yield values.dumps(event.as_json()).encode() + b"\n"
