"""What the tests of decisions share: the engine's world, models that evaluate a decision, and DMN files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest

from bpm import engine
from bpm.store import decisions
from tests.database.engine.conftest import World, world
from tests.database.engine.drawing import end, flows, model, start, user
from tests.pure.decisions.writing import decision, file, table

__all__ = ["World", "world"]


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    """Databases come and go; what a process keeps of them goes, too."""
    yield
    decisions.forget()


def rule(id: str, attributes: str, inner: str = "") -> str:
    return f'<bpmn:businessRuleTask id="{id}" {attributes}>{inner}</bpmn:businessRuleTask>'


def decides(attributes: str, *, id: str = "p") -> bytes:
    """start > decide (a business rule task with these attributes) > look (a user task) > end."""
    return model(
        start(), rule("decide", attributes), user("look"), end(), flows("start -> decide -> look -> end"), id=id
    )


BOUND = 'camunda:decisionRef="tier" camunda:resultVariable="tier" camunda:mapDecisionResult="singleEntry"'


def tiers(small: str = '"team"', large: str = '"board"', *, more: tuple[str, ...] = (), tag: str = "") -> bytes:
    """A table of two rules over `amount`."""
    rules = [["< 100", small], [">= 100", large]]
    written = decision("tier", table(["amount"], ["tier"], rules))
    if tag:
        written = written.replace("<decision ", f'<decision camunda:versionTag="{tag}" ', 1)
    return file(written, *more)


def deploy(**files: bytes) -> engine.Deployment:
    """deploy(p_bpmn=..., tier_dmn=...): the suffix of a file is what follows its last underscore."""
    named = {f"{name.rpartition('_')[0]}.{name.rpartition('_')[2]}": content for name, content in files.items()}
    return engine.deploy(named, actor="ann")


def evaluated(world: World, instance: UUID) -> list[Mapping[str, Any]]:
    """The payloads of DECISION_EVALUATED, in order."""
    rows = world.ask(
        "SELECT payload::text FROM runtime_event WHERE thread_id = %s AND event_type = 'DECISION_EVALUATED'"
        " ORDER BY commit_sequence, ordinal",
        instance,
    )
    return [engine.loads(text) for (text,) in rows]
