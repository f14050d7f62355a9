"""The API as functions: one call a verb, JSON in and out, numbers exact, failures of the network repeated."""

from __future__ import annotations

import json
import logging
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from http.client import HTTPException
from typing import Any

from .typed import read, written

# A lost connection or a server that is just restarting: worth another try. Anything else is an answer.
PASSING = frozenset({429, 502, 503, 504})
# With these a server says that it does not read what it was sent, and has written nothing.
UNREAD = (400, 422)
# Seconds for which a server is taken to be older than this library.
OLDER_FOR = 300.0

log = logging.getLogger(__name__)


class ApiError(Exception):
    """The API answered with an error. `status` is HTTP's, `code` the engine's, `problem` the whole problem document."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(str(problem.get("detail") or problem.get("title") or f"HTTP {status}"))
        self.status = status
        self.code = str(problem.get("code") or "")
        self.problem = dict(problem)


class Refused(ApiError):
    """The engine says no: the task is another's, the lock has run out, a value is none. Trying again is no use."""


class Unreachable(Exception):
    """No answer after all tries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task that is locked for this worker."""

    id: str
    topic: str
    instance_id: str
    node_id: str = ""
    definition_key: str = ""
    business_key: str | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    retries: int = 0
    priority: int = 0
    version: int = 0
    lock_expire_at: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Topic:
    """How the tasks of a topic are taken. `lock_seconds`: how long one is held; None is as long as the call says.
    `variables`: the names of those that are wanted; None is all, an empty list none.
    """

    lock_seconds: float | None = None
    variables: Sequence[str] | None = None


# The topics of a call: each as the call says, or with its own seconds, or as `Topic` says.
type Topics = Sequence[str] | Mapping[str, float | Topic]


class _NoDetour(urllib.request.HTTPRedirectHandler):
    """An answer that leads elsewhere is an error: the token is for this address alone."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoDetour)


class Client:
    """Holds an address and a token. Safe to use from several threads."""

    def __init__(
        self,
        url: str,
        *,
        token: str,
        worker: str | None = None,
        timeout: float = 30.0,
        tries: int = 5,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`url`: the site, without /api. `worker`: the name under which tasks are locked; a chance one where None.

        Raises ValueError for what is no such address.
        """
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"{url!r} is no address of a site: it begins with http:// or https://")
        self.url = url.rstrip("/")
        self.worker = worker or f"worker-{uuid.uuid4()}"
        self._token = token
        self._timeout = timeout
        self._tries = tries
        self._sleep = sleep
        # What a server has shown that it does not read yet, and until when it is not sent that again.
        self._unread: dict[str, float] = {}

    def fetch_and_lock(self, topics: Topics, *, max: int = 1, lock_seconds: float = 60.0) -> list[Task]:
        """Lock up to `max` ready tasks of the topics, by priority and age. Not repeated: what is locked twice waits.

        `topics` may give each its own seconds and names of variables: no others come. A server that is older than this
        library is asked for one topic after the other then, and sends the others, too, which are left aside here.
        """
        if not isinstance(topics, Mapping):
            return self._fetch(list(topics), max, lock_seconds)
        each = {name: _topic(how, lock_seconds) for name, how in topics.items()}
        if not each or self._reads("names"):
            try:
                return self._fetch({name: _said(how) for name, how in each.items()}, max, lock_seconds)
            except Refused as refusal:
                if not each or refusal.status not in UNREAD:
                    raise
        tasks: list[Task] = []
        for name, how in each.items():
            if len(tasks) < max:
                try:
                    tasks += self._fetch([name], max - len(tasks), how.lock_seconds or lock_seconds)
                except (ApiError, Unreachable):
                    if not tasks:
                        raise
                    break
                # It has taken what it refused in the other form.
                self._has_not_read("names")
        return [_only(task, each) for task in tasks]

    def _fetch(self, topics: list[str] | dict[str, Any], max: int, lock_seconds: float) -> list[Task]:
        body = {"worker": self.worker, "topics": topics, "max": max, "lock_seconds": lock_seconds}
        found = self._post("fetch-and-lock", body, repeat=False)
        return [_task(item) for item in (found["tasks"] if isinstance(found, dict) else found)]

    def complete(
        self,
        task: Task,
        variables: Mapping[str, Any] | None = None,
        *,
        next_topics: Topics = (),
        lock_seconds: float = 60.0,
    ) -> Task | None:
        """The task is done. Where the instance comes to a task of the `next_topics` at once, this worker has that, too,
        and it is returned, locked for `lock_seconds` or those that its topic is given with, with the variables that
        its topic names. A server that is older than this library gives none, or sends all variables, of which the
        others are left aside here. Raises Refused where the task is not this worker's any more.
        """
        body = {"variables": dict(variables or {})}
        forms = self._next(next_topics, lock_seconds)
        for place, form in enumerate(forms):
            try:
                said = self._answer(task, "complete", body | form)
            except Refused as refusal:
                if form is forms[-1] or refusal.status not in UNREAD:
                    raise
                continue
            if place:
                # It has taken what it refused in the other form.
                self._has_not_read("names" if "next_topics" in form else "next")
            break
        following = said.get("next") if isinstance(said, dict) else None
        if following is None:
            return None
        found = _task(following)
        return _only(found, next_topics) if isinstance(next_topics, Mapping) else found

    def _next(self, topics: Topics, lock_seconds: float) -> list[dict[str, Any]]:
        """What a completion says of the task to go on with; first as it is meant, then as older servers take it."""
        if not topics or not self._reads("next"):
            return [{}]
        if not isinstance(topics, Mapping):
            return [{"next_topics": list(topics), "lock_seconds": lock_seconds}, {}]
        each = {name: _topic(how, lock_seconds) for name, how in topics.items()}
        plain = {"next_topics": {name: how.lock_seconds for name, how in each.items()}}
        if not self._reads("names") or all(how.variables is None for how in each.values()):
            return [plain, {}]
        return [{"next_topics": {name: _said(how) for name, how in each.items()}}, plain, {}]

    def _reads(self, what: str) -> bool:
        return time.monotonic() >= self._unread.get(what, 0.0)

    def _has_not_read(self, what: str) -> None:
        """One of several servers may be older, during an upgrade: later it is tried again."""
        if self._reads(what):
            log.warning("a server of %s is older than this library: it does not read %s of topics", self.url, what)
            self._unread[what] = time.monotonic() + OLDER_FOR

    def fail(
        self,
        task: Task,
        message: str,
        *,
        details: str = "",
        retries: int | None = None,
        retry_after: float | None = None,
        variables: Mapping[str, Any] | None = None,
    ) -> None:
        """The task could not be done: one retry less, or `retries`; none left opens an incident."""
        said = {"message": message, "details": details, "retries": retries, "retry_after": retry_after}
        body = {key: value for key, value in said.items() if value is not None}
        self._answer(task, "fail", body | ({"variables": dict(variables)} if variables else {}))

    def error(self, task: Task, code: str, message: str = "", *, variables: Mapping[str, Any] | None = None) -> None:
        """Report a BPMN error, which the model may catch."""
        self._answer(task, "error", {"code": code, "message": message, "variables": dict(variables or {})})

    def extend(self, task: Task, seconds: float) -> None:
        """Hold the task for so many more seconds from now."""
        self._post(f"{task.id}/extend", {"worker": self.worker, "lock_seconds": seconds})

    def _answer(self, task: Task, verb: str, body: dict[str, Any]) -> Any:
        # Task and version name this very lock: an answer whose receipt was lost is recognised, not refused.
        key = f"{verb}-{task.id}-{task.version}"
        return self._post(f"{task.id}/{verb}", {"worker": self.worker, **body}, key=key)

    def _post(self, path: str, body: Mapping[str, Any], *, key: str | None = None, repeat: bool = True) -> Any:
        """POST below /api/external-tasks/. Raises Refused, ApiError, Unreachable."""
        url = f"{self.url}/api/external-tasks/{path}"
        data = dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        pause = 0.5
        for left in range(self._tries if repeat else 1, 0, -1):
            request = urllib.request.Request(url, data=data, headers=headers, method="POST")  # noqa: S310 our own address
            try:
                with _OPENER.open(request, timeout=self._timeout) as answer:
                    content = answer.read()
                return loads(content) if content else None
            except urllib.error.HTTPError as error:
                with error:
                    problem = _problem(error.read())
                if error.code not in PASSING or left == 1:
                    raise (Refused if 400 <= error.code < 500 else ApiError)(error.code, problem) from None
            except (OSError, HTTPException) as trouble:
                if left == 1:
                    raise Unreachable(f"{url}: {trouble}") from None
            self._sleep(pause)
            pause = min(pause * 2, 10.0)
        raise Unreachable(url)


def loads(content: bytes) -> Any:
    """JSON with exact numbers: what has a fraction is a Decimal."""
    return json.loads(content, parse_float=Decimal)


def dumps(value: Any) -> str:
    """JSON with exact numbers; dates and the like as `typed` writes them. TypeError or ValueError for what is no value
    (NaN, too).
    """
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is no JSON number")
        return str(value).replace("E+", "E")
    if isinstance(value, Mapping):
        if any(not isinstance(key, str) for key in value):
            raise TypeError("the keys of a map are texts")
        return "{" + ",".join(f"{json.dumps(key)}:{dumps(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(dumps(item) for item in value) + "]"
    return json.dumps(written(value) or value, allow_nan=False)


def _topic(how: float | Topic, lock_seconds: float) -> Topic:
    """With its own seconds, or those of the call."""
    if not isinstance(how, Topic):
        return Topic(how)
    return how if how.lock_seconds is not None else Topic(lock_seconds, how.variables)


def _said(how: Topic) -> Any:
    """As the API takes it; in the old form where that says all."""
    if how.variables is None:
        return how.lock_seconds
    return {"lock_seconds": how.lock_seconds, "variables": list(how.variables)}


def _only(task: Task, topics: Mapping[str, float | Topic]) -> Task:
    """The task with the variables alone that its topic names."""
    how = topics.get(task.topic)
    names = how.variables if isinstance(how, Topic) else None
    if names is None:
        return task
    return replace(task, variables={name: value for name, value in task.variables.items() if name in names})


def _task(item: Mapping[str, Any]) -> Task:
    """What the server may add later is left aside."""
    known = {name: item[name] for name in Task.__dataclass_fields__ if name in item}
    return Task(**known | {"variables": read(known.get("variables", {}))})


def _problem(content: bytes) -> dict[str, Any]:
    try:
        found = loads(content)
    except ValueError:
        return {"detail": content.decode(errors="replace")[:500]}
    return found if isinstance(found, dict) else {"detail": str(found)}
