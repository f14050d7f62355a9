"""A world in memory: instances, their commits, what they tell each other, and the clock.

Everything an instance does goes through `decide`; a `World` only stands where the shell of the live engine stands. It
keeps every commit, so that what a scenario brings about can be replayed.

Order: tokens are advanced in the order in which they became ACTIVE, and what instances tell each other is delivered in
between, in the order in which it was sent. All commits between two moves of the clock bear the same time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from bpm.graph import Process
from bpm.scenarios.deployment import Beginning, Deployment, name_of
from bpm.scenarios.driver import BEGINNING, Refused
from bpm.scenarios.model import Answer
from bpm.semantics import Decided, Event, Need, Refusal, State, decide
from bpm.semantics import commands as c
from bpm.semantics.footprints import passes, reaches_end
from bpm.semantics.state import Ticket

# Events that bring something into being that somebody may wait at, and its kind.
BIRTHS = {
    "TASK_CREATED": "task",
    "USER_TASK_CREATED": "user_task",
    "TICKET_OPENED": "ticket",
    "TIMER_SCHEDULED": "timer",
    "INCIDENT_OPENED": "incident",
}


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of one instance, as the commit log has it."""

    sequence: int
    thread: str
    version: int
    command: str
    arguments: dict[str, Any]
    at: datetime
    events: tuple[Event, ...]


@dataclass(slots=True)
class Thread:
    """An instance: its graph, its state now, and the commits that led there."""

    id: str
    graph: Process
    state: State
    commits: list[Commit] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether the instance has begun and has not ended."""
        instance = self.state.instance
        return instance is not None and instance.state in ("RUNNING", "SUSPENDED")

    def has_open_ticket(self, id: int) -> bool:
        """Whether the instance still waits for what the ticket stands for."""
        ticket = self.state.tickets.get(id)
        return self.is_open and ticket is not None and ticket.state == "OPEN"


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one instance tells: the event MESSAGE_SENT, by whom, and for a signal the tickets open at its throw."""

    sender: str
    version: int
    event: Event
    tickets: tuple[tuple[str, int], ...] = ()

    @property
    def origin(self) -> dict[str, Any]:
        """How a receiver names what it was told."""
        return {"sender": self.sender, "version": self.version, "ordinal": self.event.id}


@dataclass(slots=True)
class World:
    """`queue` holds what is still to do: ACTIVE tokens as (thread, token), and deliveries."""

    deployment: Deployment = field(default_factory=lambda: Deployment({}))
    called: Mapping[str, Answer] = field(default_factory=dict)
    clock: datetime = BEGINNING
    threads: dict[str, Thread] = field(default_factory=dict)
    queue: deque[tuple[str, int] | Delivery] = field(default_factory=deque)
    # Messages that nobody has waited for yet.
    unclaimed: list[Delivery] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    ends: list[tuple[str, str]] = field(default_factory=list)
    births: dict[tuple[str, str, int], int] = field(default_factory=dict)
    sequence: int = 0

    def process(self, id: str) -> Process:
        """The deployed process. Refused where there is none."""
        found = self.deployment.processes.get(id)
        if found is None:
            raise Refused(f"there is no process {id} in the models; there are {', '.join(self.deployment.processes)}")
        return found

    def begin(self, process: Process, node: str | None, variables: Mapping[str, Any], **said: Any) -> Thread:
        """Start an instance; `said` are further arguments of StartInstance. Refused where it cannot start so."""
        id = f"instance-{len(self.threads) + 1}"
        thread = Thread(id, process, State(thread=id))
        self.threads[id] = thread
        try:
            self.execute(thread, c.StartInstance(at=self.clock, node=node, variables=dict(variables), **said))
        except Refused:
            del self.threads[id]
            raise
        return thread

    def begin_at(
        self, beginning: Beginning, variables: Mapping[str, Any], *, business_key: str | None = None
    ) -> Thread:
        """Start an instance because of a message, a signal or a time."""
        process, trigger = self.process(beginning.process), beginning.trigger
        said = {"business_key": business_key, "trigger": trigger.kind, "name": name_of(trigger)}
        return self.begin(process, beginning.node, variables, **said)

    def advance(self, thread: Thread, token: int) -> bool:
        """Let a token go on; False where it need not any more."""
        found = thread.state.tokens.get(token)
        if found is None or found.state != "ACTIVE" or not thread.is_open:
            return False
        self.execute(thread, c.AdvanceToken(at=self.clock, token=token))
        return True

    def execute(self, thread: Thread, command: c.Command) -> None:
        """One commit: decide, keep it, note what it leaves to do. Raises Refused, and then nothing has happened."""
        self.commit(thread, [command])

    def commit(self, thread: Thread, commands: list[c.Command]) -> None:
        """Several commits, or none of them where one is refused."""
        state = thread.state
        decided: list[tuple[Commit, Decided, State]] = []
        for command in commands:
            command, decision = self._decide(thread.graph, state, command)
            state = decision.state.sealed()
            name, arguments = type(command).__name__, c.to_json(command)
            sequence = self.sequence + len(decided) + 1
            commit = Commit(sequence, thread.id, state.version, name, arguments, command.at, decision.events)
            decided.append((commit, decision, state))
        for commit, decision, state in decided:
            self.sequence = commit.sequence
            thread.commits.append(commit)
            thread.state = state
            self._note(thread, decision)

    def _decide(self, graph: Process, state: State, command: c.Command) -> tuple[c.Command, Decided]:
        """Decide, answering what lies outside of the instance: a decision's id here is its key, of its one version."""
        known = self.deployment.decisions
        while True:
            match decide(graph, state, command):
                case Decided() as decided:
                    return command, decided
                case Refusal(_, message):
                    raise Refused(message)
                case Need((("decision", key, _, version) as question,)):
                    found = key if key in known and version in (None, "1") else None
                    command = replace(command, answers=command.answers | {c.answer_name(question): found})
                case Need((("bean", _) as question,)):
                    # No program stands around a scenario in memory: it has no beans.
                    command = replace(command, answers=command.answers | {c.answer_name(question): False})
                case Need((("model", id),)):
                    state.library[id] = known[id]
                case Need(keys):
                    raise LookupError(f"a whole state was asked for {keys}")

    def tickets(self, kind: str, name: str, *, but: Thread | None = None) -> list[tuple[Thread, Ticket]]:
        """The open tickets of that kind and name, over all instances (`but` one), the oldest first."""
        found = [
            (self.births[thread.id, "ticket", ticket.id], thread, ticket)
            for thread in self.threads.values()
            if thread.is_open and thread is not but
            for ticket in thread.state.tickets.values()
            if ticket.state == "OPEN" and ticket.kind == kind and ticket.name == name
        ]
        return [(thread, ticket) for _, thread, ticket in sorted(found, key=lambda item: item[0])]

    def called_by(self, thread: str, ticket: int) -> Thread | None:
        """The instance that a call activity's ticket brought about."""
        for live in self.threads.values():
            caller = live.state.instance.caller if live.state.instance else None
            if caller is not None and (caller["thread"], caller["ticket"]) == (thread, ticket):
                return live
        return None

    def _note(self, thread: Thread, decided: Decided) -> None:
        for event in decided.events:
            if event.type in BIRTHS:
                self.births[thread.id, BIRTHS[event.type], event.id] = len(self.births)
            if event.type == "TASK_COMPLETED":
                self.trace.append(thread.state.tasks[event.id].topic)
            elif event.type == "MESSAGE_SENT":
                self.queue.append(self._delivery(thread, event))
            elif event.type == "TICKET_OPENED" and event.payload["kind"] == "MESSAGE":
                self.queue.extend(self.unclaimed)
                self.unclaimed.clear()
            passed, end = passes(event), reaches_end(thread.graph, event)
            if passed is not None:
                self.passed.append(passed)
            if end is not None:
                self.ends.append((thread.id, end))
        for kind, key in decided.state.touched:
            if kind == "token" and thread.state.tokens[key].state == "ACTIVE":
                self.queue.append((thread.id, key))

    def _delivery(self, thread: Thread, event: Event) -> Delivery:
        tickets: tuple[tuple[str, int], ...] = ()
        if event.payload["kind"] == "SIGNAL":
            # Whoever of the thrower's own instance waited for it has heard it in the same commit.
            others = self.tickets("SIGNAL", event.payload["name"], but=thread)
            tickets = tuple((live.id, ticket.id) for live, ticket in others)
        return Delivery(thread.id, thread.state.version, event, tickets)
