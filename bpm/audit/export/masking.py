"""Values that are not for everybody: masked by name, or left out altogether.

A name is masked wherever it stands: in what was written, in what a command brought, in what instances told each other.
What is left is still the history: who did what when, and where the instance went. It replays, but decided again it may
part, since the values are not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bpm.semantics.events import Event
from bpm.store.reading import Logged

MASK = "***"
# Where commands and events hold variables or what was made of them.
HOLDERS = frozenset({"variables", "local_variables", "answers", "body", "data", "inputs", "outputs", "result"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Masking:
    """`names` are masked; with `everything` no value of a variable is there at all."""

    names: frozenset[str] = frozenset()
    everything: bool = False

    def __bool__(self) -> bool:
        return self.everything or bool(self.names)

    def to_json(self) -> dict[str, Any]:
        """For the manifest."""
        return {"variables": "left out"} if self.everything else {"masked": sorted(self.names)} if self.names else {}

    def commit(self, commit: Logged) -> Logged:
        """The commit without what is masked."""
        if not self:
            return commit
        events = tuple(self._event(event) for event in commit.events)
        return replace(commit, arguments=self._inside(commit.arguments), events=events)

    def _event(self, event: Event) -> Event:
        payload = dict(event.payload)
        if event.type == "VARIABLE_SET":
            if self.everything or payload["name"] in self.names:
                payload["value"] = None if self.everything else MASK
            else:
                payload["value"] = self._inside(payload["value"])
            return replace(event, payload=payload)
        return replace(event, payload=self._inside(payload))

    def _inside(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self._one(key, inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._inside(item) for item in value]
        return value

    def _one(self, key: str, value: Any) -> Any:
        if self.everything and key in HOLDERS:
            return {}
        return MASK if key in self.names else self._inside(value)
