"""What is exported: which instances, and of them which events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from bpm.audit.statements import ask
from bpm.store import histories, ids
from bpm.store.channel import Channel
from bpm.store.reading import Logged

PAGE = 500
STATES = ("RUNNING", "SUSPENDED", "COMPLETED", "FAILED", "CANCELLED")


class Chosen(NamedTuple):
    """An instance; `archived`: whether what it did is to be looked at, as only the archive's files tell."""

    instance: UUID
    archived: bool


class NothingSuch(ValueError):
    """A selection that names what there is none of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """All conditions hold together; an empty one is none.

    They choose instances: of these definitions, in one of these states now, that did something in the time, that one of
    the workers worked for, that one of the people acted on. A format of rows has of them only the events of that time,
    those workers and people; a format of cases has each instance whole.
    """

    definitions: tuple[str, ...] = ()
    instances: tuple[UUID, ...] = ()
    states: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    workers: tuple[str, ...] = ()
    users: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """For the manifest and the log: conditions that are set."""
        said = {
            "definitions": list(self.definitions),
            "instances": [str(id) for id in self.instances],
            "states": list(self.states),
            "since": self.since and self.since.isoformat(),
            "until": self.until and self.until.isoformat(),
            "workers": list(self.workers),
            "users": list(self.users),
        }
        return {name: value for name, value in said.items() if value}

    @staticmethod
    def from_json(said: dict[str, Any]) -> Selection:
        """What `to_json` wrote."""
        return Selection(
            definitions=tuple(said.get("definitions", ())),
            instances=tuple(UUID(id) for id in said.get("instances", ())),
            states=tuple(said.get("states", ())),
            since=datetime.fromisoformat(said["since"]) if "since" in said else None,
            until=datetime.fromisoformat(said["until"]) if "until" in said else None,
            workers=tuple(said.get("workers", ())),
            users=tuple(said.get("users", ())),
        )

    def has(self, at: datetime, worker: str | None, actor: str) -> bool:
        """Whether an event is among those that were asked for."""
        if (self.since is not None and at < self.since) or (self.until is not None and at >= self.until):
            return False
        if not self.workers and not self.users:
            return True
        return worker in self.workers or actor in self.users

    def touches(self, commit: Logged) -> bool:
        """Whether a commit is one for which its instance was chosen."""
        return any(self.has(commit.at, event.payload.get("worker"), commit.actor) for event in commit.events)


def chosen(selection: Selection, *, channel: Channel | None = None) -> Iterator[list[Chosen]]:
    """The instances, page by page, by id. Raises NothingSuch for a definition or a state that there is none of."""
    if selection.instances:
        yield [Chosen(id, False) for id in sorted(set(selection.instances))]
        return
    for state in selection.states:
        if state not in STATES:
            raise NothingSuch(f"{state} is no state of an instance; there are {', '.join(STATES)}")
    asked = {
        "definitions": definitions_of(selection, channel=channel),
        "states": list(selection.states) or None,
        "workers": list(selection.workers) or None,
        "users": list(selection.users) or None,
    }
    for page in _candidates(selection, channel):
        found = [Chosen(*row) for row in ask("instances_chosen", asked | {"threads": page}, channel=channel)]
        if found:
            yield found


def _candidates(selection: Selection, channel: Channel | None) -> Iterator[list[UUID]]:
    """Instances that may be meant, by id: those of the time, where one is given."""
    if selection.since is None and selection.until is None:
        yield from histories.pages_of_threads(size=PAGE, channel=channel)
        return
    asked = {"since": selection.since, "until": selection.until, "limit": PAGE}
    after = ids.NIL
    while page := [row[0] for row in ask("threads_in_time", asked | {"after": after}, channel=channel)]:
        yield page
        if len(page) < PAGE:
            return
        after = page[-1]


def definitions_of(selection: Selection, *, channel: Channel | None = None) -> list[UUID] | None:
    """The ids of all versions of the chosen definitions; None for any. Raises NothingSuch."""
    if not selection.definitions:
        return None
    found: list[UUID] = []
    for key in selection.definitions:
        versions = histories.versions_of_key(key, channel=channel)
        if not versions:
            raise NothingSuch(f"there is no process definition {key}")
        found += [id for id, _ in versions]
    return found
