"""One token over the nodes: enter, leave, enter, leave, until it waits, forks, ends, or the step is long enough."""

from __future__ import annotations

from bpm.semantics.elements import ENTER, LEAVE
from bpm.semantics.scopes import settle
from bpm.semantics.tokens import take, wait
from bpm.semantics.view import is_open
from bpm.semantics.work import Stuck, Work

# An endless loop of automatic nodes holds no transaction for ever: the token stays ACTIVE and the next step goes on.
NODES_A_STEP = 100


def walk(work: Work, token: int) -> None:
    """Advance the token. It starts ACTIVE, or WAITING with its work done (then it leaves its node)."""
    for nodes in range(NODES_A_STEP):
        found = work.token(token)
        resumed = nodes == 0 and found.state == "WAITING"
        if found.state != "ACTIVE" and not resumed:
            return
        mark = len(work.events)
        try:
            if not _step(work, token, fresh=nodes > 0):
                return
        except Stuck as stuck:
            work.rewind(mark)
            report(work, token, stuck.kind, stuck.message)
            return


def _step(work: Work, token: int, *, fresh: bool) -> bool:
    """Enter or leave one node; False when the token must not go on in this step."""
    found = work.token(token)
    node = work.node(found)
    if found.step == "enter":
        if fresh and node.async_before:
            return False
        if not ENTER[node.kind](work, token, node):
            return False
        if node.async_after:
            work.change("TOKEN_STATE_CHANGED", "token", work.token(token), "ACTIVE", reason="none", step="leave")
            return False
    take(work, token, LEAVE[node.kind](work, token, node))
    after = work.token(token)
    if not is_open("token", after):
        settle(work, token)
    return after.state == "ACTIVE"


def report(work: Work, token: int, kind: str, message: str) -> None:
    """The token cannot go on: it waits where it is, with an incident."""
    found = work.token(token)
    wait(work, token, "incident", step=found.step)
    work.emit("INCIDENT_OPENED", work.new_id(), token=token, node=found.node, after="OPEN", reason="incident",
              kind=kind, message=message)  # fmt: skip
