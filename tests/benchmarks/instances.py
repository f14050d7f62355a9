"""Whole instances a second: one task, ten tasks in a row, a fork of ten and its join; by the engine's own calls, over
HTTP, and through Celery. Tasks do nothing, so this is what the engine costs.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from bpm import engine
from bpm.store import access
from config.celery import app
from config.processes import Process
from config.valkey import free_port
from tests.benchmarks import models, stock
from tests.benchmarks.crowd import Crowd
from tests.benchmarks.ground import Ground
from tests.benchmarks.handling.handlers import TOPIC
from tests.benchmarks.lines import Line, chosen, measured

NAME = "instances"
# Tasks that a worker takes at once.
BATCH = 10
READY = 60.0


@dataclass(frozen=True, slots=True)
class Kind:
    """A process, what it is called on the page, and how many instances (by scale) are run of it."""

    key: str
    title: str
    document: Callable[[str, str], str]
    tasks: int
    counts: tuple[int, int, int]


KINDS = (
    Kind("one", "one task", lambda key, topic: models.row(key, topic, 1), 1, (4, 200, 4000)),
    Kind("ten", "ten tasks", lambda key, topic: models.row(key, topic, 10), 10, (2, 40, 800)),
    Kind("fork", "fork of ten", lambda key, topic: models.fork(key, topic, 10), 10, (2, 40, 800)),
)


def run(ground: Ground, scale: str) -> Iterator[Line]:
    """In process, then over HTTP, then through Celery."""
    repetitions = chosen(scale, 1, 3, 3)
    with ground.database(NAME):
        yield from _in_process(scale, repetitions)
        yield from _over_http(ground, scale, repetitions)
    with ground.database(f"{NAME}_celery"):
        yield from _through_celery(ground, scale)


class Worker:
    """Starts its share of the instances and works on whatever is ready until nothing is, as handlers in Python do: a
    completion locks the next task of the instance.
    """

    def __init__(self, place: int) -> None:
        self.name = f"worker{place}"

    def work(self, key: str, share: int) -> list[float]:
        """Seconds that each instance took, from its start until nothing was left to do."""
        took, topics = [], [f"bench.{key}"]
        for _ in range(share):
            began = time.perf_counter()
            instance, ended = engine.start(key, {"n": 0}, actor=models.ACTOR).thread_id, False
            while not ended and (tasks := engine.fetch_and_lock(topics, worker=self.name, max=BATCH)):
                lasts = [self._in_a_row(task, topics) for task in tasks]
                ended = any(last.thread_id == instance and _ends(last) for last in lasts)
            took.append(time.perf_counter() - began)
        return took

    def _in_a_row(self, task: engine.LockedTask, topics: list[str]) -> engine.CommitRecord:
        """Complete the task and those that come with the completions; the last commit."""
        following: engine.LockedTask | None = task
        while following is not None:
            said: Any = {"worker": self.name, "variables": {"n": 1}, "cause": following.sequence}
            record, following = engine.complete_and_lock_next(following.id, topics, **said)
        return record


def _ends(record: engine.CommitRecord) -> bool:
    return any(event.type == "INSTANCE_COMPLETED" for event in record.events)


class Caller:
    """The same over HTTP, on a connection that is kept."""

    def __init__(self, place: int, port: int, token: str) -> None:
        self.name = f"caller{place}"
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def work(self, key: str, share: int) -> list[float]:
        """As `Worker.work`."""
        took = []
        for _ in range(share):
            began = time.perf_counter()
            self.post("instances", {"process": key, "variables": {"n": 0}})
            topics = [f"bench.{key}"]
            asked = {"worker": self.name, "topics": topics, "max": BATCH}
            while tasks := self.post("external-tasks/fetch-and-lock", asked):
                for task in tasks:
                    while task is not None:
                        said = {"worker": self.name, "variables": {"n": 1}, "next_topics": topics}
                        task = self.post(f"external-tasks/{task['id']}/complete", said)["next"]
            took.append(time.perf_counter() - began)
        return took

    def post(self, path: str, body: object) -> Any:
        """What the site answers. Raises RuntimeError for an error."""
        self.http.request("POST", f"/api/{path}", json.dumps(body), self.headers)
        answer = self.http.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{path}: {answer.status} {content[:300]!r}")
        return json.loads(content)


def _in_process(scale: str, repetitions: int) -> Iterator[Line]:
    for kind in KINDS:
        models.deployed(kind.document(kind.key, f"bench.{kind.key}"))
    for connections in chosen(scale, (1,), (1, 4), (1, 4)):
        with Crowd(connections, Worker) as crowd:
            yield from _measured("in process", crowd, connections, scale, repetitions, KINDS)


def _over_http(ground: Ground, scale: str, repetitions: int) -> Iterator[Line]:
    connections = 4
    access.fill_groups()
    token = access.issue_token(f"bench-{time.monotonic_ns()}", "operator")
    with served(ground) as port, Crowd(connections, lambda place: Caller(place, port, token)) as crowd:
        yield from _measured("HTTP", crowd, connections, scale, repetitions, chosen(scale, KINDS[:1], KINDS, KINDS))


def _measured(
    way: str, crowd: Crowd, connections: int, scale: str, repetitions: int, kinds: Sequence[Kind]
) -> Iterator[Line]:
    for kind in kinds:
        share = max(1, chosen(scale, *kind.counts) // connections)
        n = share * connections
        crowd.ask("work", kind.key, max(1, share // 10))  # to warm up
        rates = []
        for _ in range(repetitions):
            rates.append(n / crowd.ask("work", kind.key, share).seconds)
        _all_ended(kind.key)
        yield measured(
            f"{kind.title}, {way}", rates, "instances/s", n, connections=connections,
            more={"tasks/s": kind.tasks * sorted(rates)[len(rates) // 2]},
        )  # fmt: skip


def _all_ended(key: str) -> None:
    left = stock.count("SELECT count(*) FROM process_instances WHERE definition_key = %s AND state <> 'COMPLETED'", key)
    if left:
        raise RuntimeError(f"{left} instances of {key} did not end")


class served:
    """A web server of the site, with two processes, for as long as the block lasts; its port."""

    def __init__(self, ground: Ground, processes: int = 2) -> None:
        self.port = free_port(18_000)
        command = [sys.executable, "-m", "uvicorn", "config.asgi:application", "--host", "127.0.0.1", "--port"]
        command += [
            str(self.port),
            "--lifespan",
            "off",
            "--log-level",
            "error",
            "--no-access-log",
            "--timeout-keep-alive",
            "600",
        ]
        command += ["--workers", str(processes)] if processes > 1 else []
        self.process = Process("web", command, ground.folder / "web.log", ground.warden, env=dict(os.environ))

    def __enter__(self) -> int:
        self.process.start()
        wait_for(lambda: answers(self.port), READY, self.process)
        return self.port

    def __exit__(self, *_: object) -> None:
        self.process.stop()


def answers(port: int, path: str = "/readyz") -> bool:
    """Whether the site there says that it is ready."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def wait_for(happened: Callable[[], bool], seconds: float, process: Process, every: float = 0.05) -> None:
    """Wait until it has. Raises RuntimeError with the process's last words."""
    until = time.monotonic() + seconds
    while not happened():
        if process.exit_code() is not None or time.monotonic() > until:
            raise RuntimeError(f"{process.name} did not get there:\n{process.last_words()}")
        time.sleep(every)


class celery_worker:
    """One Celery worker with so many processes, for as long as the block lasts, and a broker where nothing waits."""

    def __init__(self, ground: Ground, processes: int) -> None:
        self.ground = ground
        command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--loglevel=WARNING", "--without-mingle"]
        command += ["--without-gossip", f"--concurrency={processes}", "--hostname=bench@localhost"]
        self.process = Process("worker", command, ground.folder / "worker.log", ground.warden, env=dict(os.environ))

    def __enter__(self) -> Process:
        self.ground.open_broker()
        self.process.start()
        wait_for(lambda: bool(app.control.ping(timeout=0.5)), READY, self.process)
        return self.process

    def __exit__(self, *_: object) -> None:
        self.process.stop()


def _through_celery(ground: Ground, scale: str) -> Iterator[Line]:
    for kind in KINDS:
        models.deployed(kind.document(f"{kind.key}_celery", TOPIC))
    processes = 2
    with celery_worker(ground, processes) as worker:
        for kind in chosen(scale, KINDS[:1], KINDS, KINDS):
            key = f"{kind.key}_celery"
            n = chosen(scale, *kind.counts)
            rates = []
            for _ in range(chosen(scale, 1, 3, 3)):
                wanted = _ended() + n
                began = time.monotonic()
                with Crowd(1, Starter) as crowd:
                    crowd.ask("start", key, n)
                wait_for(partial(_have_ended, wanted), 60 + n * kind.tasks / 20, worker)
                rates.append(n / (time.monotonic() - began))
            _all_ended(key)
            yield measured(
                f"{kind.title}, Celery", rates, "instances/s", n, connections=processes,
                more={"tasks/s": kind.tasks * sorted(rates)[len(rates) // 2]},
            )  # fmt: skip


def _ended() -> int:
    return stock.count("SELECT count(*) FROM process_instances WHERE ended_at IS NOT NULL")


def _have_ended(count: int) -> bool:
    return _ended() >= count


class Starter:
    """Starts instances, whose work is announced to Celery."""

    def __init__(self, place: int) -> None:
        pass

    def start(self, key: str, count: int) -> None:
        """So many; back when their wake-ups are on their way."""
        from bpm.jobs.announcer import SENDER

        for _ in range(count):
            engine.start(key, {"n": 0}, actor=models.ACTOR)
        SENDER.flush(READY)
