"""The invariants over the live database: by command over all or some, by beat over a sample.

Checking an instance is replaying it and comparing it with its rows, in one snapshot (`replaying`). What does not hold
is noted once as an engine event (ENGINE_VIOLATION), which the cockpit marks and the metrics count.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from uuid import UUID

import structlog

from bpm.audit.histories import pages
from bpm.audit.replaying import CODES, Outcome, replay_stored
from bpm.audit.statements import ask
from bpm.replay import INVARIANTS
from bpm.store import schedule

log = structlog.get_logger(__name__)

VIOLATION = "ENGINE_VIOLATION"
# What beat looks at in a turn: so many instances, and no longer than so many seconds.
SAMPLE = 20
SECONDS = 5.0


def sentence(code: str) -> str:
    """What should hold, in words."""
    return INVARIANTS.get(code) or CODES[code]


def within(found: Iterable[list[UUID]], seconds: float | None) -> Iterator[list[UUID]]:
    """The pages, as long as there is time left."""
    until = None if seconds is None else time.monotonic() + seconds
    for page in found:
        yield page
        if until is not None and time.monotonic() > until:
            return


def note(outcome: Outcome) -> int:
    """Keep each problem as an engine event, once an instance, code and commit; how many were new."""
    new = 0
    for problem in outcome.problems:
        about = {
            "instance": outcome.instance,
            "definition": outcome.definition,
            "code": problem.code,
            "sequence": problem.sequence,
        }
        if ask("violation_noted", {"type": VIOLATION, **about}):
            continue
        log.error("invariant broken", **about, problem=problem.message)
        schedule.engine_event(VIOLATION, about | {"message": problem.message[:2000], "rule": sentence(problem.code)})
        new += 1
    return new


def check_sample(number: int = SAMPLE, seconds: float = SECONDS) -> dict[str, int]:
    """Check some instances at random; how many violations were new. For the schedule."""
    violations = 0
    for page in within(pages(sample=number, size=5), seconds):
        for outcome in replay_stored(page):
            violations += note(outcome)
    return {"violations": violations}


def violations(days: float = 30) -> int:
    """How many violations were noted lately: for metrics and the cockpit's mark."""
    return int(ask("violations_of_late", {"type": VIOLATION, "days": days})[0][0])
