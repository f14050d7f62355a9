"""What a verb would bring about: the engine itself does it, in a transaction that is rolled back.

So a preview is never another opinion than the verb's own. Nothing of it stays, but for gaps in the sequence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from bpm.audit import trace
from bpm.engine.errors import EngineError
from bpm.queries.nodes import name_of
from bpm.store.records import CommitRecord
from cockpit.pages.sentences import Sentence, sentences_of

SHOWN = 60


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What would happen, in order, or why it would be refused. `more`: there would be more than is said."""

    sentences: tuple[Sentence, ...] = ()
    refused: str = ""
    more: bool = False


def rehearsed(verb: Callable[[], CommitRecord], definition_id: UUID) -> Rehearsal:
    """Let the verb do it and undo it. Places are named as in the definition."""
    try:
        with transaction.atomic():
            record = verb()
            page = trace.trace(record.thread_id, newest_first=True, size=10 * SHOWN)
            transaction.set_rollback(True)
    except EngineError as refused:
        return Rehearsal(refused=refused.message)
    events = [event for event in reversed(page.events if page else ()) if event.commit_sequence == record.sequence]

    def named(node: str) -> str:
        return name_of(definition_id, node)

    sentences = tuple(sentences_of(events, named)[:SHOWN])
    return Rehearsal(sentences, more=len(events) > SHOWN)
