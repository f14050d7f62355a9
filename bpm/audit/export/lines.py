"""JSON Lines: a line a commit with all that it has. `bpm replay FILE` reads it without a database."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import IO, Any
from uuid import UUID

from bpm.audit.export.selection import Selection
from bpm.audit.export.writing import Writer
from bpm.audit.histories import LiveHistory
from bpm.decisions import to_json as decisions_to_json
from bpm.graph import to_json
from bpm.replay import exported
from bpm.store import decisions, definitions
from bpm.store.reading import Logged
from bpm.store.values import dumps, loads
from bpm.store.version import ENGINE


@contextlib.contextmanager
def json_lines(file: IO[bytes], selection: Selection) -> Iterator[Writer]:
    """The head, then each definition before the first instance of it, then the commits."""
    known: set[UUID] = set()

    def say(line: dict[str, Any]) -> None:
        file.write(dumps(line).encode() + b"\n")

    def definition(id: UUID | None) -> None:
        if id is not None and id not in known:
            known.add(id)
            found = definitions.load(id)
            say(exported.definition(str(id), found.key, found.version, to_json(found.graph)))

    def decision(commit: Logged) -> None:
        # What was answered, not what was evaluated: one that could not be evaluated is needed to decide so again.
        for question, answer in commit.arguments.get("answers", {}).items():
            id = UUID(answer) if answer and loads(question)[0] == "decision" else None
            if id is not None and id not in known:
                known.add(id)
                found = decisions.load(id)
                say(exported.decision(str(id), found.key, found.version, decisions_to_json(found.decisions)))

    def add(history: LiveHistory) -> Iterator[int]:
        for commit in history.commits:
            # Another one than its first, where the instance was migrated.
            definition(commit.definition_id)
            decision(commit)
            say(
                exported.commit(
                    str(history.instance),
                    str(history.definition.id),
                    commit,
                    format=commit.format,
                    thread=str(commit.thread_id),
                    run=str(commit.run_id),
                    actor=commit.actor,
                    stated_reason=commit.reason,
                    key=commit.key,
                    caused_by=commit.caused_by,
                    engine_version=commit.engine_version,
                )
            )
            yield len(commit.events)

    say(exported.head(engine=ENGINE))
    yield Writer(add)
