"""Verifying seals: the chain is recomputed from the rows as the database returns them now.

For each seal: its body hashes to its hash, its columns say what its body says, it follows the one before it without a
gap. For each table and piece of the chain the rows are streamed once, in order, and digested anew. Where a digest is
not the sealed one, the rows of that seal are compared with the names it keeps, and what was changed, removed or
inserted is named. Of what is not hashed only those names are used; where they were spoiled too, the seal is named.

Sealed history does not change, so each piece is read in a transaction of its own: verifying for an hour keeps no
snapshot open for an hour.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from bpm.audit import canonical, chain
from bpm.audit.archive import catalog
from bpm.audit.archive.catalog import Part
from bpm.audit.canonical import Table
from bpm.audit.chain import Epoch, Head, Seal
from bpm.audit.deployed import DEPLOY, Digests, digests_of, judge_definitions
from bpm.audit.lines import prepare, stored_lines
from bpm.audit.sealed_rows import sealed_lines
from bpm.audit.statements import ask
from bpm.store import histories
from bpm.store.channel import Channel

# What may be wrong, in words.
CODES = {
    "changed": "A sealed row is as it was.",
    "removed": "A sealed row is there.",
    "inserted": "No row is where history was sealed already.",
    "stray": "Every event belongs to a commit of its own transaction.",
    "seal-changed": "A seal is as it was made.",
    "seal-missing": "The numbers of seals have no gap.",
    "chain-broken": "A seal follows the one before it.",
    "impossible": "No row names a transaction that has not begun.",
    "head-differs": "The chain holds the head that was kept elsewhere.",
    "definition-changed": "A definition is as it was deployed.",
    "definition-missing": "A definition that was deployed is there.",
    "definition-stray": "Every definition was deployed by the commit that it names.",
}
# At most so many rows of one seal and table are named.
NAMED = 50
# Commits whose rows are read together.
COMMITS_AT_ONCE = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is not as it was sealed. `seal` 0: no seal in particular."""

    code: str
    seal: int
    message: str

    def __str__(self) -> str:
        return f"{self.code}: seal {self.seal}: {self.message}" if self.seal else f"{self.code}: {self.message}"


@dataclass(slots=True)
class Verification:
    """What was verified so far. `advance` is told the number of rows as they are read; `kept`: heads to be met."""

    advance: Callable[[int], None] = lambda rows: None
    kept: dict[int, str] = field(default_factory=dict)
    seals: int = 0
    rows: int = 0
    definitions: int = 0
    # What sealed Deploy commits say of their definitions, by sequence.
    deployed: dict[int, Digests] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    head: Head = field(default_factory=Head)

    def find(self, code: str, seal: int, message: str) -> None:
        """Note a finding."""
        self.findings.append(Finding(code=code, seal=seal, message=message))


def verify_seals(
    *, heads: Sequence[tuple[int, str]] = (), advance: Callable[[int], None] = lambda rows: None
) -> Verification:
    """Verify the whole chain. `heads`: (number, hash) of heads that were kept elsewhere."""
    found = Verification(advance=advance, kept=dict(heads))
    known = chain.epochs()
    moved = _as_if_opened(known)
    archives = catalog.parts()
    before: Seal | None = None
    left_at = 0
    for page in chain.seals():
        for seal in page:
            _judge_link(found, before, seal, known)
            before = seal
        for run in _runs(page):
            if run[0].kind == "OPENING":
                left_at = found.head.xid_until
            with histories.snapshot() as channel:
                prepare(channel)
                _verify_rows(found, channel, run, known, left_at, archives)
            found.head = _head(run[-1])
        found.seals += len(page)
    if not moved:
        with histories.snapshot() as channel:
            prepare(channel)
            _judge_rest(found, channel, known)
            _judge_kept(found, channel, archives)
    with histories.snapshot() as channel:
        found.definitions = judge_definitions(
            lambda code, message: found.find(code, 0, message),
            found.deployed,
            channel=channel,
            going_on=lambda: advance(0),
        )
    for number, digest in found.kept.items():
        found.find("head-differs", number, f"the head {digest} was kept elsewhere; the chain has no such seal")
    return found


def _as_if_opened(known: dict[int, Epoch]) -> bool:
    """A dump was restored here and nothing was sealed since: the last epoch ends where its last seal says."""
    server = ask("server_identifier")[0][0]
    last = max(known, default=0)
    if not last or known[last].server == server:
        return False
    head = chain.head()
    known[last + 1] = Epoch(
        number=last + 1,
        server=server,
        before_sequence=head.last_sequence,
        before_event=head.last_event,
        after_sequence=head.last_sequence,
        after_event=head.last_event,
        opened_at=known[last].opened_at,
    )
    return True


def _judge_link(found: Verification, before: Seal | None, seal: Seal, known: dict[int, Epoch]) -> None:
    """Whether the seal is as it was made and follows the one before it."""
    expected = before.number + 1 if before else 1
    if seal.number != expected:
        missing = str(expected) if seal.number == expected + 1 else f"{expected} to {seal.number - 1}"
        found.find("seal-missing", seal.number, f"before it, {missing} is missing")
    if chain.hash_of(seal.body) != seal.hash:
        found.find("seal-changed", seal.number, "what it says does not have its hash")
    if different := seal.different():
        found.find("seal-changed", seal.number, f"{', '.join(different)} is not what was hashed")
    previous = before.hash if before else chain.ORIGIN
    if seal.previous != previous:
        found.find("chain-broken", seal.number, f"it follows {seal.previous}, before it stands {previous}")
    epoch = known.get(seal.epoch)
    if epoch is None or seal.said.get("server") != epoch.server:
        found.find("seal-changed", seal.number, f"epoch {seal.epoch} is missing, or names another server")
    neighbours = before is not None and (before.kind, before.epoch) == (seal.kind, seal.epoch) == ("XIDS", seal.epoch)
    if before and neighbours and seal.xid_from != before.xid_until:
        found.find("chain-broken", seal.number, f"it begins at transaction {seal.xid_from}, not {before.xid_until}")
    kept = found.kept.pop(seal.number, seal.hash)
    if kept != seal.hash:
        found.find("head-differs", seal.number, f"the head kept elsewhere is {kept}, the chain has {seal.hash}")


def _runs(page: Sequence[Seal]) -> Iterator[list[Seal]]:
    """Seals whose rows are read together: neighbours of one epoch, kind and form, of a bounded number of commits."""
    run: list[Seal] = []
    commits = 0
    for seal in page:
        fits = not run or (seal.epoch, seal.kind, seal.form) == (run[-1].epoch, run[-1].kind, run[-1].form)
        if run and not (fits and commits + seal.commits <= COMMITS_AT_ONCE):
            yield run
            run, commits = [], 0
        run.append(seal)
        commits += seal.commits
    if run:
        yield run


def _verify_rows(
    found: Verification,
    channel: Channel,
    run: list[Seal],
    known: dict[int, Epoch],
    left_at: int,
    archives: Sequence[Part],
) -> None:
    """Digest the rows of these seals anew, table by table, and name what differs."""
    first = run[0]
    if first.epoch not in known or first.form not in canonical.FORMS:
        found.find("seal-changed", first.number, f"there is no epoch {first.epoch} or no form {first.form}")
        return
    share = chain.share(known, first.epoch, left_at)
    commits: dict[int, int] = {}
    for table in chain.tables_of(first.form):
        digests = _digest(found, run, table, sealed_lines(channel, table, share, run, archives), commits)
        for seal, digest in zip(run, digests, strict=True):
            sealed = {name: (rows, hash) for name, rows, hash in seal.said.get("tables", ())}
            if digest != sealed.get(table.name):
                _name(found, channel, seal, table, sealed_lines(channel, table, share, [seal], archives))


def _digest(
    found: Verification, run: list[Seal], table: Table, lines: Iterator[bytes], commits: dict[int, int]
) -> list[tuple[int, str]]:
    """(rows, digest) of the table for each seal of the run. `commits`: transaction by commit, filled by the first."""
    done: list[tuple[int, str]] = []
    rows, digest = 0, hashlib.sha256()
    ends = [seal.xid_until for seal in run]
    opening = run[0].kind == "OPENING"
    for line in lines:
        xid, sequence, *_ = canonical.key(table, line)
        while not opening and xid >= ends[len(done)]:
            done.append((rows, digest.hexdigest()))
            rows, digest = 0, hashlib.sha256()
        digest.update(canonical.leaf(table, line))
        rows += 1
        if table.name == "runtime_commit":
            commits[sequence] = xid
            if _DEPLOYS in line:
                _note_deployment(found, canonical.fields(table, line))
        elif sequence >= 0 and commits.get(sequence) != xid:
            message = f"{_said(table, line)} names commit {sequence}, which its transaction {xid} did not write"
            found.find("stray", run[len(done)].number, message)
        if rows % 1000 == 0:
            found.advance(1000)
        found.rows += 1
    found.advance(rows % 1000)
    while len(done) < len(run):
        done.append((rows, digest.hexdigest()))
        rows, digest = 0, hashlib.sha256()
    return done


_DEPLOYS = f"\t{DEPLOY}\t".encode()


def _note_deployment(found: Verification, row: dict[str, str | None]) -> None:
    if row["command"] == DEPLOY:
        found.deployed[int(row["sequence"] or 0)] = digests_of(json.loads(row["arguments"] or "{}"))


def _name(found: Verification, channel: Channel, seal: Seal, table: Table, lines: Iterator[bytes]) -> None:
    """Say which rows are not those that were sealed."""
    before = len(found.findings)
    if not seal.said:
        return
    sealed = dict(chain.leaves(seal, channel=channel).get(table.name, ()))
    order = list(sealed)
    there: list[int] = []
    for line in lines:
        id = canonical.key(table, line)[-1]
        there.append(id)
        leaf = canonical.leaf(table, line)[: chain.LEAF_BYTES]
        if id not in sealed:
            code = "inserted"
        elif sealed[id] != leaf:
            code = "changed"
        else:
            continue
        if len(found.findings) - before < NAMED:
            found.find(code, seal.number, _said(table, line))
    for id in [id for id in order if id not in set(there)][:NAMED]:
        found.find("removed", seal.number, f"{table.name} {id}")
    if len(found.findings) == before:
        found.find("seal-changed", seal.number, f"its digest of {table.name} is not that of its rows")


def _said(table: Table, line: bytes) -> str:
    """A row in words."""
    row = canonical.fields(table, line)
    id = row[table.columns[table.keys - 1]]
    what = row.get("event_type") or row.get("command") or f"{row.get('op')} {row.get('name')}"
    return f"{table.name} {id} ({what}, instance {row[table.owner]}, {row['at']})"


def _judge_rest(found: Verification, channel: Channel, known: dict[int, Epoch]) -> None:
    """Rows beyond the last seal are to be sealed yet; none may name a transaction that has not begun."""
    if found.head.epoch not in known:
        return
    _, xmax = ask("horizon", channel=channel)[0]
    share = chain.share(known, found.head.epoch, 0)
    for table in canonical.FORMS[canonical.FORM]:
        where = share.between(table, max(xmax, found.head.xid_until), chain.LAST_TRANSACTION)
        for number, line in enumerate(stored_lines(channel, table, where)):
            if number < NAMED:
                found.find("impossible", 0, _said(table, line))


def _judge_kept(found: Verification, channel: Channel, archives: Sequence[Part]) -> None:
    """What stayed in the database when a month was archived is still there: that archive alone would not show it."""
    for part in {part.month: part for part in archives}.values():
        for name, rows in part.kept.items():
            there = ask("rows_of_month", {"table": name, "month": part.month}, channel=channel)[0][0]
            if there < rows:
                found.find(
                    "removed", 0, f"{rows - there} of the {rows} rows of {name} that stayed of {part.month:%Y-%m}"
                )


def _head(seal: Seal) -> Head:
    return Head(
        number=seal.number,
        epoch=seal.epoch,
        xid_until=seal.xid_until,
        last_sequence=seal.last_sequence,
        last_event=seal.last_event,
        hash=seal.hash,
        sealed_at=seal.sealed_at,
    )
