"""examples/sharded on two PostgreSQL servers: instances live where their ids say, and no statement touches two of them.

That is read off the servers' own logs of all statements with their parameters. A statement names an instance where a
parameter holds its id or that of one of its entities. An address on an envelope is no touch: who sent a message, who is
to receive it, who called. Fetching and the sweep of locks that ran out may take tasks of many (law 5), and what only
reads may read many: lists, and the audit's sample.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from bpm.store import ids
from config.postgres import THROW_AWAY, Postgres
from config.processes import Warden
from tests.servers import POSTGRES_VERSION

ROOT = Path(__file__).resolve().parents[2]
SHARDS = ("shard0", "shard1")
PATIENCE = 120.0

# Parcels and their recipients; the business keys of both lie on either shard.
SENT = {f"P-{number}": recipient for number, recipient in enumerate(["Ada", "Bea", "Cleo", "Dora"] * 2, start=1)}
STORY = """
from django.db import Error, transaction
from bpm import engine
from parcels.models import Parcel
from parcels.sending import pay_parcel, send_parcel
from sharded import verbs
from sharded.shards import SHARDS, OtherShard, shard_for, shard_of, using

sent = {sent!r}
parcels = [send_parcel(number, "Zoe", recipient) for number, recipient in sent.items()]
again = [verbs.start("parcel", number, {{"recipient": recipient}}, actor="Zoe") for number, recipient in sent.items()]
assert [record.repeated for record in again] == [True] * len(parcels)
assert [record.thread_id for record in again] == [parcel.instance for parcel in parcels]
assert [shard_of(parcel.instance) for parcel in parcels] == [shard_for(number) for number in sent]

# Nothing ties two shards together, and nothing happens where none was chosen.
here, there = SHARDS
try:
    with using(here), transaction.atomic(), using(there):
        print("one transaction on two shards")
except OtherShard:
    pass
try:
    engine.start("parcel", actor="Zoe")
    print("started nowhere")
except Error:
    pass

# A worker of all shards: each call begins with the next one, and an id finds its shard.
both = [verbs.fetch_and_lock(["parcels.weigh"], worker="scales") for _ in SHARDS]
assert {{shard_of(task.id) for (task,) in both}} == set(SHARDS)
assert len(more := verbs.fetch_and_lock(["parcels.weigh"], worker="scales", max=100)) == len(sent) - 2
for task in [task for (task,) in both] + more:
    verbs.complete_task(task.id, worker="scales", variables={{"grams": 100}})
for number in sent:
    pay_parcel(number, "Zoe")
"""
SITE = """
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
client = Client(headers={"host": "localhost"})
client.force_login(User.objects.create_superuser("eve"))
print(client.get("/cockpit/instances/").content.decode())
call_command("bpm", "replay", "--all")
"""


@dataclass(frozen=True)
class Statement:
    """A statement of a server's log: what it says, without its comment, and its parameters."""

    text: str
    parameters: tuple[Any, ...]

    def named(self) -> set[str]:
        """All ids in it."""
        return {str(id) for id in found(self.text)} | set(chain(*(spoken_of(value, ()) for value in self.parameters)))

    def touched(self) -> set[str]:
        """The ids in it but for addresses on envelopes."""
        return set(chain(*(spoken_of(value, ADDRESSES) for value in self.parameters))) | found(self.text)


ADDRESSES = ("sender", "target", "receivers", "caller")
CHANGES = re.compile(r"\b(INSERT|UPDATE|DELETE|bpm_(?!now|sees)\w+)\b")
MAY_TAKE_MANY = ("external_tasks", "SKIP LOCKED")


def found(text: str) -> set[str]:
    """The instances that a text names, also by an id of one of their entities."""
    every = re.findall(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", text)
    return {str(ids.instance_of(UUID(id))) for id in every}


def spoken_of(value: Any, but: tuple[str, ...]) -> Iterator[str]:
    """The ids in a JSON value, without what stands under these keys."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in but:
                yield from spoken_of(inner, but)
    elif isinstance(value, list):
        for inner in value:
            yield from spoken_of(inner, but)
    elif isinstance(value, str):
        yield from found(value)


def statements(log: str) -> Iterator[Statement]:
    """What a log says was executed. Its lines begin with a time; a statement's further lines with a tab."""
    entry = r"^\d{4}-\d\d-\d\d [^\n]*?\] (?:LOG:  (?:execute [^:]+|statement): |DETAIL:  Parameters: )"
    parts = re.split(r"^(?=\d{4}-\d\d-\d\d )", log, flags=re.MULTILINE)
    texts = [(part, re.match(entry, part)) for part in parts]
    said = [(part[match.end() :], "DETAIL" in match.group()) for part, match in texts if match is not None]
    for (text, is_detail), (after, has_detail) in zip(said, [*said[1:], ("", False)], strict=True):
        if not is_detail:
            values = re.findall(r"\$\d+ = '((?:[^']|'')*)'", after) if has_detail else []
            yield Statement(re.sub(r"--[^\n]*", "", text), tuple(read(value.replace("''", "'")) for value in values))


def read(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


@dataclass(frozen=True)
class Town:
    """The example on its two servers."""

    servers: tuple[Postgres, Postgres]

    def manage(self, *arguments: str, shard: str | None = None) -> str:
        """Run manage.py, for one shard or for all; what it printed."""
        environment = {
            **{name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")},
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "DATABASE_URLS": " ".join(server.url("parcels") for server in self.servers),
            **({"SHARD": shard} if shard else {}),
        }
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT / "examples" / "sharded",
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def ask(self, place: int, statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.servers[place].url("parcels")) as connection:
            return connection.execute(statement).fetchall()

    def instances(self, place: int) -> set[str]:
        """All instances that any row on this server belongs to."""
        columns = self.ask(
            place,
            """SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables
               USING (table_schema, table_name) WHERE column_name IN ('instance_id', 'thread_id')
               AND table_schema = 'public' AND table_type = 'BASE TABLE'""",
        )
        assert len(columns) > 20
        every = " UNION ".join(f"SELECT {column}::text FROM {table}" for table, column in columns)
        return {id for (id,) in self.ask(place, every) if id} - {str(ids.NIL)}

    def statements(self, place: int) -> list[Statement]:
        """What the server logged of the database of its shard."""
        return list(statements(self.servers[place].log.read_text(errors="replace")))


@pytest.fixture(scope="module")
def town(postgres: Postgres, warden: Warden, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """All of the story: both servers have the tables, parcels were sent over both shards and all have arrived."""
    folder = tmp_path_factory.mktemp("second")
    # A socket's path is short, wherever temporary files lie.
    second = Postgres(folder, postgres.sockets.with_name("run2"), warden, version=POSTGRES_VERSION, options=THROW_AWAY)
    second.start()
    town = Town((postgres, second))

    def deploy(place: int) -> str:
        told = town.manage("bpm", "deploy", "parcels/processes", shard=SHARDS[place])
        with psycopg.connect(town.servers[place].url("parcels"), autocommit=True) as connection:
            connection.execute("ALTER DATABASE parcels SET log_statement = 'all'")
        return told

    try:
        for server in town.servers:
            server.create_database("parcels")
        town.manage("migrate", "-v0", shard="shard0")
        # As a shard moves to a server of its own; it also takes a third of the time of migrating.
        dumped = subprocess.run(
            [postgres.binaries / "pg_dump", postgres.url("parcels")], capture_output=True, check=True
        )
        restore = [postgres.binaries / "psql", "--quiet", "--set=ON_ERROR_STOP=1", second.url("parcels")]
        subprocess.run(restore, input=dumped.stdout, capture_output=True, check=True)
        with ThreadPoolExecutor(2) as both:
            assert all("parcel version 1: deployed" in told for told in both.map(deploy, (0, 1)))
        assert town.manage("shell", "--verbosity=0", "--command", STORY.format(sent=SENT)) == ""
        town.manage("work", "--until-done")
        yield town
    finally:
        second.stop()


def test_the_reading_of_a_log_notices_what_spans_two_instances():
    one, two = ids.new_instance(), ids.new_instance()
    when = "2030-01-01 00:00:00.000 UTC [7] "
    log = (
        f"{when}LOG:  execute tokentrail_1: -- no INSERT\n\tUPDATE tokens SET state = $1 WHERE id IN ($2, $3)\n"
        f"{when}DETAIL:  Parameters: $1 = 'it''s', $2 = '{ids.entity(one, 5)}', $3 = '{ids.entity(two, 6)}'\n"
        f"{when}LOG:  statement: SELECT 1\n{when}LOG:  checkpoint starting: {one}\n"
        f"{when}LOG:  execute <unnamed>: SELECT bpm_flush($1)\n"
        f"""{when}DETAIL:  Parameters: $1 = '{{"thread": "{one}", "message": [{{"target": "{two}"}}]}}'\n"""
    )
    update, select, flush = statements(log)
    assert CHANGES.findall(update.text) == ["UPDATE"]
    assert update.parameters[0] == "it's"
    assert update.touched() == update.named() == flush.named() == {str(one), str(two)}
    assert flush.touched() == {str(one)}
    assert not CHANGES.search(select.text)


def test_every_parcel_arrived_and_every_recipient_heard_of_it_once(town):
    lines = [line.split() for line in town.manage("processes").splitlines()]
    assert {state for *_, state, _ in lines} == {"COMPLETED"}
    ran = sorted((process, key) for _, process, key, *_ in lines)
    expected = [(process, number) for number in SENT for process in ("carry", "parcel")]
    assert ran == sorted([*expected, *(("notice", recipient) for recipient in SENT.values())])
    lives = {key: shard for shard, process, key, *_ in lines if process in ("parcel", "notice")}
    crossed = {(lives[number], lives[recipient]) for number, recipient in SENT.items()}
    assert len(crossed) == 4, "no message went each way"
    for number in SENT:
        assert {shard for shard, _, key, *_ in lines if key == number} == {lives[number]}, "a call left its shard"


def test_an_instance_lives_where_its_id_says_with_every_row(town):
    both = [town.instances(place) for place in (0, 1)]
    assert all(len(mine) > len(SENT) for mine in both)
    for place, mine in enumerate(both):
        assert {(UUID(id).int >> 32 & 0xFFFF) % 2 for id in mine} == {place}


def test_what_was_deployed_alike_has_the_same_ids(town):
    ids_of = "SELECT key, id FROM process_definitions ORDER BY key"
    assert town.ask(0, ids_of) == town.ask(1, ids_of)


@pytest.mark.parametrize("place", [0, 1])
def test_no_statement_names_an_instance_of_the_other_server(town, place):
    others = town.instances(1 - place)
    assert [statement for statement in town.statements(place) if statement.named() & others] == []


@pytest.mark.parametrize("place", [0, 1])
def test_no_statement_touches_two_instances(town, place):
    mine, every = town.instances(place), town.statements(place)
    assert sum(len(statement.touched() & mine) == 1 for statement in every) > 50
    changing = [statement for statement in every if CHANGES.search(statement.text)]
    for word in ("bpm_flush", "bpm_settle"):
        assert any(word in statement.text for statement in changing)
    spanning = [statement for statement in changing if len(statement.touched() & mine) > 1]
    assert [one for one in spanning if not all(word in one.text for word in MAY_TAKE_MANY)] == []


@pytest.mark.parametrize("place", [0, 1])
def test_no_transaction_wrote_rows_of_two_instances(town, place):
    """The same of the rows: what each transaction wrote, but for fetches."""
    tables = [table for (table,) in town.ask(
        place,
        """SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'instance_id'
           WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition""",
    )]  # fmt: skip
    written = " UNION ALL ".join(f"SELECT xmin::text AS xid, instance_id FROM {table}" for table in tables)
    spans = f"""SELECT xid FROM ({written}) AS written WHERE instance_id <> '{ids.NIL}'
                AND xid NOT IN (SELECT xid::text FROM runtime_commit WHERE command = 'FetchAndLock')
                GROUP BY xid HAVING count(DISTINCT instance_id) > 1"""
    assert town.ask(place, spans) == []


def test_each_shard_is_a_whole_site(town):
    """Its cockpit lists its own instances, and its history proves them."""
    told = town.manage("shell", "--verbosity=0", "--command", SITE, shard="shard1")
    page, replayed = told.split("</html>")
    assert found(page) & town.instances(1)
    assert not found(page) & town.instances(0)
    assert replayed.endswith("; 0 with problems")
