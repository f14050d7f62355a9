"""docs/conformance.md: a survey as a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from bpm.management.conformance import reasons
from bpm.management.conformance.models import Verdict
from bpm.management.conformance.scenarios import ASKED, Judged
from bpm.management.conformance.survey import MODELS, PEER, Survey

_RULE = re.compile(r"EXT\.?(\d+)")

_HEAD = """# Conformance

What the engine does with models and tests that nobody in this project wrote. The page is written by
`manage.py bpm conformance PATH --output docs/conformance.md`, where PATH is the folder of these sources; a test writes
it again and compares."""

_SCENARIOS = """## Scenarios

Each scenario is run twice: on the pure core in memory, and through the engine on PostgreSQL. After each run through the
engine every instance that it brought about is read back by a fresh connection, replayed from its history, and every
command is decided again; a scenario passes only when all of these are one. Scenarios to refuse or to accept are models
under the standard's rules (`strict`)."""

_DISPUTED = """## Disputed refusals

The corpus keeps apart models that break a rule which models in production use break, too. Such a rule is a warning here
where real models need it to be; the others are errors under `strict`. None of these counts above."""

_PEER = """## Models of Camunda 7

Models of the peer's own tests, each compiled and started alone. That a model must be refused is taken from the peer's
tests: one deploys this model alone, does nothing more and awaits an exception."""

_MODELS = """## Reference models

Models without tests: they must be read, or refused with a reason. Many are drawings that are not meant to be run."""

_DECISIONS = """## DMN compatibility kit

A case asks for one result or several; each is compared as the kit says."""


def page(survey: Survey) -> str:
    """The page, ending in a newline."""
    parts = [
        _HEAD,
        _scenarios(survey.scenarios),
        _failures(survey.scenarios),
        _disputed(survey.scenarios),
        _peer(survey),
        _models(survey),
        _decisions(survey),
    ]
    return "\n\n".join(parts) + "\n"


def _scenarios(scenarios: Sequence[Judged]) -> str:
    rows: list[Sequence[object]] = []
    counted = [one for one in scenarios if not one.disputed]
    for source in dict.fromkeys(one.source for one in counted):
        for asked in ASKED.values():
            found = [one for one in counted if (one.source, one.asked) == (source, asked)]
            if found:
                rows.append((source, asked, *_passed(found)))
    rows.append(("**total**", "", *_passed(counted)))
    instances = sum(one.instances for one in scenarios)
    table = _table(("source", "asked", "scenarios", "core", "engine"), rows, numbers=3)
    return f"{_SCENARIOS}\n\n{table}\n\nInstances that were read back, replayed and decided again: {instances}."


def _passed(found: Sequence[Judged]) -> tuple[int, int, int]:
    return len(found), sum(one.core.passed for one in found), sum(one.engine.passed for one in found)


def _failures(scenarios: Sequence[Judged]) -> str:
    failed = [one for one in scenarios if not one.disputed and not (one.core.passed and one.engine.passed)]
    rows = [(one.source, one.name, reasons.SCENARIOS.get(one.name, _what_failed(one))) for one in failed]
    if not rows:
        return "## Scenarios that fail\n\nNone."
    return "## Scenarios that fail\n\n" + _table(("source", "scenario", "why"), rows)


def _what_failed(one: Judged) -> str:
    failure = (*one.core.failures, *one.engine.failures)[0]
    return f"**Unexplained.** At {failure.step}: expected {failure.expected}; there: {failure.there}"


def _disputed(scenarios: Sequence[Judged]) -> str:
    disputed = [one for one in scenarios if one.disputed]
    rules = {rule: [one for one in disputed if _rule(one) == rule] for rule in sorted({_rule(one) for one in disputed})}
    rows = [(rule, len(found), sum(one.core.passed for one in found)) for rule, found in rules.items()]
    rows.append(("**total**", len(disputed), sum(one.core.passed for one in disputed)))
    return f"{_DISPUTED}\n\n" + _table(("rule", "models", "refused under strict"), rows, numbers=2)


def _rule(one: Judged) -> str:
    found = _RULE.search(one.name)
    return f"EXT.{found[1]}" if found else ""


def _peer(survey: Survey) -> str:
    verdicts, said = survey.models[PEER], survey.refused_by_peer
    refused = [one for one in verdicts if one.outcome == "refused"]
    rightly = [one for one in refused if said.get(one.path)]
    wanting = [one for one in refused if not said.get(one.path) and one.wanting]
    against = [one for one in refused if said.get(one.path) is False and not one.wanting]
    silent = [one for one in refused if one.path not in said and not one.wanting]
    accepted = [one for one in verdicts if one.outcome != "refused" and said.get(one.path)]
    rows = [
        ("deployed, and all its processes started", _count(verdicts, "started")),
        ("deployed, but it has a process that nothing starts", _count(verdicts, "unstarted")),
        ("read, and nothing in it is to be run", _count(verdicts, "drawing")),
        ("decisions (DMN), read", _count(verdicts, "decisions")),
        ("refused, as by the peer's parser", len(rightly)),
        ("refused for want of a feature", len(wanting)),
        ("refused for a fault, which the peer finds later or passes over", len(against)),
        ("refused for a fault; the peer's tests do not speak of the model", len(silent)),
        ("**total**", len(verdicts)),
    ]
    parts = [
        _PEER,
        _table(("what becomes of a model", "models"), rows, numbers=1),
        "Refused for want of a feature:",
        _counted(wanting, lambda one: one.wanting or "", "feature"),
        "Refused as by the peer's parser, and for a fault of which its tests do not speak:",
        _counted([*rightly, *silent], lambda one: f"`{one.code}`", "finding"),
        "Refused, though the peer takes them:",
        _listed(against, reasons.REFUSED),
        "Accepted, though a test of the peer awaits an exception:",
        _listed(accepted, reasons.ACCEPTED),
    ]
    return "\n\n".join(parts)


def _models(survey: Survey) -> str:
    rows = []
    refused: list[tuple[str, str, str]] = []
    for source in MODELS:
        found = survey.models[source]
        outcomes = [_count(found, outcome) for outcome in ("started", "drawing", "refused")]
        rows.append((source, len(found), *outcomes))
        refused += [
            (source, PurePosixPath(one.path).name, f"`{one.code}`: {one.errors[0].message}")
            for one in found
            if one.outcome == "refused"
        ]
    head = ("source", "models", "deployed and started", "read, not to be run", "refused")
    return f"{_MODELS}\n\n{_table(head, rows, numbers=4)}\n\n{_table(('source', 'refused', 'why'), refused)}"


def _decisions(survey: Survey) -> str:
    rows = [
        (level, len({(one.folder, one.case) for one in results}), len(results), sum(one.passed for one in results))
        for level, results in survey.decisions.items()
    ]
    rows.append(("**total**", *(sum(column) for column in list(zip(*rows, strict=True))[1:])))
    parts = [_DECISIONS, _table(("level", "cases", "results", "as expected"), rows, numbers=3)]
    failed = [one for results in survey.decisions.values() for one in results if not one.passed]
    if failed:
        shown = [(one.folder, one.case, one.decision, f"{one.expected}; there: {one.found}") for one in failed]
        parts.append(_table(("folder", "case", "decision", "expected"), shown))
    return "\n\n".join(parts)


def _count(verdicts: Sequence[Verdict], outcome: str) -> int:
    return sum(one.outcome == outcome for one in verdicts)


def _counted(verdicts: Sequence[Verdict], by: Callable[[Verdict], str], head: str) -> str:
    counts = Counter(by(one) for one in verdicts)
    names = sorted(counts, key=lambda name: (-counts[name], name))
    return _table((head, "models"), [(name, counts[name]) for name in names], numbers=1)


def _listed(verdicts: Sequence[Verdict], why: Mapping[str, str]) -> str:
    rows = []
    for one in verdicts:
        name = PurePosixPath(one.path).name
        rows.append((f"`{name}`", why.get(name, "**Unexplained.**")))
    return _table(("model", "why"), rows) if rows else "None."


def _table(head: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: int = 0) -> str:
    """A table of Markdown; the last `numbers` columns stand on the right."""
    rule = ["---"] * (len(head) - numbers) + ["---:"] * numbers
    return "\n".join(_lines([head, rule, *rows]))


def _lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    for row in rows:
        yield "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in row) + " |"
