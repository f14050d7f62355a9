"""What each `migrate` finishes with: the off-switch of pgtrigger taken away from our triggers, the planner settings of
the event rule, and partitions for the months to come.

pgtrigger's functions first ask `_pgtrigger_should_ignore`, which reads the setting `pgtrigger.ignore` that any role may
set; every AddTrigger puts its old body back. Here it is replaced by one that knows no mercy for triggers of ours and
answers as before for those of other apps.
"""

from __future__ import annotations

from typing import Any

from django.db import connections
from pgtrigger import features

# Ours are never ignored; the first condition alone decides for them.
NEVER_IGNORED = """
CREATE OR REPLACE FUNCTION "{schema}"._pgtrigger_should_ignore(trigger_name name) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT trigger_name::text NOT LIKE 'pgtrigger\\_tokentrail\\_%'
       AND trigger_name::text = ANY (coalesce(nullif(current_setting('pgtrigger.ignore', true), ''), '{{}}')::text[])
$$
"""

# A month that fills has no statistics yet; without this a cached plan may scan it.
BY_INDEX = """
DO $do$
DECLARE
    f regprocedure;
BEGIN
    FOR f IN
        SELECT DISTINCT t.tgfoid::regprocedure FROM pg_trigger t
        WHERE t.tgname LIKE 'pgtrigger\\_tokentrail\\_%' AND t.tgdeferrable AND t.tgparentid = 0
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET enable_seqscan = off', f);
    END LOOP;
END
$do$
"""


def finish_migration(sender: Any, using: str, **_: Any) -> None:
    """post_migrate: after our own migrations, and after pgtrigger's app, which may have reinstalled triggers."""
    if sender.label not in ("bpm", "pgtrigger"):
        return
    connection = connections[using]
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('runtime_commit'), to_regproc('bpm_ensure_partitions')")
        tables, functions = cursor.fetchone()
        if tables is None:
            return
        cursor.execute(NEVER_IGNORED.format(schema=features.schema() or "public"))
        cursor.execute(BY_INDEX)
        if functions:
            cursor.execute("SELECT bpm_ensure_partitions(NULL, 3)")
