"""Runs one scenario over a driver: deploy, start, steps, expectations; mocks and auto in between.

Written once for every engine: it knows `Driver` and nothing of what stands behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bpm.expressions.timers import first
from bpm.scenarios.driver import Driver, Due, Observation, Refused, Waiting
from bpm.scenarios.expectations import Mismatch, Scene, compare, differing, shown
from bpm.scenarios.model import ANSWERING_STEPS, MAXIMAL_MOVES, Answer, Scenario, Start, Step
from bpm.scenarios.parse import Document
from bpm.scenarios.report import Failure, Result

_NOT_DONE = "the step is carried out"


class _Unexpected(Exception):
    """Something is not as the scenario says. Not so for a Refused, which `expect_error` may wait for."""

    def __init__(self, *mismatches: Mismatch) -> None:
        super().__init__()
        self.mismatches = mismatches


def run(scenario: Scenario, new_driver: Callable[[], Driver]) -> Result:
    """The scenario's result. A defect of the engine fails its scenario like anything else that is not as expected."""
    driver = new_driver()
    performance = _Performance(scenario, driver)
    try:
        try:
            failures = _perform(performance)
        except Exception as defect:
            failures = [Mismatch(expected="the engine goes on", there=_defect(defect))]
        seen = driver.observe() if failures else Observation()
        path = tuple(seen.passed)
        return Result(
            file=scenario.file,
            number=scenario.number,
            name=scenario.name,
            failures=tuple(
                Failure(step=performance.stage, expected=found.expected, there=found.there, path=path)
                for found in failures
            ),
            incidents=tuple(seen.incidents),
        )
    finally:
        driver.close()


def run_document(document: Document, new_driver: Callable[[], Driver]) -> Result:
    """The result of a document as read: what is wrong with it fails it, else it is run."""
    if document.scenario is not None:
        return run(document.scenario, new_driver)
    wrong = tuple(Failure(step="read", expected="a scenario", there=problem) for problem in document.problems)
    return Result(file=document.file, number=document.number, name=document.name, failures=wrong)


def _perform(performance: _Performance) -> Sequence[Mismatch]:
    """What is not as expected; the first stage at which something is not ends the scenario."""
    stages = iter(performance.stages())
    while True:
        try:
            performance.stage, act = next(stages)
        except StopIteration:
            return ()
        try:
            act()
        except _Unexpected as found:
            return found.mismatches
        except Refused as refusal:
            return [Mismatch(expected=_NOT_DONE, there=str(refusal))]


@dataclass(slots=True)
class _Performance:
    """A scenario while it runs. `stage` is the step at which it is, `visits` count the answers of each mock."""

    scenario: Scenario
    driver: Driver
    stage: str = ""
    visits: Counter[str] = field(default_factory=Counter)

    def stages(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """The stages in order, each with its name and what is done."""
        scenario = self.scenario
        yield "deploy", self._deploy
        start = scenario.start
        if start is None:
            return
        yield "start", lambda: self._start(start)
        for number, step in enumerate(scenario.steps, start=1):
            yield f"step {number} ({_label(step)})", lambda step=step: self._step(step)  # type: ignore[misc]
        if scenario.expect:
            yield "expect", lambda: self._expect(scenario.expect)

    def _deploy(self) -> None:
        reasons = self.driver.deploy(self.scenario.models, strict=self.scenario.strict)
        if self.scenario.deploy_error and not reasons:
            raise _Unexpected(Mismatch(expected="the models are refused at deployment", there="they were accepted"))
        if reasons and not self.scenario.deploy_error:
            raise _Unexpected(*(Mismatch(expected="the models are accepted", there=reason) for reason in reasons))

    def _start(self, start: Start) -> None:
        self.driver.answer_calls(self.scenario.called)
        self.driver.start(start)
        self._settle()

    def _step(self, step: Step) -> None:
        if step.kind == "expect_error":
            inner: Step = step.arguments["step"]
            try:
                self._act(inner)
            except Refused:
                return
            raise _Unexpected(Mismatch(expected=f"{_label(inner)} is refused", there="it was carried out"))
        self._act(step)

    def _act(self, step: Step) -> None:
        """Carry out one step and let the engine come to rest. Refused or _Unexpected."""
        arguments = step.arguments
        match step.kind:
            case "complete" | "error" | "fail":
                waiting = self._oldest(arguments)
                self._check_inputs(waiting, arguments)
                self.driver.answer(waiting, _answer(step))
            case "message":
                self.driver.message(
                    arguments["name"],
                    business_key=arguments.get("business_key"),
                    correlation=arguments.get("correlation", {}),
                    variables=arguments.get("variables", {}),
                )
            case "signal":
                self.driver.signal(arguments["name"], arguments.get("variables", {}))
            case "advance":
                self._advance(arguments["by"])
            case "fire_timer":
                self.driver.fire(self._timer(arguments["activity"]))
            case "set_variables":
                self.driver.set_variables(arguments["variables"])
            case "expect":
                self._expect(arguments)
                return
        self._settle()

    def _oldest(self, arguments: Mapping[str, str]) -> Waiting:
        """The longest waiting activity that a step means and that can be answered."""
        activity, topic = arguments.get("activity"), arguments.get("topic")
        waiting = self.driver.waiting()
        found = [w for w in waiting if activity in (None, w.activity) and topic in (None, w.topic)]
        for item in found:
            if not item.held:
                return item
        if found:
            raise Refused(f"{found[0].activity} cannot be answered: {found[0].held}")
        named = " ".join(part for part in (activity, topic and f"(topic {topic})") if part)
        there = [f"{w.activity} (topic {w.topic})" if w.topic else w.activity for w in waiting]
        raise Refused(f"{named} does not wait; waiting: {shown(there)}")

    def _check_inputs(self, waiting: Waiting, arguments: Mapping[str, Mapping[str, object]]) -> None:
        inputs = arguments.get("inputs")
        if not inputs:
            return
        there = self.driver.inputs(waiting)
        wrong = differing(inputs, there)
        if wrong:
            seen = {key: there.get(key, "(no such variable)") for key in wrong}
            raise _Unexpected(Mismatch(expected=f"{waiting.activity} sees {shown(wrong)}", there=shown(seen)))

    def _timer(self, activity: str) -> Due:
        timers = [due for due in self.driver.due() if due.activity is not None]
        for due in timers:
            if due.activity == activity:
                return due
        raise Refused(f"no timer waits at {activity}; timers: {shown([due.activity for due in timers])}")

    def _advance(self, by: str) -> None:
        """Move the clock, stopping at each moment that is set on the way."""
        now = self.driver.now()
        schedule = first("duration", by, now)
        target = schedule.fire_at if schedule else now
        while True:
            now = self.driver.now()
            upcoming = [due.at for due in self.driver.due() if now < due.at <= target]
            self.driver.set_clock(min(upcoming, default=target))
            if not upcoming:
                return
            self._settle()

    def _expect(self, expectations: Mapping[str, object]) -> None:
        mismatches = compare(expectations, Scene(self.driver.observe(), self.driver.waiting()))
        if mismatches:
            raise _Unexpected(*mismatches)

    def _settle(self) -> None:
        """Run until every token waits or has ended, answering what mocks and `auto` answer and firing what is due."""
        moves = 0
        while True:
            moved = self.driver.move()
            moved += self._apply_mock()
            moved = moved or self._apply_auto() or self._fire_due()
            if not moved:
                return
            moves += moved
            if moves > MAXIMAL_MOVES:
                there = "it goes on and on: " + shown(list(self.driver.observe().passed[-6:]))
                expected = f"every token waits or has ended after {MAXIMAL_MOVES} moves"
                raise _Unexpected(Mismatch(expected=expected, there=there))

    def _apply_mock(self) -> int:
        if not self.scenario.mocks:
            return 0
        for waiting in self.driver.waiting():
            for key in (waiting.activity, f"topic:{waiting.topic}"):
                if key in self.scenario.mocks and not waiting.held:
                    answers = self.scenario.mocks[key]
                    answer = answers[min(self.visits[key], len(answers) - 1)]
                    self.visits[key] += 1
                    return self.driver.answer(waiting, answer)
        return 0

    def _apply_auto(self) -> int:
        if not self.scenario.auto:
            return 0
        named = _named(self.scenario)
        for waiting in self.driver.waiting():
            spoken_for = waiting.activity in named or f"topic:{waiting.topic}" in named
            if waiting.kind in self.scenario.auto and not waiting.held and not spoken_for:
                return self.driver.answer(waiting, Answer())
        return 0

    def _fire_due(self) -> int:
        now = self.driver.now()
        for due in self.driver.due():
            if due.activity is not None and due.at <= now:
                return self.driver.fire(due)
        return 0


def _answer(step: Step) -> Answer:
    arguments = step.arguments
    return Answer(
        kind=step.kind,
        variables=arguments.get("variables", {}),
        code=arguments.get("code", ""),
        message=arguments.get("message", ""),
        retries=arguments.get("retries"),
    )


def _named(scenario: Scenario) -> frozenset[str]:
    """The activities ("id") and topics ("topic:name") that steps and mocks speak of, which `auto` leaves alone."""
    found = set(scenario.mocks)
    for step in scenario.steps:
        acting: Step = step.arguments["step"] if step.kind == "expect_error" else step
        if acting.kind in ANSWERING_STEPS:
            activity, topic = acting.arguments.get("activity"), acting.arguments.get("topic")
            # A step that gives both means this activity, not every task of the topic.
            found.add(activity if activity else f"topic:{topic}")
    return frozenset(found)


def _label(step: Step) -> str:
    """The step in a few words: "complete Notify"."""
    arguments = step.arguments
    if step.kind == "expect_error":
        return f"expect_error {_label(arguments['step'])}"
    about = next((arguments[key] for key in ("activity", "topic", "name", "by") if key in arguments), "")
    return f"{step.kind} {about}".strip()


def _defect(defect: Exception) -> str:
    place = ""
    trace = defect.__traceback__
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(defect).__name__}: {defect} ({place})"
