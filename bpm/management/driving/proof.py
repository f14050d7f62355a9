"""Live = replayed = stored, and decided again: asked of every instance that a scenario has brought about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from bpm.management.driving.ground import fresh_channel
from bpm.replay import ReplayEngine, compare, verify
from bpm.semantics import State
from bpm.store import Channel, decisions, definitions
from bpm.store.ids import NIL
from bpm.store.reading import history, stored_state, thread_versions


def instances(channel: Channel) -> list[UUID]:
    """All instances in the database."""
    return [thread for thread, _ in thread_versions(channel=channel) if thread != NIL]


def disagreements(live: Mapping[UUID, State]) -> Sequence[str]:
    """Everything that differs, as sentences; nothing where all is one.

    `live` are the states that the scenario was judged by. The stored ones are read by a fresh connection, which also
    reads the history; replay sees that and the graph alone.
    """
    found: list[str] = []
    with fresh_channel() as fresh:
        threads = instances(fresh)
        if set(threads) != set(live):
            found.append(f"{len(live)} instances are known, {len(threads)} are in the database")
        for thread in threads:
            found += [f"instance {thread}: {said}" for said in _of_instance(thread, live.get(thread), fresh)]
    return found


def _of_instance(thread: UUID, live: State | None, fresh: Channel) -> list[str]:
    commits = history(thread, channel=fresh)
    definition = next((commit.definition_id for commit in commits if commit.definition_id is not None), None)
    stored = stored_state(thread, channel=fresh)
    if definition is None or live is None or stored is None:
        return ["its history or its rows are not there"]
    graph = definitions.load(definition, channel=fresh).graph
    result = ReplayEngine(graph, definitions.Graphs(fresh)).replay(commits, thread=str(thread))
    found = [str(violation) for violation in result.violations]
    found += compare(live, result.state, stored)
    divergence = verify(
        graph, commits, thread=str(thread), library=decisions.Library(fresh), others=definitions.Graphs(fresh)
    )
    return found if divergence is None else [*found, f"decided again: {divergence}"]
