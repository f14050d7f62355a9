"""Trying something for a token: where it gets stuck, just that is undone, and an incident says so.

    with Attempt(work, token) as attempt: ...
    attempt.stuck says whether that happened.

The incident stands at the token's own node, and the token waits; or, where `node` names an event beside it (of its
boundary, or of an event subprocess of its scope), at that event alone: the token is not concerned.
"""

from __future__ import annotations

from bpm.semantics.tokens import wait
from bpm.semantics.work import Stuck, Work


class Attempt:
    """Holds the place to go back to."""

    def __init__(self, work: Work, token: int, node: str | None = None) -> None:
        self._work = work
        self._token = token
        self._node = node
        self._mark = len(work.events)
        self.stuck = False

    def __enter__(self) -> Attempt:
        return self

    def __exit__(self, kind: object, fault: BaseException | None, trace: object) -> bool:
        if not isinstance(fault, Stuck):
            return False
        self.stuck = True
        self._work.rewind(self._mark)
        report(self._work, self._token, fault.kind, fault.message, self._node)
        return True


def report(work: Work, token: int, kind: str, message: str, node: str | None = None) -> None:
    """Open an incident of the token (0: the instance) or of the event beside it."""
    if token and node in (None, work.token(token).node):
        found = work.token(token)
        wait(work, token, "incident", step=found.step)
        node = found.node
    work.emit("INCIDENT_OPENED", work.new_id(), token=token, node=node, after="OPEN", reason="incident",
              kind=kind, message=message)  # fmt: skip
