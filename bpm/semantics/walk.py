"""One token over the nodes: enter, leave, enter, leave, until it waits, forks, ends, or the step is long enough."""

from __future__ import annotations

from bpm.semantics.attempts import Attempt
from bpm.semantics.elements import BEHAVIOURS
from bpm.semantics.elements.loops import enter_loop, round_done
from bpm.semantics.joins import gathered
from bpm.semantics.judging import judge_conditions
from bpm.semantics.scopes import settle
from bpm.semantics.tokens import detach, release, take
from bpm.semantics.view import is_open
from bpm.semantics.work import Work

# An endless loop of automatic nodes holds no transaction for ever: the token stays ACTIVE and the next step goes on.
NODES_A_STEP = 100


def walk(work: Work, token: int, *, advancing: bool = False) -> None:
    """Advance the token. It starts ACTIVE, or WAITING with its work done (then it leaves its node), unless what was
    written before that lets a condition hold which ends it or takes it elsewhere.

    `advancing`: nothing but the token's being ACTIVE is why. Else something came that it waited for, and a node that
    asks for a transaction of its own after it (camunda:asyncAfter) is left in the next step.
    """
    judge_conditions(work)
    if not advancing and _left_later(work, token):
        return
    for nodes in range(NODES_A_STEP):
        found = work.token(token)
        resumed = nodes == 0 and found.state == "WAITING"
        if found.state != "ACTIVE" and not resumed:
            return
        goes_on = False
        with Attempt(work, token):
            goes_on = _step(work, token, fresh=nodes > 0)
        if not goes_on:
            return


def _left_later(work: Work, token: int) -> bool:
    found = work.token(token)
    node = work.node(found)
    if not node.async_after or found.step != "leave" or found.index is not None or found.state not in _OPEN:
        return False
    if found.state == "WAITING":
        release(work, token, "none")
    return True


_OPEN = ("ACTIVE", "WAITING")


def _step(work: Work, token: int, *, fresh: bool) -> bool:
    """Enter or leave one node; False when the token must not go on in this step."""
    found = work.token(token)
    node = work.node(found)
    behaviour = BEHAVIOURS[node.kind]
    body = node.loop is not None and found.index is None
    if found.step == "enter":
        if fresh and node.async_before:
            return False
        if node.start_quantity > 1 and not gathered(work, found, node):
            return False
        if not (enter_loop(work, token, node) if body else behaviour.enter(work, token, node)):
            return False
        if node.async_after:
            work.change("TOKEN_STATE_CHANGED", "token", work.token(token), "ACTIVE", reason="none", step="leave")
            return False
    if body:
        detach(work, token, reason="left")
    else:
        behaviour.close(work, token, node)
    judge_conditions(work)
    if not is_open("token", work.token(token)) or work.token(token).node != node.id:
        return work.token(token).state == "ACTIVE"
    if found.index is not None:
        round_done(work, token, node)
        return False
    if is_open("token", work.token(token)):
        take(work, token, behaviour.choose(work, token, node) * node.completion_quantity, passed=not body)
        if not is_open("token", work.token(token)):
            settle(work, token)
    return work.token(token).state == "ACTIVE"
