"""Whether the database is fit to work on: reachable, migrated, with months ahead."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.util import find_spec
from pkgutil import iter_modules

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from bpm.store.schema import AFTER

# The range of each month: "FOR VALUES FROM ('2026-11-01 ...') TO ('2026-12-01 ...')".
PARTITIONS = """
    SELECT pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = to_regclass(%s)
"""


def unapplied_migrations() -> list[str]:
    """The migrations that the code has and the database does not; but those that wait until no older program runs."""
    # Where each is recorded no plan is made: that imports all migrations of all apps anew, every time.
    if MigrationRecorder(connections[DEFAULT_DB_ALIAS]).applied_migrations().keys() >= set(_migrations()):
        return []
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [
        f"{migration.app_label}.{migration.name}"
        for migration, _backwards in plan
        if not (migration.app_label == "bpm" and AFTER.match(migration.name))
    ]


def months_ahead(now: datetime, table: str = "runtime_commit") -> int:
    """How many whole months after the present one have a partition without a gap; -1: not even the present one has."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(PARTITIONS, [table])
        bounds = [str(row[0]) for row in cursor.fetchall()]
    begins = {bound.split("FROM ('", 1)[1][:7] for bound in bounds if "FROM ('" in bound}
    ahead = -1
    month = now.astimezone(UTC).year * 12 + now.astimezone(UTC).month - 1
    while f"{(month + ahead + 1) // 12:04d}-{(month + ahead + 1) % 12 + 1:02d}" in begins:
        ahead += 1
    return ahead


def _migrations() -> Iterator[tuple[str, str]]:
    """App and name of each migration that the code has, as Django's loader finds them."""
    for app in apps.get_app_configs():
        module, _explicit = MigrationLoader.migrations_module(app.label)
        package = find_spec(module) if module else None
        # A module of that name that is no package (pgtrigger has one) has no place to search.
        places = (package and package.submodule_search_locations) or ()
        for _finder, name, is_package in iter_modules(places):
            if not is_package and name[0] not in "_~":
                yield app.label, name
