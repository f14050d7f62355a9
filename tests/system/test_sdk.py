"""The worker library against a server that answers as the API does, and one that fails as networks do."""

from __future__ import annotations

import inspect
import json
import threading
from collections import deque
from collections.abc import Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bpm.engine import acting, external_tasks
from bpm.jobs import handlers
from bpm.sdk import ApiError, BpmnError, Client, Refused, Task, TaskFailure, Topic, Unreachable, Worker
from bpm.sdk import worker as worker_module
from tests.conftest import wait_for

TASK = {"id": "t1", "topic": "pay", "instance_id": "i1", "version": 2, "variables": {"amount": 1.10}, "later": "added"}


class Server:
    """Holds what was asked, and what is answered next: (status, body), or None for a connection that breaks."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict, dict[str, str]]] = []
        self.answers: dict[str, deque] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            location = ""

            def do_GET(self) -> None:
                outer.asked.append((self.path, {}, dict(self.headers)))
                self.send_response(200)
                self.end_headers()

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])), parse_float=Decimal)
                outer.asked.append((self.path, body, dict(self.headers)))
                waiting = outer.answers.get(self.path.rpartition("/")[2])
                answer = waiting.popleft() if waiting else (200, [])
                if answer is None:
                    self.close_connection = True
                    return
                status, content = answer
                self.send_response(status)
                if self.location:
                    self.send_header("Location", self.location)
                self.end_headers()
                self.wfile.write(json.dumps(content).encode())

            def log_message(self, *_: object) -> None:
                """Quiet."""

        self.handler = Handler
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def will(self, verb: str, *answers: object) -> None:
        self.answers.setdefault(verb, deque()).extend(answers)

    def calls(self, verb: str) -> list[tuple[dict, dict[str, str]]]:
        return [(body, headers) for path, body, headers in self.asked if path.endswith(f"/{verb}")]

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def client(server) -> Client:
    return Client(server.url, token="secret", worker="w1", sleep=lambda _: None)


def test_tasks_are_fetched_with_exact_numbers_and_what_is_new_is_left_aside(server, client):
    server.will("fetch-and-lock", (200, [TASK]))
    (task,) = client.fetch_and_lock(["pay"], max=3, lock_seconds=10)
    assert (task.id, task.topic, task.version) == ("t1", "pay", 2)
    assert task.variables == {"amount": Decimal("1.1")}
    body, headers = server.calls("fetch-and-lock")[0]
    assert body == {"worker": "w1", "topics": ["pay"], "max": 3, "lock_seconds": 10}
    assert headers["Authorization"] == "Bearer secret"


def test_an_answer_is_repeated_with_the_same_key_until_it_is_taken(server, client):
    server.will("complete", None, (503, {}), (204, None))
    client.complete(Task(id="t1", topic="pay", instance_id="i", version=2), {"paid": Decimal("1.10"), "n": 10**20})
    calls = server.calls("complete")
    assert len(calls) == 3
    assert {headers["Idempotency-Key"] for _, headers in calls} == {"complete-t1-2"}
    assert calls[0][0] == {"worker": "w1", "variables": {"paid": Decimal("1.10"), "n": 10**20}}


def test_a_refusal_is_raised_with_its_code_and_not_repeated(server, client):
    server.will("complete", (409, {"title": "Conflict", "detail": "the lock has run out", "code": "lock_expired"}))
    with pytest.raises(Refused, match="the lock has run out") as refusal:
        client.complete(Task(id="t1", topic="pay", instance_id="i"))
    assert (refusal.value.status, refusal.value.code) == (409, "lock_expired")
    assert len(server.calls("complete")) == 1


def test_an_address_without_its_scheme_is_refused_at_once():
    with pytest.raises(ValueError, match="'localhost:8000' is no address of a site"):
        Client("localhost:8000", token="secret")


def test_no_answer_at_all_is_unreachable(server):
    server.close()
    client = Client(server.url, token="secret", tries=3, sleep=lambda _: None)
    with pytest.raises(Unreachable):
        client.fail(Task(id="t1", topic="pay", instance_id="i"), "no")


def test_what_is_no_json_is_not_sent(server, client):
    with pytest.raises(ValueError, match="JSON"):
        client.complete(Task(id="t1", topic="pay", instance_id="i"), {"x": Decimal("NaN")})
    assert server.asked == []


@pytest.mark.parametrize(
    ("outcome", "verb", "said"),
    [
        ({"paid": True}, "complete", {"variables": {"paid": True}}),
        (None, "complete", {"variables": {}}),
        (BpmnError("NO_MONEY", "none left"), "error", {"code": "NO_MONEY", "message": "none left", "variables": {}}),
        (TaskFailure("later", retries=2, retry_after=5), "fail", {"message": "later", "retries": 2, "retry_after": 5}),
        (ValueError("broken"), "fail", {"message": "ValueError: broken"}),
        (
            {"paid": {1}},
            "fail",
            {"message": "what the handler of pay came to cannot be taken: Object of type set is not JSON serializable"},
        ),
    ],
)
def test_a_worker_answers_what_its_handler_came_to(server, client, outcome, verb, said):
    worker = Worker(client, threads=2, idle=0.05)

    @worker.task("pay")
    def pay(task):
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    server.will("fetch-and-lock", (200, [TASK]))
    thread = threading.Thread(target=worker.run, kwargs={"signals": False})
    thread.start()
    wait_for(lambda: server.calls(verb) != [], 10)
    worker.stop()
    thread.join(10)
    assert not thread.is_alive()
    body, _ = server.calls(verb)[0]
    assert {key: body[key] for key in said} == said


def test_what_the_engine_cannot_take_is_a_failure_of_the_task(server, client):
    worker = Worker(client, threads=1, idle=0.05)
    worker.task("pay")(lambda task: {"x": "much"})
    server.will("fetch-and-lock", (200, [TASK]))
    server.will("complete", (413, {"detail": "variables are too large"}))
    thread = threading.Thread(target=worker.run, kwargs={"signals": False})
    thread.start()
    wait_for(lambda: server.calls("fail") != [], 10)
    worker.stop()
    thread.join(10)
    body, headers = server.calls("fail")[0]
    assert body["message"] == "what the handler of pay came to cannot be taken: variables are too large"
    assert headers["Idempotency-Key"] == "fail-t1-2"


def test_a_worker_goes_on_with_the_task_that_comes_with_the_answer(server, client):
    worker, done = Worker(client, threads=1, idle=0.05), []

    @worker.task("pay", lock_seconds=30)
    @worker.task("ship", lock_seconds=90)
    def handle(task):
        done.append(task.id)

    server.will("fetch-and-lock", (200, [TASK]))
    following = {"id": "t2", "topic": "ship", "instance_id": "i1", "version": 1}
    server.will("complete", (200, {"sequence": 1, "next": following}), (200, {"sequence": 2, "next": None}))
    thread = threading.Thread(target=worker.run, kwargs={"signals": False})
    thread.start()
    wait_for(lambda: len(server.calls("complete")) == 2, 10)
    worker.stop()
    thread.join(10)
    assert done == ["t1", "t2"]
    first, _ = server.calls("complete")[0]
    assert first["next_topics"] == {"pay": 30, "ship": 90}
    assert "lock_seconds" not in first


@pytest.mark.parametrize("seconds", [0, -1, 604_801, float("nan"), float("inf"), True, "60", None])
def test_a_handler_whose_lock_makes_no_sense_is_not_registered(client, seconds):
    with pytest.raises(ValueError, match="lock_seconds of the handler of 'pay' must be"):
        Worker(client).task("pay", lock_seconds=seconds)


def test_a_handler_that_nobody_would_call_is_refused(client):
    worker = Worker(client)
    with pytest.raises(ValueError, match="has no handler"):
        worker.run(signals=False)
    for topic in (len, "", "x" * 256):
        with pytest.raises(ValueError, match=r'is no topic: write @worker.task\("TOPIC"\)'):
            worker.task(topic)
    worker.task("pay")(len)
    with pytest.raises(ValueError, match="is a second handler for 'pay', beside <built-in function len>"):
        worker.task("pay")(print)
    assert worker.task("pay")(len) is len


@pytest.mark.parametrize("seconds", [0.001, 604_800])
def test_a_handler_may_hold_a_task_as_long_as_the_api_takes(client, seconds):
    assert Worker(client).task("pay", lock_seconds=seconds)(len) is len


def test_an_older_server_takes_the_completion_without_what_it_does_not_know(server, client):
    worker, done = Worker(client, threads=1, idle=0.05), []
    worker.task("pay")(lambda task: done.append(task.id))
    server.will("fetch-and-lock", (200, [TASK, TASK | {"id": "t2"}]))
    server.will("complete", (422, {"detail": "next_topics: extra fields are not permitted"}), (200, {"sequence": 1}))
    thread = threading.Thread(target=worker.run, kwargs={"signals": False})
    thread.start()
    wait_for(lambda: len(server.calls("complete")) == 3, 10)
    worker.stop()
    thread.join(10)
    assert (done, server.calls("fail")) == (["t1", "t2"], [])
    assert [body.get("next_topics") for body, _ in server.calls("complete")] == [{"pay": 60}, None, None]
    keys = [headers["Idempotency-Key"] for _, headers in server.calls("complete")]
    assert keys == ["complete-t1-2", "complete-t1-2", "complete-t2-2"]


def test_a_worker_says_which_variables_it_wants(server, client):
    worker = Worker(client, threads=1, idle=0.05)
    worker.task("pay", variables=["amount"])(lambda task: None)
    worker.task("print", lock_seconds=90)(lambda task: None)
    server.will("fetch-and-lock", (200, [TASK]))
    thread = threading.Thread(target=worker.run, kwargs={"signals": False})
    thread.start()
    wait_for(lambda: server.calls("complete") != [], 10)
    worker.stop()
    thread.join(10)
    pay = {"lock_seconds": 60, "variables": ["amount"]}
    assert server.calls("fetch-and-lock")[0][0]["topics"] == {"pay": pay}
    assert server.calls("complete")[0][0]["next_topics"] == {"pay": pay, "print": 90}


def test_an_older_server_sends_all_variables_and_the_handler_has_those_that_it_named(server, client):
    unfit, task = (422, {"detail": "topics: a list is wanted"}), TASK | {"variables": {"amount": 1, "large": [1] * 9}}
    other = task | {"id": "t2", "topic": "print"}
    topics = {"pay": Topic(5, ["amount", "absent"]), "print": 7}
    server.will("fetch-and-lock", unfit, (200, [task]), (200, [other]), (200, []), (200, []))
    tasks = client.fetch_and_lock(topics, max=2)
    assert [one.variables for one in tasks] == [{"amount": 1}, {"amount": 1, "large": [1] * 9}]
    assert client.fetch_and_lock(topics, max=2) == []
    asked = [(body["topics"], body["max"], body["lock_seconds"]) for body, _ in server.calls("fetch-and-lock")[1:]]
    assert asked == [(["pay"], 2, 5), (["print"], 1, 7), (["pay"], 2, 5), (["print"], 2, 7)]


def test_an_older_server_takes_next_topics_without_names(server, client):
    unfit, task = (422, {"detail": "next_topics"}), Task(id="t0", topic="pay", instance_id="i")
    answer = (200, {"next": TASK | {"variables": {"amount": 1, "large": [1] * 9}}})
    server.will("complete", unfit, answer, answer)
    for _ in range(2):
        following = client.complete(task, next_topics={"pay": Topic(variables=["amount"])})
        assert following is not None and following.variables == {"amount": 1}
    named = {"pay": {"lock_seconds": 60, "variables": ["amount"]}}
    asked = [body["next_topics"] for body, _ in server.calls("complete")]
    assert asked == [named, {"pay": 60}, {"pay": 60}]


def test_an_even_older_server_takes_the_completion_alone(server, client):
    unfit, task = (422, {"detail": "unfit"}), Task(id="t0", topic="pay", instance_id="i")
    server.will("complete", unfit, unfit, (200, {"sequence": 1}), (200, {"sequence": 2}))
    for _ in range(2):
        assert client.complete(task, next_topics={"pay": Topic(variables=[])}) is None
    assert [body.get("next_topics") for body, _ in server.calls("complete")][2:] == [None, None]


@pytest.mark.parametrize("names", ["order", [5], [""], ["\x00"], ["x" * 256], [f"v{number}" for number in range(101)]])
def test_names_of_a_handler_that_make_no_sense(client, names):
    with pytest.raises(ValueError, match="variables of the handler of 'pay' must be"):
        Worker(client).task("pay", variables=names)


def test_what_any_server_refuses_is_raised_and_says_nothing_of_its_age(server, client):
    task = Task(id="t1", topic="pay", instance_id="i")
    server.will("complete", (422, {"detail": "unfit"}), (422, {"detail": "unfit"}), (200, {"next": TASK}))
    with pytest.raises(Refused, match="unfit"):
        client.complete(task, {"x": 1}, next_topics=["pay"], lock_seconds=5)
    said = [{key: body[key] for key in body if "_" in key} for body, _ in server.calls("complete")]
    assert said == [{"next_topics": ["pay"], "lock_seconds": 5}, {}]
    following = client.complete(task, {"x": 2}, next_topics=["pay"])
    assert following is not None and following.id == "t1"


@pytest.mark.parametrize(("limit", "value"), [("IN_A_ROW", 1), ("ROW_SECONDS", 0.0)])
def test_a_worker_does_not_go_on_for_ever(server, client, monkeypatch, limit, value):
    monkeypatch.setattr(worker_module, limit, value)
    worker = Worker(client, threads=1, idle=0.05)
    worker.task("pay")(lambda task: None)
    server.will("fetch-and-lock", (200, [TASK]))
    thread = threading.Thread(target=worker.run, kwargs={"signals": False})
    thread.start()
    wait_for(lambda: server.calls("complete") != [], 10)
    worker.stop()
    thread.join(10)
    assert "next_topics" not in server.calls("complete")[0][0]


def test_a_token_is_not_carried_elsewhere(server, client, monkeypatch):
    monkeypatch.setattr(server.handler, "location", server.url + "/elsewhere")
    server.will("complete", (302, {}))
    with pytest.raises(ApiError) as refused:
        client.complete(Task(id="t1", topic="pay", instance_id="i"))
    assert refused.value.status == 302
    assert [path for path, _, _ in server.asked] == ["/api/external-tasks/t1/complete"]


def test_a_worker_holds_the_lock_of_a_slow_handler_and_fetches_only_for_free_threads(server, client):
    worker = Worker(client, threads=1, idle=0.05)
    go_on = threading.Event()

    @worker.task("pay", lock_seconds=0.3)
    def pay(task):
        go_on.wait(10)

    server.will("fetch-and-lock", (200, [TASK]))
    thread = threading.Thread(target=worker.run, kwargs={"signals": False})
    thread.start()
    wait_for(lambda: len(server.calls("extend")) >= 2, 10)
    assert len(server.calls("fetch-and-lock")) == 1
    go_on.set()
    wait_for(lambda: server.calls("complete") != [], 10)
    worker.stop()
    thread.join(10)
    assert not thread.is_alive()


def test_the_locks_that_handlers_may_have_are_those_that_the_engine_takes():
    least = inspect.signature(acting.bounded).parameters["least"].default
    assert {(one.SHORTEST_LOCK, one.LONGEST_LOCK) for one in (handlers, worker_module)} == {
        (least, external_tasks.LONGEST_LOCK)
    }
    named = {(one.MOST_NAMES, one.LONGEST_NAME) for one in (handlers, worker_module)}
    assert named == {(external_tasks.MOST_NAMES, external_tasks.NAME_LIMIT)}
