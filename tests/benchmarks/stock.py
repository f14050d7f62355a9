"""Instances in amounts: one that the engine made is copied as often as wanted, row by row, past the triggers.

Copies have the runtime rows of the one they are copies of and no history (`bpm generate` makes that); the engine goes
on with them as with any other, and from there on every rule of the database holds again. Only what is *done* with
copies is measured, never their making.
"""

from __future__ import annotations

from uuid import UUID

from django.db import connection
from django.db.backends.utils import CursorWrapper

from bpm.store import ids
from bpm.store.rows import row_id

# The tables of a running instance, with the columns that PostgreSQL computes itself left out by the catalogue.
TABLES = (
    "runtime_thread_version",
    "process_instances",
    "runtime_run_record",
    "tokens",
    "external_tasks",
    "timers",
    "user_tasks",
    "variables",
    "runtime_wait_ticket",
    "incidents",
    "token_links",
)
_THREAD = {"runtime_thread_version": "thread_id", "process_instances": "id", "runtime_run_record": "thread_id"}
_DERIVED = {"variables": "scope, name", "token_links": "parent_token_id, child_token_id, link_type"}
_COLUMNS = """
    SELECT column_name, udt_name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position
"""
# Every id of an entity is its instance's with an ordinal at the end; what is no such id is made of it and the number.
_OWN = """CASE WHEN {0} IS NULL THEN NULL
    WHEN left({0}::text, 28) = %(prefix)s THEN (k.prefix || right({0}::text, 8))::uuid
    WHEN {0} = %(definition)s::uuid THEN {0}
    ELSE md5(k.n || {0}::text)::uuid END"""


def copies(
    instance: UUID,
    count: int,
    *,
    group: str = "0001",
    first: int = 1,
    overrides: dict[str, dict[str, str]] | None = None,
) -> None:
    """So many copies, numbered from `first` on, under ids made of group and number (`copied`). `overrides`: table ->
    column -> SQL over k.n (the copy's number) instead of the value.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT process_def_id FROM process_instances WHERE id = %s", [instance])
        definition = cursor.fetchone()[0]
        about = {"instance": instance, "prefix": str(instance)[:28], "definition": definition}
        about |= {"first": first, "last": first + count - 1}
        cursor.execute("BEGIN")
        cursor.execute("SET LOCAL session_replication_role = replica")
        for table in TABLES:
            cursor.execute(_COLUMNS, [table])
            columns = cursor.fetchall()
            own = (overrides or {}).get(table, {})
            values = [own.get(name) or (_OWN.format(f"x.{name}") if kind == "uuid" else f"x.{name}")
                      for name, kind in columns]  # fmt: skip
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(name for name, _ in columns)}) SELECT {', '.join(values)}"
                f" FROM {table} x CROSS JOIN (SELECT n, '0000bbbb-{group}-7000-8' || substr(d, 1, 3) || '-' ||"
                " substr(d, 4, 4) AS prefix FROM (SELECT n, lpad(n::text, 7, '0') AS d"
                " FROM generate_series(%(first)s, %(last)s) n) a) k"
                f" WHERE x.{_THREAD.get(table, 'instance_id')} = %(instance)s",
                about,
            )
        for table, key in _DERIVED.items():
            if "id" not in (overrides or {}).get(table, {}):
                _derive(cursor, table, key, f"0000bbbb-{group}-%")
        cursor.execute("COMMIT")
    settle()


def _derive(cursor: CursorWrapper, table: str, key: str, like: str) -> None:
    """Give rows whose ids the store makes of what they are about (a variable's name, say) those ids."""
    cursor.execute(f"SELECT id, instance_id, {key} FROM {table} WHERE instance_id::text LIKE %s", [like])
    rows = cursor.fetchall()
    kind = "variable" if table == "variables" else "link"
    made = [row_id(instance, kind, tuple(ids.ordinal(p) if isinstance(p, UUID) else p for p in parts))
            for _, instance, *parts in rows]  # fmt: skip
    cursor.execute(
        f"UPDATE {table} t SET id = n.made FROM unnest(%s::uuid[], %s::uuid[]) AS n(id, made) WHERE t.id = n.id",
        [[row[0] for row in rows], made],
    )


def copied(number: int, *, group: str = "0001") -> UUID:
    """The id of the copy of that number."""
    digits = f"{number:07}"
    return UUID(f"0000bbbb-{group}-7000-8{digits[:3]}-{digits[3:]}00000000")


def settle() -> None:
    """What autovacuum would have done by and by, so that it does not come in the middle."""
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"VACUUM ANALYZE {table}")


def count(statement: str, *arguments: object) -> int:
    """The number that a statement tells."""
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        return int(cursor.fetchone()[0] or 0)


def multiply_tasks(count: int) -> None:
    """So many more tasks, each with a token of its own, beside the one task of the one instance there is."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SET LOCAL session_replication_role = replica")
        for table, last in (("tokens", 1), ("external_tasks", 0)):
            cursor.execute(_COLUMNS, [table])
            columns = [name for name, _ in cursor.fetchall()]
            pattern = "external_tasks" if table == "external_tasks" else "tokens"
            number = f"2 * n + {1_000_000 + last}"
            own = {
                "id": f"(left(x.id::text, 28) || lpad(to_hex({number}), 8, '0'))::uuid",
                "ordinal": number,
                "token_id": f"(left(x.id::text, 28) || lpad(to_hex(2 * n + {1_000_001}), 8, '0'))::uuid",
            }
            where = "" if pattern == "external_tasks" else "WHERE x.id = (SELECT token_id FROM external_tasks LIMIT 1)"
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) SELECT"
                f" {', '.join(own.get(name) or f'x.{name}' for name in columns)}"
                f" FROM {pattern} x CROSS JOIN generate_series(1, %s) n {where}",
                [count],
            )
        cursor.execute("COMMIT")
    settle()
