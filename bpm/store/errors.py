"""Errors of the store: what went wrong, in words, and nothing was written. SQLSTATEs TT... are raised by our
functions.
"""

from __future__ import annotations

import psycopg

from bpm.store.trip import FORGETFUL
from bpm.store.values import UnfitValue


class StoreError(Exception):
    """Something that the store refuses or cannot do. Nothing was written."""


class LostRace(StoreError):
    """Somebody else was faster, or a lock was not to be had in time. Beginning anew is right."""


class Refused(StoreError):
    """What was asked for is not done. `code` says why: one of `semantics.work.REFUSALS`, or what a class below says."""

    code = "refused"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class UnknownInstance(Refused):
    """There is no instance of that id."""

    code = "not_found"


class KeyConflict(Refused):
    """The idempotency key has been used for another command."""

    code = "key_conflict"


class SecondInstance(Refused):
    """The caller's transaction has changed another instance already."""

    code = "second_instance"


class Busy(Refused):
    """Others were faster each time."""

    code = "busy"


class NoPartition(StoreError):
    """History has no partition for this month: run the partition job (bpm_ensure_partitions)."""


class RuleBroken(StoreError):
    """The database refused a change against its rules: a fault of the engine, never of its caller."""


class Unavailable(psycopg.OperationalError):
    """The database takes no changes at the moment, and says why. Nothing was written; later the same is right again."""


# SQLSTATE -> what is wrong with the database, for people.
NOT_NOW = {
    "25006": "the database is read-only",
    "53100": "the disk of the database is full",
    "53200": "the database is out of memory",
    "53300": "the database has no connection left",
    "53400": "the database has reached a limit of its configuration",
    "25P03": "the database ended a transaction whose program said nothing for too long",
    "25P04": "the database ended a transaction that took too long",
}

# Beginning anew is right: serialization, deadlock, lock timeout, unique violation of a row born twice, our own, and a
# prepared statement that the session has not (any more) or has already (see `trip`).
TRY_AGAIN = frozenset({"40001", "40P01", "55P03", "TT001", *FORGETFUL})
BORN_TWICE = frozenset({"runtime_thread_version_pkey", "process_instances_pkey", "runtime_operation_receipt_key",
                        "runtime_operation_receipt_pkey", "runtime_message_received_once",
                        "runtime_message_received_each"})  # fmt: skip
RULES = frozenset({"TT100", "TT101", "TT102", "TT103", "TT104", "TT108", "P0001", "23514"})


def understood(error: psycopg.Error) -> Exception:
    """The error in the store's own words; one that says nothing to us as it is."""
    state = error.sqlstate or ""
    message = error.diag.message_primary or str(error)
    constraint = error.diag.constraint_name or ""
    if state in TRY_AGAIN or (state == "23505" and _born_twice(constraint)):
        return LostRace(message)
    if state in NOT_NOW:
        return Unavailable(f"{NOT_NOW[state]}: {message}")
    if state == "TT004":
        return Refused(message, code="suspended")
    if state == "TT003":
        return SecondInstance(message)
    if state == "23514" and message.startswith("no partition of relation"):
        return NoPartition(f"{message}: history needs months ahead; bpm_ensure_partitions() makes them")
    if state in RULES:
        return RuleBroken(f"{message} ({state})")
    if state.startswith("22"):
        return UnfitValue(message)
    return error


def _born_twice(constraint: str) -> bool:
    # The commit log's uniqueness lies on each partition, under a name of its own.
    return constraint in BORN_TWICE or constraint.endswith("_thread_version")
