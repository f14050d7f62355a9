"""The frozen data of a scenario, and the tables that say which keys a file may hold and what stands behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bpm.scenarios import shapes
from bpm.scenarios.shapes import Shape

# The bound of the rule "the engine runs until every token waits or has ended": nodes passed, answers given and
# timers fired between two steps.
MAXIMAL_MOVES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How the instance begins: exactly one of `process`, `message` and `signal` is set."""

    process: str | None = None
    message: str | None = None
    signal: str | None = None
    business_key: str | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an activity answers. `kind`: complete, error (a BPMN error with `code`) or fail (a technical failure).

    `retries` is what a failure leaves; None counts down by one.
    """

    kind: str = "complete"
    variables: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""
    message: str = ""
    retries: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step. `kind` is a key of STEPS, `arguments` hold what the table allows for it.

    The one argument of `advance` is `by`, of `set_variables` `variables`, of `expect` the expectations by key and of
    `expect_error` the step that must be refused.
    """

    kind: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One document of a scenario file. Paths in `models` are relative to the file; `number` counts documents from 1."""

    file: str
    number: int
    name: str
    models: tuple[str, ...]
    start: Start | None = None
    auto: tuple[str, ...] = ()
    mocks: Mapping[str, tuple[Answer, ...]] = field(default_factory=dict)
    called: Mapping[str, Answer] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    expect: Mapping[str, Any] = field(default_factory=dict)
    deploy_error: bool | None = None
    strict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key that a mapping of the file may have."""

    shape: Shape
    required: bool = False


@dataclass(frozen=True, slots=True)
class Keys:
    """What a mapping may hold: its keys, and of which at least (or exactly) one must be there."""

    keys: Mapping[str, Key]
    any_of: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()


def _optional(shape: Shape) -> Key:
    return Key(shape=shape)


def _required(shape: Shape) -> Key:
    return Key(shape=shape, required=True)


# The kinds of waiting activities that `auto` may name.
AUTO_KINDS = ("user_task", "external_task")

# The states that `state` may name.
STATES = ("RUNNING", "SUSPENDED", "COMPLETED", "FAILED", "CANCELLED")

EXPECTATIONS: Mapping[str, Shape] = {
    "waiting": shapes.names,
    "passed": shapes.names,
    "passed_once": shapes.names,
    "passed_times": shapes.counts,
    "not_passed": shapes.names,
    "ended": shapes.flag,
    "state": shapes.one_of(STATES),
    "end_events": shapes.names,
    "variables": shapes.variables,
    "trace": shapes.names,
    "trace_multiset": shapes.names,
    "incidents": shapes.count,
}

DOCUMENT = Keys(
    {
        "name": _required(shapes.text),
        "models": _required(shapes.some_names),
        "start": _optional(shapes.mapping),
        "auto": _optional(shapes.list_of(AUTO_KINDS)),
        "mocks": _optional(shapes.mapping),
        "called": _optional(shapes.mapping),
        "steps": _optional(shapes.items),
        "expect": _optional(shapes.mapping),
        "deploy_error": _optional(shapes.flag),
        "strict": _optional(shapes.flag),
    },
    one_of=("start", "deploy_error"),
)

START = Keys(
    {
        "process": _optional(shapes.text),
        "message": _optional(shapes.text),
        "signal": _optional(shapes.text),
        "business_key": _optional(shapes.text),
        "variables": _optional(shapes.variables),
    },
    one_of=("process", "message", "signal"),
)

_ERROR = {"code": _required(shapes.text), "message": _optional(shapes.words), "variables": _optional(shapes.variables)}
_FAIL = {"message": _optional(shapes.words), "retries": _optional(shapes.count)}
_WHICH = {"activity": _optional(shapes.text), "topic": _optional(shapes.text)}

ANSWER = Keys(
    {
        "variables": _optional(shapes.variables),
        "error": _optional(shapes.mapping),
        "fail": _optional(shapes.mapping),
    }
)
ERROR_ANSWER = Keys(_ERROR)
FAIL_ANSWER = Keys(_FAIL)

# Steps whose argument is a mapping with keys of its own. A step not in here has the shape in PLAIN_STEPS.
STEPS: Mapping[str, Keys] = {
    "complete": Keys(
        _WHICH | {"variables": _optional(shapes.variables), "inputs": _optional(shapes.variables)},
        any_of=("activity", "topic"),
    ),
    "error": Keys(_WHICH | _ERROR | {"inputs": _optional(shapes.variables)}, any_of=("activity", "topic")),
    "fail": Keys(_WHICH | _FAIL | {"inputs": _optional(shapes.variables)}, any_of=("activity", "topic")),
    "message": Keys(
        {
            "name": _required(shapes.text),
            "business_key": _optional(shapes.text),
            "correlation": _optional(shapes.variables),
            "variables": _optional(shapes.variables),
        }
    ),
    "signal": Keys({"name": _required(shapes.text), "variables": _optional(shapes.variables)}),
    "fire_timer": Keys({"activity": _required(shapes.text)}),
    "expect": Keys({key: _optional(shape) for key, shape in EXPECTATIONS.items()}),
    "expect_error": Keys({"step": _required(shapes.mapping)}),
}

# step -> (name of its one argument, shape)
PLAIN_STEPS: Mapping[str, tuple[str, Callable[[Any], str | None]]] = {
    "advance": ("by", shapes.duration),
    "set_variables": ("variables", shapes.variables),
}

# Steps that take the oldest waiting activity; naming one keeps `auto` from it.
ANSWERING_STEPS = ("complete", "error", "fail")
