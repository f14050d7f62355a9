"""A client whose line is cut in the middle of each COMMIT, and that asks again with the same key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import InterfaceError, OperationalError

from bpm import engine
from tests.chaos import proof
from tests.chaos.cutting import CUT
from tests.chaos.stories import STORIES, Story

# What takes no key has nothing to ask again with; the schedulers ask for it all the time.
ENDINGS = ("_task", "_lock", "_instance", "_error", "_variables")
KEYED = {"start", "deploy", "correlate", "publish", "throw_signal", "retry_incident"} | {
    name for name in engine.__all__ if name.endswith(ENDINGS) and name != "continue_instance"
}


@dataclass
class Stubborn(Story):
    """Tells a story. Each call's COMMIT is cut; `learned` counts what the second asking said."""

    mode: str = "after"
    learned: Counter[str] = field(default_factory=Counter)
    calls: int = 0

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        ask = super().__getattr__(verb)
        return (lambda *given, **said: self._ask(verb, ask, given, said)) if verb in KEYED else ask

    def _ask(self, verb: str, ask: Callable[..., Any], given: tuple[Any, ...], said: dict[str, Any]) -> Any:
        self.calls += 1
        said.setdefault("key", self.key(f"call {self.calls}"))
        proof.ask(CUT.format(self.mode))
        try:
            result = ask(*given, **said)
        except (OperationalError, InterfaceError):
            result = ask(*given, **said)
            self.learned["done" if getattr(result, "repeated", self.mode == "after") else "not done"] += 1
        # What should have followed is what the schedulers find.
        self.wait(10)
        self.schedulers()
        return result


def tell(name: str, prefix: str, ledger: str, mode: str) -> dict[str, Any]:
    """Tell a story so. Out: the proof, and what was learned."""
    story = Stubborn(prefix, Path(ledger), mode=mode)
    STORIES[name](story)
    story.schedulers()
    return proof.of_story(prefix, Path(ledger)) | {"learned": dict(story.learned)}


def tell_plainly(name: str, prefix: str, ledger: str) -> dict[str, Any]:
    """Tell it with nothing in the way."""
    story = Story(prefix, Path(ledger))
    STORIES[name](story)
    story.schedulers()
    return proof.of_story(prefix, Path(ledger))
