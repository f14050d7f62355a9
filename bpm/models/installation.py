"""What each `migrate` finishes with: the off-switch of pgtrigger taken away from our triggers, the settings under which
their functions look rows up, and partitions for the months to come.

pgtrigger's functions first ask `_pgtrigger_should_ignore`, which reads the setting `pgtrigger.ignore` that any role may
set; every AddTrigger puts its old body back. Here it is replaced by one that knows no mercy for triggers of ours and
answers as before for those of other apps.

A rule that looks rows up would look into a temporary table of the same name, which any session may make, or a table of
another schema: its function finds names in the owner's schema alone.
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

# A month that fills has no statistics yet; without enable_seqscan off a cached plan may scan it. And the plan for all
# months seems dearer than one for the month at hand, which would be made anew for each row.
LOOKED_UP = """
DO $do$
DECLARE
    f record;
BEGIN
    FOR f IN
        SELECT DISTINCT t.tgfoid::regprocedure AS name, t.tgdeferrable FROM pg_trigger t
        JOIN pg_proc p ON p.oid = t.tgfoid
        WHERE t.tgname LIKE 'pgtrigger\\_tokentrail\\_%' AND t.tgparentid = 0 AND p.prosrc ~ 'EXISTS \\(SELECT FROM'
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', f.name, current_schema());
        IF f.tgdeferrable THEN
            EXECUTE format('ALTER FUNCTION %s SET enable_seqscan = off', f.name);
            EXECUTE format('ALTER FUNCTION %s SET plan_cache_mode = force_generic_plan', f.name);
        END IF;
    END LOOP;
END
$do$
"""
# A month more than schema.verify asks for: the first of a month is no alarm.
MONTHS_AHEAD = 4


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
        cursor.execute(LOOKED_UP)
        if functions:
            cursor.execute("SELECT bpm_ensure_partitions(NULL, %s)", [MONTHS_AHEAD])
