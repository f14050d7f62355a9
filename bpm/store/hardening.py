"""The rights of the application's role: what the program needs, and nothing with which it could get past the rules.

The owner of the tables migrates and nobody works as it. The role that programs work as may read everything, add to
what only grows, and change what changes; it may not TRUNCATE, make triggers, create anything (no temporary tables
either), reach a month of history but through its table, or run functions with the owner's rights but those named here.
What a table allows is read off the rules that stand on it, so a new table needs no entry here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import LiteralString

from psycopg.sql import SQL, Composed, Identifier

from bpm.store.channel import Channel
from bpm.store.errors import StoreError
from bpm.store.outside import query
from bpm.store.values import dumps

READ, GROW = ("SELECT",), ("SELECT", "INSERT")
NO_DELETE = ("SELECT", "INSERT", "UPDATE")
CHANGE = ("SELECT", "INSERT", "UPDATE", "DELETE")
# A rule on a table -> what it leaves the role; the first that a table has counts, and without one it is another app's.
BY_RULE: Mapping[str, tuple[str, ...]] = {"append_only": GROW, "immutable": GROW, "never_deleted": NO_DELETE}
# Written by the owner, its functions, or a superuser's tests.
READ_ONLY = frozenset({"django_migrations", "runtime_clock_offset", "runtime_seal_epoch"})
# Functions with the owner's rights that the role may call: they only make what is missing.
CALLABLE = frozenset({"bpm_ensure_partitions", "bpm_open_epoch"})
_ATTRIBUTES = ("SUPERUSER", "CREATEROLE", "CREATEDB", "REPLICATION", "BYPASSRLS")


class CannotHarden(StoreError):
    """The role is, or has, what grants cannot take away. `reasons` lists it."""

    def __init__(self, role: str, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(f"{role} cannot be the application's role: {'; '.join(reasons)}")


@dataclass(frozen=True, slots=True)
class Grants:
    """What the role is to have: `tables` by name, and the statements that bring it about."""

    role: str
    tables: Mapping[str, tuple[str, ...]]
    statements: tuple[Composed, ...]


def grants(role: str, *, channel: Channel) -> Grants:
    """The rights of the role, for the tables that there are."""
    tables = {
        name: READ if kind == "v" else _rights(name, rules) for name, kind, rules in query(channel, "hardening_tables")
    }
    functions = query(channel, "hardening_functions")
    schema, database = query(channel, "hardening_home")[0]
    names = {"role": Identifier(role), "schema": Identifier(schema), "database": Identifier(database)}
    return Grants(role, tables, tuple(_statements(names, tables, functions)))


def harden(role: str, *, channel: Channel) -> Grants:
    """Give the role its rights and take all others, in one transaction; as the owner of the tables. The role is made,
    without a password, where there is none.

    Raises CannotHarden: then nothing has changed. psycopg.Error where who asks may not grant.
    """
    with channel.raw.transaction():
        if not query(channel, "hardening_role", {"role": role}):
            channel.raw.execute(SQL("CREATE ROLE {} LOGIN").format(Identifier(role)))
        reasons = _obstacles(role, channel)
        if reasons:
            raise CannotHarden(role, reasons)
        given = grants(role, channel=channel)
        for statement in given.statements:
            channel.raw.execute(statement)
        excess = query(channel, "hardening_excess", {"role": role, "granted": dumps(given.tables)})
        if excess:
            raise CannotHarden(role, [f"it has {right} on {name} all the same" for name, right in excess])
    return given


def _obstacles(role: str, channel: Channel) -> list[str]:
    *attributes, owner, memberships, replication = query(channel, "hardening_role", {"role": role})[0]
    found = [f"it is {name}" for name, has in zip(_ATTRIBUTES, attributes, strict=True) if has]
    if found[:1] == ["it is SUPERUSER"]:
        return found  # a superuser is everything else, too
    if owner:
        found.append("it owns the tables, or is a member of who does")
    found += [f"it is a member of {name}" for name in memberships]
    if replication:
        found.append("it may set session_replication_role")
    return found


def _rights(name: str, rules: Iterable[str]) -> tuple[str, ...]:
    if name in READ_ONLY:
        return READ
    return next((rights for rule, rights in BY_RULE.items() if rule in set(rules)), CHANGE)


# No name is given to everybody, and none is left from before.
_FIRST: tuple[LiteralString, ...] = (
    "REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC",
    "REVOKE TEMPORARY, CREATE ON DATABASE {database} FROM PUBLIC",
    "REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {role}",
    "REVOKE ALL ON ALL SEQUENCES IN SCHEMA {schema} FROM {role}",
    "REVOKE ALL ON SCHEMA {schema} FROM {role}",
    "REVOKE ALL ON DATABASE {database} FROM {role}",
    "GRANT CONNECT ON DATABASE {database} TO {role}",
    "GRANT USAGE ON SCHEMA {schema} TO {role}",
    # USAGE takes the next number; setting one back would take UPDATE.
    "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {role}",
)


def _statements(
    names: Mapping[str, Identifier], tables: Mapping[str, tuple[str, ...]], functions: Iterable[tuple[str, str]]
) -> Iterator[Composed]:
    for text in _FIRST:
        yield SQL(text).format(**names)
    for table, rights in tables.items():
        listed = SQL(", ").join([SQL(right) for right in rights])
        yield SQL("GRANT {} ON TABLE {} TO {}").format(listed, Identifier(table), names["role"])
    for signature, name in functions:
        # PostgreSQL's own words, quoted where they must be.
        function = SQL(signature)
        yield SQL("REVOKE ALL ON FUNCTION {} FROM PUBLIC, {}").format(function, names["role"])
        if name in CALLABLE:
            yield SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(function, names["role"])
