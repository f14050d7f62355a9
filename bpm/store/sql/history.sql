-- name: commits_of_thread
-- The thread's own commits and those of the nil thread (locks) that touched its tasks, in order. From the start of the
-- instance on, so that only the months that can matter are read.
SELECT sequence, thread_id, run_id, version, process_def_id, command, arguments::text, at, actor, stated_reason, key,
       caused_by
FROM runtime_commit
WHERE at >= %(since)s::timestamptz AND thread_id = %(thread)s::uuid
UNION ALL
SELECT c.sequence, c.thread_id, c.run_id, c.version, c.process_def_id, c.command, c.arguments::text, c.at, c.actor,
       c.stated_reason, c.key, c.caused_by
FROM runtime_commit c
WHERE c.at >= %(since)s::timestamptz AND c.thread_id = '00000000-0000-0000-0000-000000000000' AND c.sequence IN (
    SELECT commit_sequence FROM external_task_events
    WHERE instance_id = %(thread)s::uuid AND at >= %(since)s::timestamptz
)
ORDER BY sequence;

-- name: events_of_thread
-- All history of a thread in commit order.
SELECT to_jsonb(e)::text FROM runtime_event e
WHERE e.thread_id = %(thread)s::uuid AND e.at >= %(since)s::timestamptz
ORDER BY e.commit_sequence, e.ordinal;

-- name: start_of_thread
-- The time of the thread's first commit: by the instance's row, and by the log where that is swept.
SELECT coalesce(
    (SELECT started_at FROM process_instances WHERE id = %(thread)s::uuid),
    (SELECT min(at) FROM runtime_commit WHERE thread_id = %(thread)s::uuid AND version = 1)
);

-- name: whole_state
-- Everything of an instance, from its runtime rows, in one statement and so in one snapshot.
SELECT jsonb_build_object(
    'instance', (SELECT jsonb_agg(to_jsonb(x)) FROM process_instances x WHERE x.id = %(thread)s::uuid),
    'token', (SELECT jsonb_agg(to_jsonb(x)) FROM tokens x WHERE x.instance_id = %(thread)s::uuid),
    'link', (SELECT jsonb_agg(to_jsonb(x)) FROM token_links x WHERE x.instance_id = %(thread)s::uuid),
    'task', (SELECT jsonb_agg(to_jsonb(x)) FROM external_tasks x WHERE x.instance_id = %(thread)s::uuid),
    'timer', (SELECT jsonb_agg(to_jsonb(x)) FROM timers x WHERE x.instance_id = %(thread)s::uuid),
    'user_task', (SELECT jsonb_agg(to_jsonb(x)) FROM user_tasks x WHERE x.instance_id = %(thread)s::uuid),
    'ticket', (SELECT jsonb_agg(to_jsonb(x)) FROM runtime_wait_ticket x WHERE x.instance_id = %(thread)s::uuid),
    'incident', (SELECT jsonb_agg(to_jsonb(x)) FROM incidents x WHERE x.instance_id = %(thread)s::uuid),
    'variable', (SELECT jsonb_agg(to_jsonb(x)) FROM variables x WHERE x.instance_id = %(thread)s::uuid),
    'header', (SELECT to_jsonb(x) FROM runtime_thread_version x WHERE x.thread_id = %(thread)s::uuid)
)::text;

-- name: ledger
-- A page of the log, for comparing two runtimes on one database.
SELECT sequence, thread_id, run_id FROM runtime_commit
WHERE sequence > %(after)s::bigint ORDER BY sequence LIMIT %(limit)s::integer;

-- name: thread_versions
-- A page of the threads as they stand.
SELECT thread_id, version FROM runtime_thread_version
WHERE thread_id > %(after)s::uuid ORDER BY thread_id LIMIT %(limit)s::integer;

-- name: version_of_thread
-- How many commits the thread has; a read without a lock, so it may be old when it is looked at.
SELECT version, last_at FROM runtime_thread_version WHERE thread_id = %(thread)s::uuid;

-- name: receipt_of_thread
-- What a command with a key did: how a caller whose connection was lost learns whether it was done.
SELECT result::text FROM runtime_operation_receipt
WHERE instance_id = %(thread)s::uuid AND actor = %(actor)s::text AND key = %(key)s::text;
