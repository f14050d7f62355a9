"""Whether what is installed is what this program was written for. Nothing is changed here, and no right but reading is
needed.

`schema.json`, beside this module, records the schema that the migrations make: every table, column, constraint, index,
trigger, function (its body as a hash), view and sequence, in PostgreSQL's own words; a test makes it again and
compares, and `manage.py bpm verify-schema --record` writes it. What the database says of itself is compared with that,
so a trigger that was disabled, dropped or given another body shows, as does pgtrigger's off-switch (the function
`_pgtrigger_should_ignore`) put back to its old body. Partitions come and go with time, so they follow rules: the
present month and MONTHS more, no default partition, and on each the triggers of its parent.

A database may be newer than the program: in a rolling upgrade the migrations come first, and the old program goes on.
Then an object that is another than recorded is a note; one that is missing is a difference still. Migrations named
`NNNN_after_...` come when no older program runs any more, and may be pending.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from bpm.store.channel import Channel
from bpm.store.errors import StoreError
from bpm.store.outside import query

# Months of history that must be ready beyond the present one.
MONTHS = 3
# A new kind of object in a table of ours could undo what the recorded ones do.
NEVER_MORE = ("trigger", "rule", "policy", "constraint")
SEQUENCES = ("runtime_commit_sequence",)
AFTER = re.compile(r"\d{4}_after_")
_MIGRATION = re.compile(r"\d{4}_\w+")
_FROM = re.compile(r"FROM \('([^']+)'\)")
_CASTS = (
    (re.compile(r"\(('[^']*')::character varying\)::text"), r"\1"),
    (re.compile(r"('[^']*')::(?:character varying|text)\b"), r"\1"),
    (re.compile(r"\((ARRAY\[[^\]]*\])\)::text\[\]"), r"\1"),
)
_OFF_SWITCH = "_pgtrigger_should_ignore(trigger_name name)"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`differences` forbid to work on the database; `notes` are worth knowing."""

    differences: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def fit(self) -> bool:
        return not self.differences


class SchemaDiffers(StoreError):
    """The database is not what this program was written for. `differences` lists everything that is another."""

    def __init__(self, differences: Sequence[str]) -> None:
        self.differences = tuple(differences)
        listed = "".join(f"\n- {difference}" for difference in differences)
        super().__init__(f"the schema of the database is not the one this program needs:{listed}")


def require(channel: Channel | None = None) -> Verdict:
    """The verdict on a database that is fit. Raises SchemaDiffers with everything that is another."""
    verdict = verify(channel)
    if not verdict.fit:
        raise SchemaDiffers(verdict.differences)
    return verdict


def verify(channel: Channel | None = None) -> Verdict:
    """What differs. `channel` None is Django's default connection."""
    there, with_ledger, replication, superuser, owner = query(channel, "schema_home")[0]
    if not there:
        return Verdict(("there are no tables of this program: run the migrations first",))
    wanted = recorded()
    applied = [row[0] for row in query(channel, "schema_ledger")] if with_ledger else []
    differences, notes = _ledger(applied, wanted["migrations"])
    exact = set(applied) == set(wanted["migrations"])
    found = objects(channel, wanted["relations"])
    for difference, essential in _objects(found, wanted["objects"]):
        (differences if exact or essential else notes).append(difference)
    differences += _partitions(channel, wanted["objects"])
    if replication != "origin":
        differences.append(f"session_replication_role is {replication}: no trigger works in this session")
    if superuser or owner:
        who = "a superuser" if superuser else "the owner of the tables"
        notes.append(f"this is the role of {who}, who can switch the rules off: see manage.py bpm harden")
    return Verdict(tuple(differences), tuple(notes))


def objects(channel: Channel | None, relations: Sequence[str]) -> dict[str, str]:
    """What is installed of these tables and views, and the functions: "kind name" -> definition."""
    rows = query(channel, "schema_objects", {"relations": list(relations), "sequences": list(SEQUENCES)})
    return {f"{kind} {name}": _plain(definition) for kind, name, definition in rows}


def _plain(definition: str) -> str:
    """Without the casts of texts, which PostgreSQL writes in another way after a dump was restored."""
    for pattern, plainly in _CASTS:
        definition = pattern.sub(plainly, definition)
    return definition


@cache
def recorded() -> Mapping[str, Any]:
    """The record: migrations, relations, objects."""
    record: Mapping[str, Any] = json.loads(files("bpm.store").joinpath("schema.json").read_text())
    return record


@cache
def migrations() -> tuple[str, ...]:
    """The migrations that this program has, in order."""
    names = (entry.name.removesuffix(".py") for entry in files("bpm.migrations").iterdir() if entry.name[-3:] == ".py")
    return tuple(sorted(name for name in names if _MIGRATION.fullmatch(name)))


def record_of(channel: Channel | None, relations: Sequence[str]) -> str:
    """The text of schema.json for a database that has just been migrated and holds these tables and views."""
    found = objects(channel, sorted(relations))
    applied = [row[0] for row in query(channel, "schema_ledger")]
    record = {"migrations": sorted(applied), "relations": sorted(relations), "objects": found}
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def _ledger(applied: Sequence[str], of_record: Sequence[str]) -> tuple[list[str], list[str]]:
    have, known = set(applied), migrations()
    pending = [name for name in known if name not in have]
    differences = [f"migration bpm.{name} is not applied" for name in pending if not AFTER.match(name)]
    notes = [f"migration bpm.{name} waits until no older program runs" for name in pending if AFTER.match(name)]
    newer = [name for name in applied if name not in known]
    if newer:
        notes.append(f"the database is newer than this program: it has {', '.join(f'bpm.{name}' for name in newer)}")
    if set(known) != set(of_record):
        notes.append("the record of the schema is older than the migrations: manage.py bpm verify-schema --record")
    return differences, notes


def _objects(found: Mapping[str, str], wanted: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """(what differs, whether it matters in a newer database too)."""
    for name, definition in wanted.items():
        if name not in found:
            yield f"{name} is missing", True
        elif found[name] != definition:
            if name == f"function {_OFF_SWITCH}":
                yield "pgtrigger's off-switch works: any role may set pgtrigger.ignore and pass every rule", True
            elif found[name].endswith((" (disabled)", " (for replicas only)", " (not validated)", " (not valid)")):
                yield f"{name} does not work: {found[name].rpartition(' (')[2].rstrip(')')}", True
            else:
                yield f"{name} is another: {_apart(found[name], definition)}", False
    for name in found:
        if name not in wanted and name.partition(" ")[0] in NEVER_MORE:
            yield f"{name} should not be there: {found[name]}", False


def _apart(found: str, wanted: str) -> str:
    if len(found) + len(wanted) < 200:
        return f"{found}, not {wanted}"
    start = next((i for i, (one, other) in enumerate(zip(found, wanted, strict=False)) if one != other), 0)
    start = max(0, start - 30)
    return f"...{found[start : start + 120]}..., not ...{wanted[start : start + 120]}..."


def _partitions(channel: Channel | None, wanted: Mapping[str, str]) -> Iterable[str]:
    parents = [
        name.removeprefix("table ")
        for name, definition in wanted.items()
        if name.startswith("table ") and definition.startswith("by RANGE")
    ]
    needed = list(_months(query(channel, "now")[0][0]))
    months: dict[str, set[str]] = {parent: set() for parent in parents}
    differences = []
    for parent, name, bound, bare, unique in query(channel, "schema_partitions", {"parents": parents}):
        if bound == "DEFAULT":
            differences.append(f"{name} is a default partition of {parent}: rows would hide there")
        else:
            months[parent].add(_first_month(bound))
        differences += [f"partition {name} does not have trigger {trigger} of its table" for trigger in bare]
        if not unique:
            differences.append(f"partition {name} does not keep (thread_id, version) unique")
    for parent, there in months.items():
        missing = [month for month in needed if month not in there]
        if missing:
            differences.append(
                f"{parent} has no partition for {', '.join(missing)}: SELECT bpm_ensure_partitions() makes them"
            )
    return differences


def _months(now: datetime) -> Iterator[str]:
    first = now.astimezone(UTC).year * 12 + now.astimezone(UTC).month - 1
    for month in range(first, first + MONTHS + 1):
        yield f"{month // 12:04d}-{month % 12 + 1:02d}"


def _first_month(bound: str) -> str:
    begins = _FROM.search(bound)
    if begins is None:
        return bound
    # The bound is written in the session's time zone.
    return f"{datetime.fromisoformat(begins[1]).astimezone(UTC):%Y-%m}"
