-- name: own_commits
-- A page of an instance's own commits, by version: their index leads there in each month, and versions have no gaps.
SELECT to_jsonb(c)::text FROM (
    SELECT sequence, thread_id, run_id, version, process_def_id, command, arguments, at, actor, stated_reason, key,
           caused_by, engine_version, format
    FROM runtime_commit
    WHERE thread_id = %(thread)s::uuid AND at >= %(since)s::timestamptz AND version > %(after)s::bigint
    ORDER BY version LIMIT %(limit)s::integer
) c;

-- name: commits_numbered
-- Commits by their sequence: those of the nil thread (locks) that events of an instance name.
SELECT to_jsonb(c)::text FROM (
    SELECT sequence, thread_id, run_id, version, process_def_id, command, arguments, at, actor, stated_reason, key,
           caused_by, engine_version, format
    FROM runtime_commit WHERE sequence = ANY(%(sequences)s::bigint[]) AND at >= %(since)s::timestamptz
    ORDER BY sequence
) c;

-- name: events_between
-- The events of an instance in a range of commits, in order. What became of a message is no part of its sender's state.
SELECT to_jsonb(e)::text FROM (
    SELECT commit_sequence, ordinal, event_type, entity, entity_id, token_id, node_id, from_state, to_state, reason,
           worker_id, error, scope, name, value, payload, format
    FROM runtime_event
    WHERE thread_id = %(thread)s::uuid AND at >= %(since)s::timestamptz
      AND commit_sequence > %(after)s::bigint AND commit_sequence <= %(until)s::bigint
      AND (entity <> 'message' OR event_type = 'MESSAGE_SENT')
    ORDER BY commit_sequence, ordinal
) e;

-- name: threads_after
-- A page of instances, by id.
SELECT thread_id FROM runtime_thread_version WHERE thread_id > %(after)s::uuid
ORDER BY thread_id LIMIT %(limit)s::integer;

-- name: threads_of_definitions
-- A page of the instances that began as one of these definitions, by id.
SELECT thread_id FROM runtime_commit
WHERE version = 1 AND thread_id > %(after)s::uuid AND process_def_id = ANY(%(definitions)s::uuid[])
ORDER BY thread_id LIMIT %(limit)s::integer;

-- name: threads_sampled
-- Instances at random: whole pages of the table, so that what is read does not grow with it.
SELECT thread_id FROM runtime_thread_version TABLESAMPLE SYSTEM (%(percent)s::real) LIMIT %(limit)s::integer;

-- name: threads_estimated
-- About how many instances history knows: counting them would read them all.
SELECT greatest(reltuples, 0)::bigint, pg_relation_size(oid) FROM pg_class
WHERE oid = to_regclass('runtime_thread_version');

-- name: definitions_of_key
-- The versions of a key, newest first.
SELECT id, version FROM process_definitions WHERE key = %(key)s::text ORDER BY version DESC;

-- name: commits_of_threads
-- The own commits of many small instances: one statement is planned once for all of them.
SELECT to_jsonb(c)::text FROM (
    SELECT sequence, thread_id, run_id, version, process_def_id, command, arguments, at, actor, stated_reason, key,
           caused_by, engine_version, format
    FROM runtime_commit WHERE thread_id = ANY(%(threads)s::uuid[]) AND at >= %(since)s::timestamptz
) c;

-- name: events_of_threads
-- Their events, by instance. What became of a message is no part of its sender's state.
SELECT to_jsonb(e)::text FROM (
    SELECT thread_id, commit_sequence, ordinal, event_type, entity, entity_id, token_id, node_id, from_state, to_state,
           reason, worker_id, error, scope, name, value, payload, format
    FROM runtime_event
    WHERE thread_id = ANY(%(threads)s::uuid[]) AND at >= %(since)s::timestamptz AND commit_sequence IS NOT NULL
      AND (entity <> 'message' OR event_type = 'MESSAGE_SENT')
) e;

-- name: whole_states
-- Everything of many instances from their runtime rows; one that was swept has none.
SELECT t.id, jsonb_build_object(
    'instance', (SELECT jsonb_agg(to_jsonb(x)) FROM process_instances x WHERE x.id = t.id),
    'token', (SELECT jsonb_agg(to_jsonb(x)) FROM tokens x WHERE x.instance_id = t.id),
    'link', (SELECT jsonb_agg(to_jsonb(x)) FROM token_links x WHERE x.instance_id = t.id),
    'task', (SELECT jsonb_agg(to_jsonb(x)) FROM external_tasks x WHERE x.instance_id = t.id),
    'timer', (SELECT jsonb_agg(to_jsonb(x)) FROM timers x WHERE x.instance_id = t.id),
    'user_task', (SELECT jsonb_agg(to_jsonb(x)) FROM user_tasks x WHERE x.instance_id = t.id),
    'ticket', (SELECT jsonb_agg(to_jsonb(x)) FROM runtime_wait_ticket x WHERE x.instance_id = t.id),
    'incident', (SELECT jsonb_agg(to_jsonb(x)) FROM incidents x WHERE x.instance_id = t.id),
    'variable', (SELECT jsonb_agg(to_jsonb(x)) FROM variables x WHERE x.instance_id = t.id),
    'header', (SELECT to_jsonb(x) FROM runtime_thread_version x WHERE x.thread_id = t.id)
)::text
FROM unnest(%(threads)s::uuid[]) AS t(id) WHERE EXISTS (SELECT FROM process_instances p WHERE p.id = t.id);
