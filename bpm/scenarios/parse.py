"""From the documents of a file to `Scenario`s. Everything that is wrong with a document is said at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bpm.scenarios import model
from bpm.scenarios.model import Answer, Keys, Scenario, Start, Step
from bpm.scenarios.reading import documents


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document as read: `scenario` is None where `problems` says what is wrong with it."""

    file: str
    number: int
    name: str
    scenario: Scenario | None
    problems: tuple[str, ...] = ()


def read_scenarios(path: Path) -> list[Document]:
    """The scenarios of a file in order. Raises UnreadableFile where it is no YAML."""
    found: list[Document] = []
    seen: set[str] = set()
    for number, data in enumerate(documents(path), start=1):
        document = parse(data, file=str(path), number=number)
        if document.name in seen:
            problem = f"name: {document.name!r} stands in this file already"
            document = Document(
                file=document.file,
                number=number,
                name=document.name,
                scenario=None,
                problems=(*document.problems, problem),
            )
        seen.add(document.name)
        found.append(document)
    return found


def parse(data: Any, *, file: str, number: int) -> Document:
    """One document as a scenario, or with all its problems, each "key: what is wrong"."""
    problems: list[str] = []
    name = data.get("name") if isinstance(data, dict) else None
    label = name if isinstance(name, str) and name else f"document {number}"
    _fits(data, model.DOCUMENT, "", problems)
    # What has the right shape is looked into even where something beside it has not, so that all is said at once.
    scenario = _scenario(_fitting(data), file, number, problems) if isinstance(data, dict) else None
    return Document(
        file=file,
        number=number,
        name=label,
        scenario=None if problems else scenario,
        problems=tuple(problems),
    )


def _scenario(data: Mapping[str, Any], file: str, number: int, problems: list[str]) -> Scenario:
    for key in ("auto", "mocks", "called", "steps", "expect"):
        if "deploy_error" in data and "start" not in data and key in data:
            problems.append(f"{key}: nothing is started (deploy_error)")
    expect = data.get("expect", {})
    _fits(expect, model.STEPS["expect"], "expect", problems)
    return Scenario(
        file=file,
        number=number,
        name=data.get("name", ""),
        models=tuple(data.get("models", ())),
        start=_start(data["start"], problems) if "start" in data else None,
        auto=tuple(data.get("auto", ())),
        mocks={key: _answers(answer, f"mocks.{key}", problems) for key, answer in data.get("mocks", {}).items()},
        called={key: _called(answer, f"called.{key}", problems) for key, answer in data.get("called", {}).items()},
        steps=tuple(_step(item, f"steps[{n}]", problems) for n, item in enumerate(data.get("steps", ()), start=1)),
        expect=expect,
        deploy_error=data.get("deploy_error"),
        strict=data.get("strict", False),
    )


def _start(data: Mapping[str, Any], problems: list[str]) -> Start:
    return Start(**data) if _fits(data, model.START, "start", problems) else Start()


def _answers(data: Any, where: str, problems: list[str]) -> tuple[Answer, ...]:
    if isinstance(data, list):
        if not data:
            problems.append(f"{where}: the list is empty")
        return tuple(_answer(item, f"{where}[{n}]", problems) for n, item in enumerate(data, start=1))
    return (_answer(data, where, problems),)


def _answer(data: Any, where: str, problems: list[str]) -> Answer:
    if not _fits(data, model.ANSWER, where, problems):
        return Answer()
    if len(data) > 1:
        problems.append(f"{where}: only one of variables, error, fail can be the answer")
    for kind, keys in (("error", model.ERROR_ANSWER), ("fail", model.FAIL_ANSWER)):
        if kind in data:
            fits = _fits(data[kind], keys, f"{where}.{kind}", problems)
            return Answer(kind=kind, **data[kind]) if fits else Answer()
    return Answer(variables=data.get("variables", {}))


def _called(data: Any, where: str, problems: list[str]) -> Answer:
    answer = _answer(data, where, problems)
    if answer.kind == "fail":
        problems.append(f"{where}.fail: a called process completes, or ends with an error")
    return answer


def _step(data: Any, where: str, problems: list[str]) -> Step:
    known = (*model.STEPS, *model.PLAIN_STEPS)
    if not isinstance(data, dict) or len(data) != 1:
        problems.append(f"{where}: a step is a mapping with one key, one of {', '.join(known)}")
        return Step(kind="expect")
    ((kind, value),) = data.items()
    if kind in model.PLAIN_STEPS:
        argument, shape = model.PLAIN_STEPS[kind]
        if wanted := shape(value):
            problems.append(f"{where}.{kind}: {_shown(value)} should be {wanted}")
        return Step(kind=kind, arguments={argument: value})
    if kind not in model.STEPS:
        problems.append(f"{where}: unknown step {kind!r}; known are {', '.join(known)}")
        return Step(kind="expect")
    if not _fits(value, model.STEPS[kind], f"{where}.{kind}", problems):
        return Step(kind="expect")
    if kind == "expect_error":
        inner = _step(value["step"], f"{where}.{kind}.step", problems)
        if inner.kind in ("expect", "expect_error"):
            problems.append(f"{where}.{kind}.step: {inner.kind} asks the engine for nothing that it could refuse")
        return Step(kind=kind, arguments={"step": inner})
    return Step(kind=kind, arguments=value)


def _fits(data: Any, keys: Keys, where: str, problems: list[str]) -> bool:
    """Whether a mapping holds what it may and must; what is wrong is added to `problems`."""
    before = len(problems)
    prefix = where + "." if where else ""
    if not isinstance(data, dict):
        problems.append(f"{where or 'the document'}: {_shown(data)} should be a mapping")
        return False
    for key, value in data.items():
        if key not in keys.keys:
            problems.append(f"{prefix}{key}: unknown key; known are {', '.join(keys.keys)}")
        elif wanted := keys.keys[key].shape(value):
            problems.append(f"{prefix}{key}: {_shown(value)} should be {wanted}")
    problems += [f"{prefix}{key}: is missing" for key, known in keys.keys.items() if known.required and key not in data]
    given = [key for key in keys.one_of if key in data]
    if keys.one_of and len(given) != 1:
        problems.append(f"{prefix}{' / '.join(keys.one_of)}: exactly one of them must be there")
    if keys.any_of and not any(key in data for key in keys.any_of):
        problems.append(f"{prefix}{' / '.join(keys.any_of)}: at least one of them must be there")
    return len(problems) == before


def _fitting(data: Mapping[Any, Any]) -> dict[str, Any]:
    """The keys of a document that may be there, with values of the right shape."""
    known = model.DOCUMENT.keys
    return {key: value for key, value in data.items() if key in known and not known[key].shape(value)}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
