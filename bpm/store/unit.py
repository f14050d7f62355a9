"""The unit of work: one transaction of one instance, in two round trips, or three when something was missing; in one
where the step was decided beforehand.

    with Unit(channel) as unit:
        answer = unit.load(thread, question)        # BEGIN and the load
        ...
        answers = unit.answer(thread, keys)         # only after a Need
        result = unit.flush(document)               # the flush and COMMIT

    with Unit(channel) as unit:
        result = unit.settle(thread, foreseen, until, document)     # all of it

Left without a flush, or by an exception, nothing has been written. In a caller's transaction a savepoint takes the
place of BEGIN, so that a refusal or a lost race leaves what the caller did before.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from datetime import datetime
from types import TracebackType
from typing import Any
from uuid import UUID

import psycopg
from psycopg.pq import TransactionStatus

from bpm.semantics.state import Key
from bpm.store import ids
from bpm.store.channel import Channel
from bpm.store.errors import understood
from bpm.store.foreseeing import Foreseen
from bpm.store.loading import key_to_json
from bpm.store.statements import sql
from bpm.store.trip import Row, Said
from bpm.store.values import dumps, loads

_BEGIN = Said("BEGIN ISOLATION LEVEL READ COMMITTED")
_COMMIT = Said("COMMIT")
_ROLLBACK = Said("ROLLBACK")
_SAVE = Said("SAVEPOINT tokentrail")
_KEEP = Said("RELEASE SAVEPOINT tokentrail")
_FORGET = Said("ROLLBACK TO SAVEPOINT tokentrail")


class Unit:
    """Holds the open transaction (or savepoint) of one step."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._open = False

    def __enter__(self) -> Unit:
        return self

    def load(self, thread: UUID, question: dict[str, Any], *, resume: bool = False) -> dict[str, Any]:
        """Begin, lock the thread's version row and read what the question asks for; to `resume`, only what is not held
        already. Raises StoreError.
        """
        begin = _SAVE if self._channel.joined else _BEGIN
        self._open = True
        asked = Said(sql("resume" if resume else "load"), (str(thread), dumps(question)))
        if resume and question["projected"]["enough"]:
            held = question["projected"]
            working = f"{{{','.join(held['working'])}}}"
            asked = Said(
                sql("take_up"), (str(thread), str(held["version"]), held["last_at"], working, asked.arguments[1])
            )
        answer: dict[str, Any] = self._only(self._say(begin, asked)[1])
        return answer

    def answer(self, thread: UUID, keys: Iterable[Key]) -> list[dict[str, Any]]:
        """What the keys ask for, in their order. Raises StoreError."""
        asked = dumps([key_to_json(thread, key) for key in keys])
        answers: list[dict[str, Any]] = self._only(self._say(Said(sql("answer"), (str(thread), asked)))[0])
        return answers

    def flush(self, document: dict[str, Any]) -> dict[str, Any]:
        """Write the commit and end the transaction; what `bpm_flush` returned. Raises StoreError: nothing was
        written.
        """
        end = _KEEP if self._channel.joined else _COMMIT
        rows = self._say(Said(sql("flush"), (dumps(document),)), end)[0]
        self._open = False
        result: dict[str, Any] = self._only(rows)
        return result

    def settle(
        self, thread: UUID, foreseen: Foreseen, until: datetime | None, document: dict[str, Any]
    ) -> dict[str, Any] | None:
        """The whole transaction; what `bpm_flush` returns, or None and nothing written where something is not as it was
        foreseen, or it is not before `until`. Raises StoreError: nothing was written.

        One statement is a transaction by itself, and one that asks for another isolation than ours begins anew where it
        finds the version row changed. (Behind a savepoint it stands in tests alone: a caller's own transaction is bound
        to one instance, which only the load looks after.)
        """
        task = foreseen.task
        last_at = None if foreseen.last_at is None else foreseen.last_at.isoformat()
        holds = "infinity" if until is None else until.isoformat()
        held = (None, None) if task is None else (ids.text(thread, task.id), str(task.version))
        said = (str(thread), str(foreseen.version), last_at, holds, *held, foreseen.worker, dumps(document))
        settle = Said(sql("settle"), said)
        self._open = True
        rows = self._say(_SAVE, settle, _KEEP)[1] if self._channel.joined else self._say(settle)[0]
        self._open = False
        result: dict[str, Any] | None = self._only(rows)
        return result

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._open:
            return
        self._open = False
        if self._channel.raw.info.transaction_status == TransactionStatus.IDLE:
            return  # COMMIT itself failed, and the server has rolled back
        # A connection that is gone has rolled back by itself; the first error is the one to tell.
        with contextlib.suppress(psycopg.Error):
            if self._channel.joined:
                self._channel.say(_FORGET, _KEEP)
            else:
                self._channel.say(_ROLLBACK)

    def _say(self, *statements: Said) -> list[list[Row]]:
        try:
            return self._channel.say(*statements)
        except psycopg.Error as error:
            raise self._channel.translate(understood(error)) from error

    @staticmethod
    def _only(rows: list[Row]) -> Any:
        return loads(rows[0][0] or "null")
