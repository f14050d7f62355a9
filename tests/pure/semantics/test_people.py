"""User tasks: who has them, who does them for whom, and what their forms ask."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bpm.graph import Formula, UserSpec
from bpm.semantics import Refusal, decide
from bpm.semantics import commands as c
from bpm.semantics.forms import problems
from bpm.semantics.state import UserTask
from tests.pure.semantics.drawing import Run, draw

ORDER = ("start s > user U > end e",)


def the_task(run: Run) -> UserTask:
    (task,) = run.state.user_tasks.values()
    return task


def started(**spec: Any) -> Run:
    return Run(draw(*ORDER, U={"user": UserSpec(**spec)}))


def test_a_delegated_task_is_resolved_and_then_completed_by_its_owner() -> None:
    run = started(assignee=Formula(text="ann"))
    id = the_task(run).id

    run.do(c.DelegateUserTask, user_task=id, user="bob")
    assert (the_task(run).assignee, the_task(run).owner, the_task(run).delegation) == ("bob", "ann", "PENDING")
    assert run.refused(c.CompleteUserTask, user_task=id, user="bob") == "wrong_state"
    run.do(c.DelegateUserTask, user_task=id, user="cleo")
    assert (the_task(run).assignee, the_task(run).owner) == ("cleo", "ann")

    run.do(c.ResolveUserTask, user_task=id, variables={"checked": True})
    assert (the_task(run).assignee, the_task(run).owner, the_task(run).delegation) == ("ann", "ann", "RESOLVED")
    assert run.state.variables[0, "checked"].value is True
    assert run.refused(c.ResolveUserTask, user_task=id) == "wrong_state"
    run.do(c.CompleteUserTask, user_task=id, user="ann")
    assert run.ended == "COMPLETED"


def test_what_nobody_had_is_nobodys_again_when_it_is_resolved() -> None:
    run = started()
    id = the_task(run).id
    run.do(c.DelegateUserTask, user_task=id, user="bob")
    run.do(c.ResolveUserTask, user_task=id)
    assert (the_task(run).assignee, the_task(run).state) == (None, "READY")


def test_assign__gives_it_to_anybody_and_to_nobody() -> None:
    run = started(assignee=Formula(text="ann"))
    id = the_task(run).id
    run.do(c.AssignUserTask, user_task=id, user="bob")
    assert (the_task(run).assignee, the_task(run).state) == ("bob", "CLAIMED")
    assert run.refused(c.ClaimUserTask, user_task=id, user="ann") == "wrong_user"
    run.do(c.AssignUserTask, user_task=id)
    assert (the_task(run).assignee, the_task(run).state) == (None, "READY")
    assert run.refused(c.AssignUserTask, user_task=id) == "wrong_state"


@pytest.mark.parametrize(
    ("command", "arguments"),
    [(c.AssignUserTask, {"user": "b"}), (c.DelegateUserTask, {"user": "b"}), (c.ResolveUserTask, {})],
)
def test_what_is_done_belongs_to_nobody_any_more(command: type[c.Command], arguments: dict[str, Any]) -> None:
    run = started()
    id = the_task(run).id
    assert run.refused(command, user_task=99, **arguments) == "not_found"
    run.do(c.CompleteUserTask, user_task=id)
    assert run.refused(command, user_task=id, **arguments) == "not_running"


def test_it_is_not_delegated_to_who_has_it() -> None:
    run = started(assignee=Formula(text="ann"))
    assert run.refused(c.DelegateUserTask, user_task=the_task(run).id, user="ann") == "invalid"


def fields(*given: dict[str, Any]) -> tuple[str, ...]:
    return tuple(json.dumps(field, sort_keys=True) for field in given)


FORM = fields(
    {"id": "amount", "type": "long", "required": True, "constraints": {"min": "1", "max": "10"}},
    {"id": "note", "type": "string", "default": "none"},
    {"id": "count", "type": "long", "default": "3"},
    {"id": "who", "variable": "person", "type": "string"},
)


def test_a_form_is_checked_and_gives_its_defaults() -> None:
    run = started(form_fields=FORM)
    id = the_task(run).id
    said = decide(run.process, run.state, c.CompleteUserTask(at=run.at, user_task=id, form=True, variables={"note": 7}))
    assert isinstance(said, Refusal)
    assert (said.code, said.message) == (
        "invalid", "the form is not filled in: amount is required; note must be a text",
    )  # fmt: skip
    run.do(c.CompleteUserTask, user_task=id, form=True, variables={"amount": 4, "who": "ann"})
    found = {name: one.value for (_, name), one in run.state.variables.items() if one.present}
    assert found == {"amount": 4, "note": "none", "count": 3, "person": "ann"}


def test_what_is_read_only_may_have_a_default() -> None:
    run = started(form_fields=fields({"id": "rate", "type": "long", "default": "7", "writable": False}))
    id = the_task(run).id
    said = decide(run.process, run.state, c.CompleteUserTask(at=run.at, user_task=id, form=True, variables={"rate": 8}))
    assert isinstance(said, Refusal) and said.message == "the form is not filled in: rate is read-only"
    run.do(c.CompleteUserTask, user_task=id, form=True)
    assert [one.value for one in run.state.variables.values()] == [7]


@pytest.mark.parametrize("default", ["1e999999999", "Infinity", "NaN"])
def test_a_default_that_no_long_holds_is_refused(default: str) -> None:
    run = started(form_fields=fields({"id": "amount", "type": "long", "default": default}))
    command = c.CompleteUserTask(at=run.at, user_task=the_task(run).id, form=True)
    found = decide(run.process, run.state, command)
    assert isinstance(found, Refusal)
    assert found.message == "the form is not filled in: amount must be a whole number"


def test_without_a_form_nothing_is_checked() -> None:
    run = started(form_fields=FORM)
    run.do(c.CompleteUserTask, user_task=the_task(run).id, variables={"note": 7})
    assert run.ended == "COMPLETED"


@pytest.mark.parametrize(
    ("field", "content", "said"),
    [
        ({"required": True}, None, ["is required"]),
        ({"required": True}, "", ["is required"]),
        ({"required": True}, False, []),
        ({}, None, []),
        ({"writable": False}, 1, ["is read-only"]),
        ({"type": "long"}, True, ["must be a whole number"]),
        ({"type": "long"}, 1.5, ["must be a whole number"]),
        ({"type": "long"}, "1", ["must be a whole number"]),
        ({"type": "long", "constraints": {"min": "2"}}, 1, ["must be at least 2"]),
        ({"type": "long", "constraints": {"max": "2"}}, 3, ["must be at most 2"]),
        ({"type": "long", "constraints": {"min": "2", "max": "2"}}, 2, []),
        ({"type": "boolean"}, "true", ["must be true or false"]),
        ({"type": "boolean"}, True, []),
        ({"type": "date"}, 5, ["must be a date"]),
        ({"type": "date"}, "30/11/2026", []),
        ({"type": "date"}, {"$type": "date", "value": "2026-11-30"}, []),
        ({"type": "enum", "values": {"a": "A", "b": "B"}}, "c", ["must be one of a, b"]),
        ({"type": "enum", "values": {"a": "A"}}, "a", []),
        ({"type": "string", "constraints": {"minlength": "3"}}, "ab", ["must have at least 3 characters"]),
        ({"type": "string", "constraints": {"maxlength": "1"}}, "ab", ["must have at most 1 characters"]),
        ({"type": "double", "constraints": {"min": "3", "max": "NaN"}}, "NaN", []),
        ({"type": "double", "constraints": {"min": "3"}}, "-Infinity", []),
        ({"type": "theirs", "constraints": {"validator": "a.b.C"}}, object(), []),
    ],
)
def test_what_a_field_holds(field: dict[str, Any], content: Any, said: list[str]) -> None:
    assert problems(field, content) == said
