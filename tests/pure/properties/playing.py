"""Playing an instance in a random order: at each moment one of all the things that could happen now does.

Nothing is advanced at once: an ACTIVE token waits for its turn as a task does, so that whatever may come in between
does come in between sooner or later. Every step is decided on the whole state and on as little of it as suffices, and
kept as a commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from random import Random
from typing import Any

from bpm.graph import Process
from bpm.replay import Recorded
from bpm.semantics import Decided, Event, Refusal, State, decide, evolve
from bpm.semantics import commands as c
from bpm.semantics.lifecycle import is_final
from bpm.semantics.state import ATTACHED, Task
from tests.pure.semantics.drawing import START, assert_holds, decide_from_nothing

# More steps than any process of these tests needs: one that takes more runs for ever.
STEPS = 3000
# How often an event that does not interrupt may come at one node.
COMES = 2


class Play:
    """One instance, its commits, and the chance that decides what happens next."""

    def __init__(self, process: Process, seed: int, *, meddling: float = 0.0) -> None:
        """`meddling`: how often, of all steps, an operator does something that makes little sense."""
        self.process = process
        self.meddling = meddling
        self.chance = Random(seed)  # noqa: S311
        self.at = START
        self.state = State(thread="i")
        self.commits: list[Recorded] = []
        self.came: dict[str, int] = {}
        self.refusals: list[Refusal] = []

    def run(self, steps: int = STEPS) -> None:
        """From the start until nothing more can happen, or for as many steps as are looked at."""
        self.do(c.StartInstance(at=self.at, variables={"c": self.chance.randrange(4)}))
        for _ in range(steps):
            possible = list(self.possible())
            if not possible:
                return
            command, *more = self.chance.choice(possible)
            if self.chance.random() < self.meddling:
                command, *more = self._meddle()
            self.do(command)
            for one in more:
                self.do(one)
        assert steps < STEPS, f"it goes on after {steps} steps: {sorted(self.came.items())}"

    def do(self, command: c.Command) -> None:
        """One step."""
        decision = decide(self.process, self.state, command)
        if isinstance(decision, Refusal):
            self.refusals.append(decision)
            return
        assert isinstance(decision, Decided), decision
        assert decide_from_nothing(self.process, self.state, command) == decision.events
        assert evolve(self.state, decision.events) == decision.state
        assert_holds(self.process, self.state, command, decision)
        self.state = decision.state.sealed()
        self.at += timedelta(seconds=1)
        self.commits.append(
            Recorded(
                sequence=len(self.commits) + 1,
                version=self.state.version,
                command=type(command).__name__,
                at=command.at,
                arguments=c.to_json(command),
                events=decision.events,
            )
        )

    @property
    def events(self) -> Iterator[Event]:
        """All that has happened."""
        return (event for commit in self.commits for event in commit.events)

    def left(self) -> list[str]:
        """What is still open; at the end that must be nothing."""
        return [
            f"{kind} {entity.id} at {entity.node} is {entity.state}"
            for kind in ("token", *ATTACHED)
            for entity in self.state.table(kind).values()
            if not is_final(kind, entity.state)
        ]

    def possible(self) -> Iterator[tuple[c.Command, ...]]:
        """All that could happen now, each as the commands that bring it about."""
        state, at = self.state, self.at
        instance = state.instance
        if instance is None or instance.state != "RUNNING":
            if instance is not None and self.chance.random() < self.meddling:
                yield (c.RestartInstance(at=at, fresh=self.chance.random() < 0.5, variables=self._variables()),)
            return
        for token in state.tokens.values():
            if token.state == "ACTIVE":
                yield (c.AdvanceToken(at=at, token=token.id),)
        for task in state.tasks.values():
            if task.state in ("READY", "LOCKED"):
                yield self._work(task)
        for user_task in state.user_tasks.values():
            if user_task.state in ("READY", "CLAIMED"):
                yield (c.CompleteUserTask(at=at, user_task=user_task.id, variables=self._variables()),)
        for timer in state.timers.values():
            if timer.state == "SCHEDULED" and self._may_come(timer.node):
                yield (c.FireTimer(at=at, timer=timer.id, early=True),)
        for ticket in state.tickets.values():
            if ticket.state == "OPEN" and ticket.kind in ("MESSAGE", "SIGNAL") and self._may_come(ticket.node):
                yield (c.Correlate(at=at, ticket=ticket.id),)
            elif ticket.state == "OPEN" and ticket.kind == "CALL":
                yield (self._called(ticket.id),)
        if self._only_conditions():
            yield (c.SetVariables(at=at, variables={"c": 3}),)
            yield (c.SetVariables(at=at, variables=self._variables()),)

    def _meddle(self) -> tuple[c.Command, ...]:
        """Something that an operator may ask for at any time."""
        at, chance = self.at, self.chance
        nodes, tokens = list(self.process.nodes), list(self.state.tokens)
        incidents = [one.id for one in self.state.incidents.values()] or [0]
        start: list[dict[str, Any]] = [{chance.choice(("before", "after")): chance.choice(nodes)}]
        cancel = [{"token": chance.choice(tokens)}, {"node": chance.choice(nodes)}]
        scope = chance.choice([0, *tokens])
        return chance.choice(
            [
                (c.SuspendInstance(at=at), c.ResumeInstance(at=at)),
                (c.ModifyInstance(at=at, start=tuple(start)),),
                (c.ModifyInstance(at=at, cancel=(chance.choice(cancel),)),),
                (c.ModifyInstance(at=at, start=tuple(start), cancel=(chance.choice(cancel),)),),
                (c.SetVariables(at=at, token=scope, variables=self._variables()),),
                (c.SetVariables(at=at, token=scope, unset=("c",)),),
                (c.RetryIncident(at=at, incident=chance.choice(incidents)),),
                (c.MigrateInstance(at=at, definition="p:2"),),
                (c.ReportIncident(at=at, token=chance.choice(tokens), text="stuck"),),
                (c.CancelInstance(at=at),)
                if chance.random() < 0.1
                else (c.SuspendInstance(at=at), c.ResumeInstance(at=at)),
            ]
        )

    def _called(self, ticket: int) -> c.Command:
        """A called instance ends, or escalates."""
        luck = self.chance.random()
        if luck < 0.1:
            return c.CallEscalated(at=self.at, ticket=ticket, code="E")
        outcome = "error" if luck < 0.2 else "failed" if luck < 0.3 else "completed"
        return c.CallReturned(at=self.at, ticket=ticket, outcome=outcome, code="E")

    def _work(self, task: Task) -> tuple[c.Command, ...]:
        """A worker takes the task, unless it has it already, and completes it, now and then to go on with the next one;
        seldom with an error, a failure or an escalation.
        """
        at, id = self.at, task.id
        lock = c.LockTask(at=at, task=id, worker="w", until=at + timedelta(days=1))
        topics = sorted({node.work.topic.text for node in self.process.nodes.values() if node.work})
        wanted = dict.fromkeys(topics, 86_400.0) if self.chance.random() < 0.4 else {}
        done: c.Command = c.CompleteExternalTask(
            at=at, task=id, worker="w", variables=self._variables(), next_topics=wanted
        )
        luck = self.chance.random()
        if luck < 0.1:
            done = c.FailExternalTask(at=at, task=id, worker="w", message="no", retries=1)
        elif luck < 0.15:
            done = c.ThrowBpmnError(at=at, task=id, worker="w", code="E")
        return (lock, done) if task.state == "READY" else (done,)

    def _variables(self) -> dict[str, Any]:
        # Conditions hold at 3: not for ever, since each may begin work whose end writes `c` again.
        written = sum(event.type == "VARIABLE_SET" and event.payload["value"] == 3 for event in self.events)
        return {"c": self.chance.randrange(4 if written < COMES else 3)}

    def _may_come(self, node: str) -> bool:
        """Whether an event of that node may come; one that does not interrupt comes but a few times."""
        self.came.setdefault(node, 0)
        if self.process.nodes[node].interrupting:
            return True
        fired = sum(event.node == node and event.type in ("TICKET_CONSUMED", "TIMER_FIRED") for event in self.events)
        return fired < COMES

    def _only_conditions(self) -> bool:
        """Whether some token waits for a condition: then somebody writes the variable sooner or later."""
        waiting = (t for t in self.state.tickets.values() if t.state == "OPEN" and t.kind == "CONDITION")
        return any(self.process.nodes[t.node].kind == "catch" for t in waiting)
