"""The core driver: runs a scenario on the pure core, in memory, with a virtual clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bpm.expressions import ExpressionError
from bpm.expressions.timers import Schedule, following
from bpm.scenarios.deployment import Beginning, deploy, first_moment
from bpm.scenarios.driver import Due, Observation, Refused, Waiting
from bpm.scenarios.exchange import deliver, process_variables, send_message, throw_signal
from bpm.scenarios.model import Answer, Start
from bpm.scenarios.standing import standing
from bpm.scenarios.world import Delivery, Thread, World
from bpm.semantics import commands as c
from bpm.semantics.formulas import sees

WORKER = "scenario"
LOCK = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class _StartTimer:
    """A definition's start timer and its next moment."""

    beginning: Beginning
    schedule: Schedule


class CoreDriver:
    """A world in memory; `bpm.scenarios.driver.Driver` describes the methods."""

    def __init__(self, folder: Path) -> None:
        """`folder`: what the paths of models are relative to."""
        self.world = World()
        self._folder = folder
        self._start_timers: list[_StartTimer] = []

    def deploy(self, models: Sequence[str], *, strict: bool) -> Sequence[str]:
        deployment = deploy([self._folder / model for model in models], strict=strict)
        if deployment.refusals:
            return deployment.refusals
        self.world.deployment = deployment
        for beginning in deployment.beginnings("timer"):
            try:
                self._set(beginning, first_moment(beginning, self.world.clock))
            except ExpressionError as fault:
                return [f"the start timer {beginning.node} of {beginning.process} cannot be set: {fault}"]
        return ()

    def answer_calls(self, called: Mapping[str, Answer]) -> None:
        self.world.called = called

    def start(self, start: Start) -> None:
        if start.process is not None:
            process = self.world.process(start.process)
            self.world.begin(process, None, start.variables, business_key=start.business_key)
            return
        kind, name = ("message", start.message) if start.message is not None else ("signal", start.signal)
        beginnings = self.world.deployment.beginnings(kind, name)
        if not beginnings:
            raise Refused(f"no process of the models starts with the {kind} {name}")
        # A message is for one, a signal for all.
        for beginning in beginnings[:1] if kind == "message" else beginnings:
            self.world.begin_at(beginning, start.variables, business_key=start.business_key)

    def move(self) -> int:
        world = self.world
        while world.queue:
            item = world.queue.popleft()
            before = len(world.passed)
            if deliver(world, item) if isinstance(item, Delivery) else world.advance(world.threads[item[0]], item[1]):
                return self._moves_since(before)
        return 0

    def waiting(self) -> Sequence[Waiting]:
        world = self.world
        found = [
            (world.births[thread.id, kind, id], waiting)
            for thread in world.threads.values()
            if thread.is_open
            for kind, id, waiting in standing(thread, world.clock)
            if not (waiting.kind == "call" and world.called_by(thread.id, id))
        ]
        return [waiting for _, waiting in sorted(found, key=lambda pair: pair[0])]

    def inputs(self, waiting: Waiting) -> Mapping[str, Any]:
        thread, kind, id = waiting.handle
        state = self.world.threads[thread].state
        return sees(state, state.table(kind)[id].token)

    def answer(self, waiting: Waiting, answer: Answer) -> int:
        thread, kind, id = waiting.handle
        before = len(self.world.passed)
        self.world.commit(self.world.threads[thread], _commands(kind, id, answer, self.world.clock))
        return self._moves_since(before)

    def message(
        self,
        name: str,
        *,
        business_key: str | None,
        correlation: Mapping[str, Any],
        variables: Mapping[str, Any],
    ) -> None:
        send_message(self.world, name, business_key, correlation, variables)

    def signal(self, name: str, variables: Mapping[str, Any]) -> None:
        throw_signal(self.world, name, variables)

    def set_variables(self, variables: Mapping[str, Any]) -> None:
        self.world.execute(self._started, c.SetVariables(at=self.world.clock, variables=dict(variables)))

    def now(self) -> datetime:
        return self.world.clock

    def set_clock(self, moment: datetime) -> None:
        self.world.clock = moment

    def due(self) -> Sequence[Due]:
        found = [Due(at=one.schedule.fire_at, activity=one.beginning.node, handle=one) for one in self._start_timers]
        for thread in self.world.threads.values():
            if not thread.is_open:
                continue
            for timer in thread.state.timers.values():
                if timer.state == "SCHEDULED":
                    found.append(Due(at=timer.fire_at, activity=timer.node, handle=(thread.id, timer.id)))
            for task in thread.state.tasks.values():
                if task.state == "READY" and task.retry_at is not None and task.retry_at > self.world.clock:
                    found.append(Due(at=task.retry_at, activity=None))
        return sorted(found, key=lambda due: due.at)

    def fire(self, due: Due) -> int:
        before = len(self.world.passed)
        if isinstance(due.handle, _StartTimer):
            self._start_timers.remove(due.handle)
            self._set(due.handle.beginning, following(due.handle.schedule))
            self.world.begin_at(due.handle.beginning, {})
        else:
            thread, timer = due.handle
            early = due.at > self.world.clock
            self.world.execute(self.world.threads[thread], c.FireTimer(at=self.world.clock, timer=timer, early=early))
        return self._moves_since(before)

    def observe(self) -> Observation:
        world = self.world
        if not world.threads:
            return Observation()
        started = self._started
        instance, graph = started.state.instance, started.graph
        at_top = [thread == started.id and graph.nodes[end].scope == graph.id for thread, end in world.ends]
        return Observation(
            passed=tuple(world.passed),
            trace=tuple(world.trace),
            state=instance.state if instance else "",
            ends=tuple(end for (_, end), top in zip(world.ends, at_top, strict=True) if top),
            ends_within=tuple(end for (_, end), top in zip(world.ends, at_top, strict=True) if not top),
            variables=process_variables(started.state),
            incidents=tuple(
                f"{incident.node}: {incident.message}"
                for thread in world.threads.values()
                for incident in thread.state.incidents.values()
                if incident.state == "OPEN"
            ),
        )

    def close(self) -> None:
        self.world.queue.clear()

    def _moves_since(self, passed: int) -> int:
        return max(1, len(self.world.passed) - passed)

    @property
    def _started(self) -> Thread:
        """The instance that the scenario is about: the first one."""
        return next(iter(self.world.threads.values()))

    def _set(self, beginning: Beginning, schedule: Schedule | None) -> None:
        if schedule is not None:
            self._start_timers.append(_StartTimer(beginning, schedule))


def _commands(kind: str, id: int, answer: Answer, at: datetime) -> list[c.Command]:
    """What a worker, a person or a sender asks of the instance to give the answer. Refused where none can give it."""
    variables = dict(answer.variables)
    if kind == "task":
        lock = c.LockTask(at=at, task=id, worker=WORKER, until=at + LOCK)
        if answer.kind == "complete":
            return [lock, c.CompleteExternalTask(at=at, task=id, worker=WORKER, variables=variables)]
        if answer.kind == "error":
            return [lock, c.ThrowBpmnError(at=at, task=id, worker=WORKER, **_thrown(answer))]
        failed = c.FailExternalTask(at=at, task=id, worker=WORKER, message=answer.message, retries=answer.retries)
        return [lock, failed]
    if kind == "user_task" and answer.kind == "complete":
        return [c.CompleteUserTask(at=at, user_task=id, variables=variables)]
    if kind == "user_task" and answer.kind == "error":
        return [c.ThrowUserTaskError(at=at, user_task=id, **_thrown(answer))]
    if kind == "ticket" and answer.kind == "complete":
        return [c.Correlate(at=at, ticket=id, variables=variables)]
    raise Refused(f"only external tasks can {answer.kind}" if answer.kind == "fail" else "it has no error to throw")


def _thrown(answer: Answer) -> dict[str, Any]:
    return {"code": answer.code, "message": answer.message, "variables": dict(answer.variables)}
