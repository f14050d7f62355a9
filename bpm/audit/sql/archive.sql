-- name: archives
-- All archived parts.
SELECT number, month, part, address, manifest::text, kept::text FROM runtime_archive ORDER BY month, part;

-- name: archives_with
-- The archived parts that have rows of an instance; none where all of them are in the database as well.
SELECT a.number, a.month, a.part, a.address, a.manifest::text, a.kept::text
FROM runtime_archived_instance i JOIN runtime_archive a ON a.number = i.archive_id
WHERE i.instance_id = %(instance)s::uuid AND EXISTS (
    SELECT FROM runtime_archived_instance x WHERE x.instance_id = %(instance)s::uuid AND NOT x.stayed
)
ORDER BY a.month, a.part;

-- name: commit_partitions
-- The months of history.
SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = to_regclass('runtime_commit') ORDER BY c.relname;

-- name: month_moves
-- Whether a month holds instances that no retention keeps and that no archive has as ended.
SELECT EXISTS (
    SELECT FROM bpm_month_instances(%(month)s::timestamptz, %(said)s::jsonb, %(unsaid)s::boolean) WHERE NOT stays
);

-- name: archiving_alone
-- One archives at a time.
SELECT pg_try_advisory_lock(hashtextextended('tokentrail archive', 0));

-- name: may_archive
-- Whether this role may take a month out.
SELECT has_function_privilege('bpm_replace_month(timestamptz, bigint, jsonb, jsonb, boolean)', 'EXECUTE');

-- name: archiving_over
-- The next one may archive.
SELECT pg_advisory_unlock(hashtextextended('tokentrail archive', 0));

-- name: next_archive
-- The number of the archive that is being made: its instances name it.
SELECT nextval(pg_get_serial_sequence('runtime_archive', 'number'));

-- name: replace_month
-- The one step that takes history out of the database (see the function).
SELECT bpm_replace_month(%(month)s::timestamptz, %(archive)s::bigint, %(rows)s::jsonb, %(said)s::jsonb,
                         %(unsaid)s::boolean)::text;

-- name: add_archive
-- In the transaction that has replaced the partitions.
INSERT INTO runtime_archive (number, month, part, address, manifest, kept, archived_at)
VALUES (%(number)s::bigint, %(month)s::date, %(part)s::integer, %(address)s::text, %(manifest)s::jsonb,
        %(kept)s::jsonb, clock_timestamp());

-- name: retentions
-- What is said of retention, by key.
SELECT key, keep_days FROM runtime_retention ORDER BY key;

-- name: set_retention
-- Say it, or say it anew.
INSERT INTO runtime_retention AS r (key, keep_days, version, commit_version, commit_at)
VALUES (%(key)s::text, %(keep_days)s::integer, 1, %(sequence)s::bigint, %(at)s::timestamptz)
ON CONFLICT (key) DO UPDATE SET keep_days = excluded.keep_days, version = r.version + 1,
    commit_version = excluded.commit_version, commit_at = excluded.commit_at;

-- name: definition_keys
-- All keys.
SELECT DISTINCT key FROM process_definitions;

-- name: rows_of_month
-- How many rows a table of history has of a month.
SELECT CASE %(table)s::text
    WHEN 'runtime_commit' THEN (SELECT count(*) FROM runtime_commit WHERE at >= m.first AND at < m.last)
    WHEN 'token_events' THEN (SELECT count(*) FROM token_events WHERE at >= m.first AND at < m.last)
    WHEN 'external_task_events' THEN (SELECT count(*) FROM external_task_events WHERE at >= m.first AND at < m.last)
    WHEN 'timer_events' THEN (SELECT count(*) FROM timer_events WHERE at >= m.first AND at < m.last)
    WHEN 'work_events' THEN (SELECT count(*) FROM work_events WHERE at >= m.first AND at < m.last)
    WHEN 'engine_events' THEN (SELECT count(*) FROM engine_events WHERE at >= m.first AND at < m.last)
    WHEN 'runtime_state_command' THEN (SELECT count(*) FROM runtime_state_command WHERE at >= m.first AND at < m.last)
END FROM (
    SELECT %(month)s::date::timestamp AT TIME ZONE 'UTC' AS first,
           (%(month)s::date + interval '1 month') AT TIME ZONE 'UTC' AS last
) m;
