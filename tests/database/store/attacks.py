"""Raw SQL that somebody might try who has taken over the application's connection, and what must come of it."""

from __future__ import annotations

from dataclasses import dataclass

NIL = "'00000000-0000-0000-0000-000000000000'"
THIS_MONTH = "(SELECT to_char(bpm_now() AT TIME ZONE 'UTC', '_YYYY_MM'))"


def on_a_month(table: str, statement: str) -> str:
    """The statement with this month of the table in the place of {}."""
    return f"DO $$ BEGIN EXECUTE format('{statement}', '{table}' || {THIS_MONTH}); END $$"


@dataclass(frozen=True, slots=True)
class Attack:
    """`sql` may hold several statements; {thread} is an open instance, {ended} one that has ended. `found`: what
    comes of it, where it can be done."""

    group: str
    words: str
    sql: str
    found: str = ""


SWITCHES = "Switching the rules off"
HISTORY = "History"
STATE = "The state of instances"
OTHERS = "Everything else in the server"
CAN = "What it can do"

NEW_EVENT = """
INSERT INTO token_events (at, instance_id, event_type, token_id, to_state, payload, commit_sequence, ordinal,
                          thread_version, row_version, actor, engine_version, format)
SELECT {at}, instance_id, 'TOKEN_COMPLETED', id, 'COMPLETED', '{{{{}}}}', {sequence}, 99, commit_version, version + 1,
       'nobody', '0', 1
FROM tokens WHERE instance_id = {{thread}} LIMIT 1;
"""

ATTACKS = (
    Attack(SWITCHES, "`ALTER TABLE tokens DISABLE TRIGGER ALL`", "ALTER TABLE tokens DISABLE TRIGGER ALL"),
    Attack(SWITCHES, "`DROP TRIGGER` on a table of history",
           "DO $$ BEGIN EXECUTE (SELECT format('DROP TRIGGER %I ON token_events', tgname) FROM pg_trigger"
           " WHERE tgrelid = 'token_events'::regclass LIMIT 1); END $$"),
    Attack(SWITCHES, "`CREATE TRIGGER` that swallows rows",
           "CREATE TRIGGER swallow BEFORE INSERT ON token_events FOR EACH ROW"
           " EXECUTE FUNCTION suppress_redundant_updates_trigger()"),
    Attack(SWITCHES, "`CREATE RULE ... DO INSTEAD NOTHING`",
           "CREATE RULE swallow AS ON INSERT TO token_events DO INSTEAD NOTHING"),
    Attack(SWITCHES, "another body for a trigger's function",
           "CREATE OR REPLACE FUNCTION bpm_now(p_after timestamptz DEFAULT NULL) RETURNS timestamptz LANGUAGE sql AS"
           " 'SELECT now()'"),
    Attack(SWITCHES, "`SET session_replication_role = replica`", "SET session_replication_role = replica"),
    Attack(SWITCHES, "the same for all its sessions: `ALTER ROLE ... SET session_replication_role`",
           "ALTER ROLE CURRENT_USER SET session_replication_role = replica"),
    Attack(SWITCHES, "pgtrigger's own switch, then a token changed without its event",
           "SELECT set_config('pgtrigger.ignore', (SELECT array_agg(DISTINCT tgname)::text FROM pg_trigger), false);"
           " UPDATE tokens SET step = 'enter', version = version + 1 WHERE instance_id = {thread}"),
    Attack(SWITCHES, "a temporary table in the place of history", "CREATE TEMPORARY TABLE token_events ()"),
    Attack(SWITCHES, "a schema of its own before ours in `search_path`", "CREATE SCHEMA mine"),
    Attack(SWITCHES, "row security that hides rows", "ALTER TABLE tokens ENABLE ROW LEVEL SECURITY"),
    Attack(SWITCHES, "becoming the owner: `SET ROLE`",
           "DO $$ BEGIN EXECUTE format('SET ROLE %I', (SELECT relowner::regrole::text FROM pg_class"
           " WHERE oid = 'tokens'::regclass)); END $$"),
    Attack(HISTORY, "`UPDATE token_events`", "UPDATE token_events SET actor = 'nobody'"),
    Attack(HISTORY, "`UPDATE` of a month directly", on_a_month("token_events", "UPDATE %I SET actor = ''nobody''")),
    Attack(HISTORY, "`DELETE FROM runtime_commit`", "DELETE FROM runtime_commit WHERE thread_id = {thread}"),
    Attack(HISTORY, "`DELETE FROM runtime_state_command`", "DELETE FROM runtime_state_command"),
    Attack(HISTORY, "`TRUNCATE engine_events`", "TRUNCATE engine_events"),
    Attack(HISTORY, "`TRUNCATE` of a month", on_a_month("work_events", "TRUNCATE %I")),
    Attack(HISTORY, "`INSERT` into a month past its table",
           on_a_month("token_events", "INSERT INTO %I SELECT * FROM token_events LIMIT 1")),
    Attack(HISTORY, "detaching a month", on_a_month("token_events", "ALTER TABLE token_events DETACH PARTITION %I")),
    Attack(HISTORY, "`DROP TABLE` of a month", on_a_month("timer_events", "DROP TABLE %I")),
    Attack(HISTORY, "`INSERT ... ON CONFLICT DO UPDATE`",
           "INSERT INTO runtime_commit SELECT * FROM runtime_commit LIMIT 1"
           " ON CONFLICT (sequence, at) DO UPDATE SET actor = 'nobody'"),
    Attack(HISTORY, "`MERGE` that updates",
           "MERGE INTO token_events t USING token_events s ON t.id = s.id AND t.at = s.at"
           " WHEN MATCHED THEN UPDATE SET actor = 'nobody'"),
    Attack(HISTORY, "two commits of one version",
           "INSERT INTO runtime_commit SELECT nextval('runtime_commit_sequence'), at, thread_id, run_id, version,"
           " process_def_id, command, arguments, actor, stated_reason, key, caused_by, events, counters, xid,"
           " engine_version, format FROM runtime_commit WHERE thread_id = {thread} LIMIT 1"),
    Attack(HISTORY, "an event in a month that is not there yet", NEW_EVENT.format(at="now() + interval '9 years'",
           sequence="1")),
    Attack(HISTORY, "`UPDATE process_definitions`", "UPDATE process_definitions SET source = 'another'"),
    Attack(HISTORY, "numbers that come again: `setval`", "SELECT setval('runtime_commit_sequence', 1)"),
    Attack(HISTORY, "taking a month out with the archive's function",
           "SELECT bpm_replace_month('2020-01-01', 1, '{{}}', '{{}}', true)"),
    Attack(STATE, "a token moved without its event",
           "UPDATE tokens SET node_id = 'end', version = version + 1 WHERE instance_id = {thread}"),
    Attack(STATE, "a variable changed without its event",
           "UPDATE variables SET value = '0', version = version + 1 WHERE instance_id = {thread}"),
    Attack(STATE, "a token made without its event",
           "INSERT INTO tokens (id, ordinal, version, commit_version, commit_at, created_at, instance_id, node_id,"
           " state, scope_id, step, local_scope) VALUES (gen_random_uuid(), 99, 1, 1, bpm_now(), bpm_now(), {thread},"
           " 'A', 'ACTIVE', {thread}, 'enter', 0)"),
    Attack(STATE, "an event of its own that explains a token's illegal step",
           NEW_EVENT.format(at="now()", sequence="NULL")
           + "UPDATE tokens SET state = 'DREAMING', version = version + 1, commit_at = now()"
           " WHERE instance_id = {thread}"),
    Attack(STATE, "a token that has ended brought back",
           "UPDATE tokens SET state = 'ACTIVE', version = version + 1 WHERE instance_id = {ended}"),
    Attack(STATE, "the instance's version set back",
           "UPDATE runtime_thread_version SET version = version - 1 WHERE thread_id = {thread}"),
    Attack(STATE, "rows of an open instance deleted", "DELETE FROM external_tasks WHERE instance_id = {thread}"),
    Attack(STATE, "a thread deleted", "DELETE FROM runtime_thread_version WHERE thread_id = {thread}"),
    Attack(STATE, "a row given to another instance",
           "UPDATE variables SET instance_id = {ended}, version = version + 1 WHERE instance_id = {thread}"),
    Attack(STATE, "the rules put off beyond the commit: `SET CONSTRAINTS ALL DEFERRED`",
           "SET CONSTRAINTS ALL DEFERRED;"
           " UPDATE tokens SET node_id = 'end', version = version + 1 WHERE instance_id = {thread}"),
    Attack(STATE, "the clock moved", "SELECT bpm_move_clock('1 hour')"),
    Attack(OTHERS, "a table of its own", "CREATE TABLE mine ()"),
    Attack(OTHERS, "a function of its own", "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'"),
    Attack(OTHERS, "rights for itself: `GRANT ALL`, then `TRUNCATE tokens`",
           "GRANT ALL ON tokens TO CURRENT_USER; TRUNCATE tokens"),
    Attack(OTHERS, "a role of its own", "CREATE ROLE mine SUPERUSER"),
    Attack(OTHERS, "files of the server: `COPY ... FROM`", "COPY api_tokens FROM '/etc/passwd'"),
    Attack(OTHERS, "programs on the server: `COPY ... TO PROGRAM`", "COPY (SELECT 1) TO PROGRAM 'true'"),
    Attack(OTHERS, "an extension taken away", "DROP EXTENSION plpgsql CASCADE"),
    Attack(OTHERS, "migrations forged",
           "INSERT INTO django_migrations (app, name, applied) VALUES ('bpm', 'x', now())"),
    Attack(OTHERS, "settings of the server: `pg_reload_conf()`", "SELECT pg_reload_conf()"),
    Attack(CAN, "read everything, also what people and processes keep secret", "SELECT * FROM variables",
           "give whom should only see some of it a role of its own"),
    Attack(CAN, "add an event that belongs to no commit", NEW_EVENT.format(at="now()", sequence="NULL"),
           "the trace shows that it names no commit; no state is folded from it"),
    Attack(CAN, "add an event to a commit that somebody made",
           NEW_EVENT.format(at="commit_at", sequence="(SELECT max(sequence) FROM runtime_commit WHERE thread_id ="
                            " {thread})"), "`bpm replay` finds it: deciding again gives no such event"),
    Attack(CAN, "make a whole commit with rows and events that fit each other",
           "SELECT bpm_flush(jsonb_build_object('thread', gen_random_uuid(), 'run', gen_random_uuid(), 'version', 1,"
           " 'definition', gen_random_uuid(), 'at', bpm_now(), 'command', 'StartInstance', 'arguments', '{{}}'::jsonb,"
           " 'actor', 'nobody', 'events', 0, 'counters', '{{\"run\": 1}}'::jsonb, 'engine_version', '0', 'format', 1,"
           " 'state', 'RUNNING', 'ended', false, 'new_run', false))",
           "`bpm replay` finds what was not decided so; it stays in history, with its time and transaction"),
    Attack(CAN, "remove rows of an instance that has ended", "DELETE FROM variables WHERE instance_id = {ended}",
           "nothing is lost: history has them"),
    Attack(CAN, "remove receipts", "DELETE FROM runtime_operation_receipt",
           "a command that is asked for again with its key is then done again"),
    Attack(CAN, "make months of history ahead", "SELECT bpm_ensure_partitions(NULL, 1)", "nothing is changed"),
    Attack(CAN, "leave gaps in the numbers of commits", "SELECT nextval('runtime_commit_sequence')",
           "gaps are legal"),
    Attack(CAN, "hold others up for as long as it holds a lock",
           "SELECT FROM runtime_thread_version WHERE thread_id = {thread} FOR UPDATE",
           "commits of that instance answer busy; a session idle in a transaction is ended after a minute"),
)  # fmt: skip
