"""The engine driver: what a scenario asks, done by the engine's verbs; what is there, read from the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from bpm import engine
from bpm.engine import EngineError, LockedTask
from bpm.engine.acting import act
from bpm.management.driving.answering import answering_calls
from bpm.management.driving.chronicle import Chronicle
from bpm.management.driving.ground import Ground
from bpm.management.driving.outlook import Outlook
from bpm.management.driving.start_timers import StartTimer, fire_start_timer
from bpm.scenarios.driver import BEGINNING, Due, Observation, Refused, Waiting
from bpm.scenarios.exchange import process_variables
from bpm.scenarios.model import Answer, Start
from bpm.scenarios.standing import standing
from bpm.semantics import commands as c
from bpm.semantics.formulas import sees
from bpm.semantics.state import State
from bpm.store import ids, schedule

# Who acts, as history names it; and the worker that takes every topic.
SCENARIO = "scenario"
# No scenario takes so long between two moves of its clock.
AHEAD = timedelta(days=1)
# Tokens that one move takes up which were left ACTIVE, and messages that were left undelivered.
LEFT = 10


class EngineDriver:
    """A world in a database that was emptied for it; `bpm.scenarios.driver.Driver` describes the methods."""

    def __init__(self, folder: Path, ground: Ground) -> None:
        """`folder`: what the paths of models are relative to. The ground must have been cleared."""
        self._folder = folder
        self._ground = ground
        self.outlook = Outlook(Chronicle(since=BEGINNING, until=BEGINNING + AHEAD), now=BEGINNING)
        self._processes: tuple[str, ...] = ()
        self._locked: dict[UUID, LockedTask] = {}
        self._restore: Callable[[], None] = lambda: None

    def deploy(self, models: Sequence[str], *, strict: bool) -> Sequence[str]:
        files: dict[str, bytes] = {}
        reasons = []
        for model in dict.fromkeys(models):
            try:
                files[model] = (self._folder / model).read_bytes()
            except OSError as problem:
                reasons.append(f"{self._folder / model}: {problem.strerror}")
        if reasons:
            return reasons
        try:
            deployed = engine.deploy(files, actor=SCENARIO, strict=strict)
        except engine.DeployRefused as refused:
            return [str(found) for found in refused.diagnostics if found.severity == "error"]
        except engine.Invalid:
            # No rule is broken, and nothing in the models can be run: as drawings they are accepted.
            return ()
        self._processes = tuple(one.key for one in deployed.definitions)
        return ()

    def answer_calls(self, called: Mapping[str, Answer]) -> None:
        self._restore()
        self._restore = answering_calls(called)

    def start(self, start: Start) -> None:
        with self._acting():
            self._start(start)
        if not self.outlook.look().chronicle.instances:
            raise Refused(f"no process of the models starts with the signal {start.signal}")

    def move(self) -> int:
        before = self._passed()
        did = engine.advance_left_behind(LEFT, older_than=0) | engine.deliver_pending(LEFT)
        if not any(did.values()):
            return 0
        self.outlook.stale = True
        return self._moves_since(before)

    def waiting(self) -> Sequence[Waiting]:
        outlook = self.outlook.look()
        threads, births = list(outlook.running()), outlook.chronicle.births
        callers = {_caller(thread.state) for thread in threads}
        found = [
            (births[UUID(thread.id), kind, id], waiting)
            for thread in threads
            for kind, id, waiting in standing(thread, outlook.now)
            if not (waiting.kind == "call" and (thread.id, id) in callers)
        ]
        return [waiting for _, waiting in sorted(found, key=lambda pair: pair[0])]

    def inputs(self, waiting: Waiting) -> Mapping[str, Any]:
        thread, kind, id = waiting.handle
        if kind == "task":
            return self._lock(waiting).variables
        state = self.outlook.look().states[UUID(thread)]
        return sees(state, state.table(kind)[id].token)

    def answer(self, waiting: Waiting, answer: Answer) -> int:
        before = self._passed()
        with self._acting():
            ANSWERS[waiting.handle[1]](self, waiting, answer)
        return self._moves_since(before)

    def message(
        self,
        name: str,
        *,
        business_key: str | None,
        correlation: Mapping[str, Any],
        variables: Mapping[str, Any],
    ) -> None:
        with self._acting():
            engine.correlate(
                name, actor=SCENARIO, business_key=business_key, correlation=correlation, variables=variables
            )

    def signal(self, name: str, variables: Mapping[str, Any]) -> None:
        with self._acting():
            engine.throw_signal(name, actor=SCENARIO, variables=variables)

    def set_variables(self, variables: Mapping[str, Any]) -> None:
        with self._acting():
            engine.set_variables(self._started, variables, actor=SCENARIO)

    def now(self) -> datetime:
        return self.outlook.look().now

    def set_clock(self, moment: datetime) -> None:
        # Time has gone on since the last look, and never goes back.
        self._ground.set_clock(max(moment, schedule.now()))
        self.outlook.chronicle.until = moment + AHEAD
        self.outlook.stale = True

    def due(self) -> Sequence[Due]:
        outlook = self.outlook.look()
        found = [Due(at=one.at, activity=one.node, handle=one) for one in outlook.start_timers]
        for thread in outlook.running():
            for timer in thread.state.timers.values():
                if timer.state == "SCHEDULED":
                    found.append(Due(at=timer.fire_at, activity=timer.node, handle=(UUID(thread.id), timer.id)))
            for task in thread.state.tasks.values():
                if task.state == "READY" and task.retry_at is not None and task.retry_at > outlook.now:
                    found.append(Due(at=task.retry_at, activity=None))
        return sorted(found, key=lambda due: due.at)

    def fire(self, due: Due) -> int:
        before = self._passed()
        with self._acting():
            if due.at <= self.outlook.now:
                _fire_as_scheduler(due)
            elif isinstance(due.handle, StartTimer):
                fire_start_timer(due.handle, actor=SCENARIO)
            else:
                instance, timer = due.handle
                act(instance, lambda at: c.FireTimer(at=at, timer=timer, early=True), actor=SCENARIO)
        return self._moves_since(before)

    def observe(self) -> Observation:
        outlook = self.outlook.look()
        chronicle = outlook.chronicle
        if not chronicle.instances:
            return Observation()
        started = self._started
        graph, state = chronicle.instances[started], outlook.states[started]
        at_top = [(end, id == started and graph.nodes[end].scope == graph.id) for id, end in chronicle.ends]
        return Observation(
            passed=tuple(chronicle.passed),
            trace=tuple(chronicle.trace),
            state=state.instance.state if state.instance else "",
            ends=tuple(end for end, top in at_top if top),
            ends_within=tuple(end for end, top in at_top if not top),
            variables=process_variables(state),
            incidents=tuple(
                f"{incident.node}: {incident.message}"
                for one in outlook.states.values()
                for incident in one.incidents.values()
                if incident.state == "OPEN"
            ),
        )

    def close(self) -> None:
        self._restore()

    def _start(self, start: Start) -> None:
        given: dict[str, Any] = {"actor": SCENARIO, "variables": start.variables}
        if start.signal is not None:
            engine.throw_signal(start.signal, **given)
            return
        try:
            if start.process is not None:
                engine.start(start.process, business_key=start.business_key, **given)
            else:
                engine.correlate(start.message or "", business_key=start.business_key, **given)
        except engine.NotFound:
            there = f"in the models; there are {', '.join(self._processes)}"
            if start.process is not None:
                raise Refused(f"there is no process {start.process} {there}") from None
            raise Refused(f"no process of the models starts with the message {start.message}") from None

    @property
    def _started(self) -> UUID:
        """The instance that the scenario is about: the first one."""
        return next(iter(self.outlook.look().chronicle.instances))

    def _passed(self) -> int:
        return len(self.outlook.look().chronicle.passed)

    def _moves_since(self, passed: int) -> int:
        return max(1, self._passed() - passed)

    @contextmanager
    def _acting(self) -> Iterator[None]:
        """What the engine says no with, as scenarios understand it; whatever came of it is to be seen."""
        try:
            yield
        except EngineError as refused:
            raise Refused(refused.message) from None
        finally:
            self.outlook.stale = True

    def _lock(self, waiting: Waiting) -> LockedTask:
        """Fetch the task as a worker does, who cannot choose: what else comes first is given back. Raises Refused."""
        thread, _, ordinal = waiting.handle
        id = ids.entity(UUID(thread), ordinal)
        self.outlook.stale = True
        others = []
        while id not in self._locked:
            found = engine.fetch_and_lock([waiting.topic or ""], worker=SCENARIO)
            if not found:
                raise Refused(f"no worker gets the task at {waiting.activity}")
            self._locked |= {task.id: task for task in found if task.id == id}
            others += [task.id for task in found if task.id != id]
        for other in others:
            engine.unlock_task(other, actor=SCENARIO, worker=SCENARIO)
        return self._locked[id]

    def _answer_task(self, waiting: Waiting, answer: Answer) -> None:
        task = self._lock(waiting).id
        del self._locked[task]
        if answer.kind == "complete":
            engine.complete_task(task, worker=SCENARIO, variables=answer.variables)
        elif answer.kind == "error":
            engine.throw_task_error(task, worker=SCENARIO, **_thrown(answer))
        else:
            engine.fail_task(task, worker=SCENARIO, message=answer.message, retries=answer.retries)

    def _answer_person(self, waiting: Waiting, answer: Answer) -> None:
        thread, _, ordinal = waiting.handle
        task = ids.entity(UUID(thread), ordinal)
        if answer.kind == "complete":
            engine.complete_user_task(task, actor=SCENARIO, variables=answer.variables)
        elif answer.kind == "error":
            engine.throw_user_task_error(task, actor=SCENARIO, **_thrown(answer))
        else:
            raise Refused("only external tasks can fail")

    def _answer_ticket(self, waiting: Waiting, answer: Answer) -> None:
        thread, _, ordinal = waiting.handle
        if answer.kind != "complete":
            raise _no_answer(answer)
        variables = engine.checked(answer.variables)
        act(UUID(thread), lambda at: c.Correlate(at=at, ticket=ordinal, variables=variables), actor=SCENARIO)

    def _answer_nothing(self, waiting: Waiting, answer: Answer) -> None:
        raise _no_answer(answer)


ANSWERS: Mapping[str, Callable[[EngineDriver, Waiting, Answer], None]] = {
    "task": EngineDriver._answer_task,
    "user_task": EngineDriver._answer_person,
    "ticket": EngineDriver._answer_ticket,
    "timer": EngineDriver._answer_nothing,
    "incident": EngineDriver._answer_nothing,
}


def _fire_as_scheduler(due: Due) -> None:
    """What is due first fires; with several due at one moment, any of them."""
    fire = engine.fire_start_timers if isinstance(due.handle, StartTimer) else engine.fire_due_timers
    if not any(fire(1).values()):
        raise Refused(f"the timer at {due.activity} is due, and does not fire")


def _caller(state: State) -> tuple[str, int] | None:
    caller = state.instance.caller if state.instance else None
    return None if caller is None else (caller["thread"], caller["ticket"])


def _thrown(answer: Answer) -> dict[str, Any]:
    return {"code": answer.code, "message": answer.message, "variables": answer.variables}


def _no_answer(answer: Answer) -> Refused:
    return Refused("only external tasks can fail" if answer.kind == "fail" else "it has no error to throw")
