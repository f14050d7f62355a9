"""Values that are not for everybody: masked by the name of their variable, or left out altogether.

A name is masked wherever it stands: in what was written, in what a command brought, in what instances told each other,
as a column of a decision table (by its label), as the slot of a loop's output (`cards[0]` is of `cards`). What it was
worth is masked, too, where the model has put it elsewhere: into a correlation or business key, a message, an error, the
question to a bean. Values of fewer than `SHORT` characters say nothing in the middle of a text and are masked there
only as the whole of it.

What is left is still the history: who did what when, and where the instance went. It replays, but decided again it may
part, since the values are not there. Never masked is what history is made of: ids, elements, times, states, who (`KEPT`
and the actors), and, where all values are left out, the names of messages, signals, topics and errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from bpm.semantics.events import Event
from bpm.store.reading import Logged

MASK = "***"
SHORT = 4
# Where commands and events hold variables, or what was made of them.
HOLDERS = frozenset(
    {"variables", "local_variables", "answers", "inputs", "outputs", "result", "warnings", "value"}
)  # fmt: skip
# Texts that the model or somebody at work makes of variables.
DERIVED = frozenset(
    {"correlation", "business_key", "assignee", "candidate_users", "candidate_groups", "form_key", "message", "error",
     "details", "text"}
)  # fmt: skip
# What the history itself is made of: the words and ids of the engine, moments, and who.
KEPT = frozenset(
    {"kind", "step", "origin", "flow", "flows", "definition", "decision", "table", "id", "trigger", "outcome",
     "binding", "node", "nodes", "drop", "before", "after", "cancel", "handler", "thread", "sender", "worker", "user",
     "beside", "until", "fire_at", "retry_at", "schedule", "due", "follow_up", "late", "unset"}
)  # fmt: skip
_SLOT = re.compile(r"\[\d+\]$")
_WORD = re.compile(r"\w+")


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

    def has(self, name: str) -> bool:
        """Whether the values of a variable of that name are masked."""
        return name in self.names or _SLOT.sub("", name) in self.names


@dataclass(slots=True)
class Mask:
    """Masks the commits of one instance. With names, all that they were worth in it is to be noted before."""

    masking: Masking
    # Texts of at least SHORT characters by how they begin, and shorter ones.
    _long: dict[str, set[str]] = field(default_factory=dict)
    _short: set[str] = field(default_factory=set)

    def note(self, commits: Iterable[Logged]) -> None:
        """See what the masked variables were worth."""
        for commit in commits:
            self._note(commit.arguments)
            for event in commit.events:
                if event.type == "VARIABLE_SET" and self.masking.has(event.payload["name"]):
                    self._keep(event.payload["value"])
                else:
                    self._note(event.payload)

    def commit(self, commit: Logged) -> Logged:
        """The commit without what is masked."""
        if not self.masking:
            return commit
        key = commit.key and (MASK if self.masking.everything else self._text(commit.key))
        return replace(
            commit,
            arguments=self._inside(commit.arguments),
            events=tuple(self._event(event) for event in commit.events),
            reason=commit.reason and self._text(commit.reason),
            key=key,
        )

    def _note(self, value: Any) -> None:
        if isinstance(value, Mapping):
            for name, inner in value.items():
                if self.masking.has(name):
                    self._keep(inner)
                else:
                    self._note(inner)
        elif isinstance(value, list | tuple):
            for inner in value:
                self._note(inner)

    def _keep(self, value: Any) -> None:
        for text in _texts(value):
            if len(text) < SHORT:
                self._short.add(text)
            else:
                self._long.setdefault(text[:SHORT], set()).add(text)

    def _event(self, event: Event) -> Event:
        payload = event.payload
        if event.type == "VARIABLE_SET":
            hidden = None if self.masking.everything else MASK if self.masking.has(payload["name"]) else ...
            value = self._value(payload["value"]) if hidden is ... else hidden
            return replace(event, payload={**payload, "value": value})
        return replace(event, payload=self._inside(payload))

    def _inside(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """What a command or an event says."""
        return {key: self._one(key, value) for key, value in said.items()}

    def _one(self, key: str, value: Any) -> Any:
        if key in HOLDERS:
            return _emptied(value) if self.masking.everything else self._value(value)
        if key in DERIVED and not isinstance(value, Mapping):
            return _masked(value) if self.masking.everything else self._value(value)
        if key in KEPT:
            return value
        if isinstance(value, Mapping):
            return self._inside(value)
        if isinstance(value, list | tuple):
            return [self._one(key, item) for item in value]
        return self._text(value) if isinstance(value, str) else value

    def _value(self, value: Any) -> Any:
        """Data of the process, without what is masked."""
        if isinstance(value, Mapping):
            return {
                self._text(name): MASK if self.masking.has(name) else self._value(inner)
                for name, inner in value.items()
            }
        if isinstance(value, list | tuple):
            if len(value) == 2 and isinstance(value[0], str) and self._is_labelled(value[0]):
                return [value[0], MASK]
            return [self._value(item) for item in value]
        if isinstance(value, str):
            return MASK if value in self._short else self._text(value)
        number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        return MASK if number and self._text(str(value)) == MASK else value

    def _is_labelled(self, label: str) -> bool:
        """Whether a column of a decision table (its label, or the expression that stands for one) tells of a name."""
        return any(map(self.masking.has, (label, *_WORD.findall(label))))

    def _text(self, text: str) -> str:
        """The text with a mask over each value that is hidden, the longest first."""
        if not self._long:
            return text
        found, at = "", 0
        while at < len(text):
            here = [one for one in self._long.get(text[at : at + SHORT], ()) if text.startswith(one, at)]
            found += MASK if here else text[at]
            at += max(map(len, here), default=1)
        return found


def _texts(value: Any) -> Iterator[str]:
    """The texts and numbers in a value."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str | int | float | Decimal) and not isinstance(value, bool) and value != "":
        yield str(value)


def _emptied(value: Any) -> Any:
    """The same kind of thing with nothing in it."""
    return {} if isinstance(value, Mapping) else [] if isinstance(value, list | tuple) else None


def _masked(value: Any) -> Any:
    return [MASK for _ in value] if isinstance(value, list | tuple) else MASK if value else value
