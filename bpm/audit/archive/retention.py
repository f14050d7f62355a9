"""For how long the history of a definition's instances stays in the database after their end: said by key, or for all.

Nothing is moved of which nobody has said so. What is said is a commit of the nil thread, with who and why.
"""

from __future__ import annotations

from dataclasses import dataclass

from bpm.audit.statements import ask, sql
from bpm.store.outside import outside
from bpm.store.values import dumps

# The key of what holds for definitions of which nothing is said.
ALL = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """`keep_days` None: for ever."""

    key: str
    keep_days: int | None


def retentions() -> list[Retention]:
    """What is said, by key."""
    return [Retention(key=key, keep_days=days) for key, days in ask("retentions")]


def set_retention(key: str, keep_days: int | None, *, actor: str, reason: str | None = None) -> None:
    """Say it anew. ValueError for days below 0."""
    if keep_days is not None and keep_days < 0:
        raise ValueError("days are counted from 0")
    about = {"key": key, "keep_days": keep_days}
    with outside(None, "SetRetention", about, actor=actor, reason=reason) as commit:
        commit.channel.send((sql("set_retention"), about | {"sequence": commit.sequence, "at": commit.at}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What stays when a month is archived: `said` by key as JSON; `unsaid`: whether all others stay."""

    said: str
    unsaid: bool


def rule(*, explicit: bool) -> Rule:
    """The rule of now. `explicit`: somebody has named the month, so what nobody has spoken of goes."""
    found = {one.key: one.keep_days for one in retentions()}
    unsaid = not explicit
    if ALL in found:
        # It speaks for every key of which nothing else is said.
        days = found.pop(ALL)
        for (key,) in ask("definition_keys"):
            found.setdefault(key, days)
        unsaid = days is None
    return Rule(said=dumps(found), unsaid=unsaid)
