"""User tasks and the people who do them: claim, give back, assign, delegate, resolve, complete.

Delegation is Camunda's: the assignee gives the task to somebody else and stays its owner (PENDING); who has it now
resolves it, which gives it back to the owner (RESOLVED), and only the owner completes it.
"""

from __future__ import annotations

from typing import Any

from bpm.semantics import commands as c
from bpm.semantics import view
from bpm.semantics.forms import submitted
from bpm.semantics.mappings import bring_back, write_outward
from bpm.semantics.state import UserTask
from bpm.semantics.walk import walk
from bpm.semantics.work import Refused, Work

# The state of a task that nobody has, and of one that somebody has.
_FREE, _TAKEN = "READY", "CLAIMED"


def open_task(work: Work, id: int) -> UserTask:
    """The task, while somebody may do it. Refused."""
    task: UserTask | None = view.entity(work.state, "user_task", id)
    if task is None:
        raise Refused("not_found", f"there is no user task {id}")
    if not view.is_open("user_task", task):
        raise Refused("wrong_state", f"the user task is {task.state}")
    return task


def complete(work: Work, command: c.CompleteUserTask) -> None:
    """A person has done it. A delegated task is resolved first (Camunda 7: completing it is an error)."""
    task = open_task(work, command.user_task)
    if task.delegation == "PENDING":
        raise Refused(
            "wrong_state", f"the user task is delegated to {task.assignee or 'nobody'}: it is resolved, not completed"
        )
    node = work.graph.node(task.node)
    brought = submitted(work, task, node, command.variables) if command.form else command.variables
    work.change("USER_TASK_COMPLETED", "user_task", task, "DONE", reason="work", **_by(command.user))
    bring_back(work, task.token, node, brought)
    walk(work, task.token)


def claim(work: Work, command: c.ClaimUserTask) -> None:
    """A person takes what nobody has, or what they have already."""
    task = open_task(work, command.user_task)
    if task.assignee not in (None, command.user):
        raise Refused("wrong_user", f"the user task belongs to {task.assignee}")
    work.change("USER_TASK_CLAIMED", "user_task", task, _TAKEN, reason="work", user=command.user)


def unclaim(work: Work, command: c.UnclaimUserTask) -> None:
    """Give it back to the candidates."""
    task = open_task(work, command.user_task)
    if task.state != _TAKEN:
        raise Refused("wrong_state", "nobody has claimed the user task")
    work.change("USER_TASK_UNCLAIMED", "user_task", task, _FREE, reason="work")


def assign(work: Work, command: c.AssignUserTask) -> None:
    """Give it to a person, whoever has it now; or to nobody, which gives it back to the candidates."""
    if command.user is None:
        unclaim(work, c.UnclaimUserTask(at=command.at, user_task=command.user_task))
        return
    task = open_task(work, command.user_task)
    work.change("USER_TASK_ASSIGNED", "user_task", task, _TAKEN, reason="operator", user=command.user)


def delegate(work: Work, command: c.DelegateUserTask) -> None:
    """Let another person do it for who has it; the first who delegates stays the owner."""
    task = open_task(work, command.user_task)
    if command.user == task.assignee:
        raise Refused(
            "invalid", f"the user task is {task.assignee}'s already: it cannot be delegated to the same person"
        )
    owner = task.owner or task.assignee
    owned = {} if owner is None else {"owner": owner}
    work.change("USER_TASK_DELEGATED", "user_task", task, _TAKEN, reason="work", user=command.user, **owned)


def resolve(work: Work, command: c.ResolveUserTask) -> None:
    """Who it was delegated to is done: the owner has it again, with what that person wrote."""
    task = open_task(work, command.user_task)
    if task.delegation != "PENDING":
        raise Refused("wrong_state", "the user task is not delegated to anybody")
    after = _FREE if task.owner is None else _TAKEN
    work.change("USER_TASK_RESOLVED", "user_task", task, after, reason="work", **_by(task.owner))
    write_outward(work, task.token, command.variables)


def _by(user: str | None) -> dict[str, Any]:
    return {} if user is None else {"user": user}
