-- name: resume
-- The first round trip of a step whose caller holds the state: BEGIN stands before it in the same pipeline.
SELECT bpm_resume($1::uuid, $2::jsonb)::text;

-- name: take_up
-- The same where the state that is held answers everything but how its tasks are locked.
SELECT bpm_take_up($1::uuid, $2::bigint, $3::timestamptz, $4::uuid[], $5::text);

-- name: hydration_counts
-- What hydrating would read: the rows of open threads since their last base states, each kind counted to the limit and
-- never further. Commits need no counting, versions have no gaps. Locks are no commits of the thread: those that the
-- base state has seen are numbered up to the highest that a task in it names.
WITH open AS MATERIALIZED (
    SELECT p.id, v.version, coalesce(b.commit_version, 0) AS base, coalesce(b.sequence, 0) AS after,
           coalesce(b.commit_at, p.started_at) AS since,
           greatest(b.sequence, (SELECT max((t ->> 'commit_version')::bigint) FROM jsonb_array_elements(
               CASE jsonb_typeof(b.state -> 'task') WHEN 'array' THEN b.state -> 'task' END) t), 0) AS locks
    FROM process_instances p JOIN runtime_thread_version v ON v.thread_id = p.id
    LEFT JOIN runtime_base_state b ON b.thread_id = p.id
    WHERE p.state IN ('RUNNING', 'SUSPENDED')
)
SELECT (SELECT count(*) FROM open),
       (SELECT coalesce(sum(version - base), 0)::bigint FROM open),
       (SELECT count(*) FROM (SELECT FROM open o JOIN runtime_message m ON m.instance_id = o.id
                              WHERE m.commit_version > o.base LIMIT %(limit)s::bigint + 1) x),
       (SELECT count(*) FROM (SELECT FROM open o CROSS JOIN LATERAL (
                                  SELECT FROM runtime_state_command e
                                  WHERE e.instance_id = o.id AND e.commit_sequence > o.after AND e.at >= o.since) e
                              LIMIT %(limit)s::bigint + 1) x),
       (SELECT count(*) FROM (SELECT FROM open o CROSS JOIN LATERAL (
                                  SELECT FROM token_events e
                                  WHERE e.instance_id = o.id AND e.commit_sequence > o.after AND e.at >= o.since
                                  UNION ALL SELECT FROM external_task_events e
                                  WHERE e.instance_id = o.id AND e.commit_sequence > o.after AND e.at >= o.since
                                    AND (e.commit_sequence > o.locks OR e.event_type NOT IN (
                                        'TASK_LOCKED', 'TASK_EXTENDED', 'TASK_UNLOCKED', 'TASK_TIMED_OUT'))
                                  UNION ALL SELECT FROM timer_events e
                                  WHERE e.instance_id = o.id AND e.commit_sequence > o.after AND e.at >= o.since
                                  UNION ALL SELECT FROM work_events e
                                  WHERE e.instance_id = o.id AND e.commit_sequence > o.after AND e.at >= o.since
                                  UNION ALL SELECT FROM engine_events e
                                  WHERE e.instance_id = o.id AND e.commit_sequence > o.after AND e.at >= o.since) e
                              LIMIT %(limit)s::bigint + 1) x),
       (SELECT count(*) FROM (SELECT FROM open o JOIN runtime_wait_ticket w ON w.instance_id = o.id
                              WHERE w.state = 'OPEN' AND w.commit_version > o.base LIMIT %(limit)s::bigint + 1) x);

-- name: hydration_threads
-- A page of open threads: where they stand, and their base states.
SELECT p.id, v.version, v.last_at, p.process_def_id, p.run_id, v.counters::text, p.started_at,
       b.commit_version, b.sequence, b.commit_at, b.state::text
FROM process_instances p JOIN runtime_thread_version v ON v.thread_id = p.id
LEFT JOIN runtime_base_state b ON b.thread_id = p.id
WHERE p.state IN ('RUNNING', 'SUSPENDED') AND p.id > %(after)s::uuid
ORDER BY p.id LIMIT %(limit)s::integer;

-- name: hydration_commits
-- Which commits those threads have had since: (thread, sequence, version).
SELECT c.thread_id, c.sequence, c.version
FROM jsonb_to_recordset(%(threads)s::jsonb) AS o(id uuid, base bigint, since timestamptz)
CROSS JOIN LATERAL (
    SELECT c.thread_id, c.sequence, c.version FROM runtime_commit c
    WHERE c.thread_id = o.id AND c.version > o.base AND c.at >= o.since
) c
ORDER BY c.thread_id, c.version;

-- name: hydration_events
-- Their events since, in order, and the version that each gave its row. What became of a message is no part of its
-- sender's state. A lock of a task's first version is one of the commit that made it.
SELECT to_jsonb(e)::text
FROM jsonb_to_recordset(%(threads)s::jsonb) AS o(id uuid, after bigint, locks bigint, since timestamptz)
CROSS JOIN LATERAL (
    SELECT e.thread_id, e.commit_sequence, e.ordinal, e.row_version, e.event_type, e.entity, e.entity_id, e.token_id,
           e.node_id, e.from_state, e.to_state, e.reason, e.worker_id, e.error, e.scope, e.name, e.value, e.payload,
           e.format
    FROM runtime_event e
    WHERE e.thread_id = o.id AND e.commit_sequence > o.after AND e.at >= o.since
      AND (e.entity <> 'message' OR e.event_type = 'MESSAGE_SENT')
      AND (e.commit_sequence > o.locks OR e.event_type NOT IN ('TASK_LOCKED', 'TASK_EXTENDED', 'TASK_UNLOCKED',
                                                               'TASK_TIMED_OUT')
           OR e.row_version = 1)
) e
ORDER BY e.thread_id, e.commit_sequence, e.ordinal;

-- name: hydration_tasks
-- The versions of the open tasks of those threads, to compare with what was folded.
SELECT instance_id, ordinal, version FROM external_tasks
WHERE instance_id = ANY (ARRAY(SELECT (jsonb_array_elements(%(threads)s::jsonb) ->> 'id')::uuid))
  AND state IN ('READY', 'LOCKED', 'FAILED');

-- name: take_bases
-- The base states of a page of open threads, from their rows as they stand, in one statement and so in one snapshot;
-- of those only that have gone on by so many commits since the last one. Which threads were looked at, and which taken.
WITH page AS MATERIALIZED (
    SELECT p.id, v.version, v.last_at, coalesce(b.commit_version, 0) AS base
    FROM process_instances p JOIN runtime_thread_version v ON v.thread_id = p.id
    LEFT JOIN runtime_base_state b ON b.thread_id = p.id
    WHERE p.state IN ('RUNNING', 'SUSPENDED') AND p.id > %(after)s::uuid
    ORDER BY p.id LIMIT %(limit)s::integer
), taken AS (
    INSERT INTO runtime_base_state AS b (thread_id, sequence, state, version, commit_version, commit_at, taken_at)
    SELECT o.id, c.sequence, jsonb_build_object(
               'instance', (SELECT jsonb_agg(to_jsonb(x)) FROM process_instances x WHERE x.id = o.id),
               'token', (SELECT jsonb_agg(to_jsonb(x)) FROM tokens x WHERE x.instance_id = o.id),
               'link', (SELECT jsonb_agg(to_jsonb(x)) FROM token_links x WHERE x.instance_id = o.id),
               'task', (SELECT jsonb_agg(to_jsonb(x)) FROM external_tasks x WHERE x.instance_id = o.id),
               'timer', (SELECT jsonb_agg(to_jsonb(x)) FROM timers x WHERE x.instance_id = o.id),
               'user_task', (SELECT jsonb_agg(to_jsonb(x)) FROM user_tasks x WHERE x.instance_id = o.id),
               'ticket', (SELECT jsonb_agg(to_jsonb(x)) FROM runtime_wait_ticket x WHERE x.instance_id = o.id),
               'incident', (SELECT jsonb_agg(to_jsonb(x)) FROM incidents x WHERE x.instance_id = o.id),
               'variable', (SELECT jsonb_agg(to_jsonb(x)) FROM variables x WHERE x.instance_id = o.id)
           ), 1, o.version, o.last_at, bpm_now()
    FROM page o CROSS JOIN LATERAL (
        SELECT sequence FROM runtime_commit c WHERE c.thread_id = o.id AND c.version = o.version AND c.at = o.last_at
    ) c
    WHERE o.version - o.base >= %(least)s::bigint
    ON CONFLICT (thread_id) DO UPDATE
    SET sequence = excluded.sequence, state = excluded.state, version = b.version + 1,
        commit_version = excluded.commit_version, commit_at = excluded.commit_at, taken_at = excluded.taken_at
    WHERE b.commit_version < excluded.commit_version
    RETURNING thread_id
)
SELECT p.id, t.thread_id IS NOT NULL FROM page p LEFT JOIN taken t ON t.thread_id = p.id ORDER BY p.id;

-- name: drop_old_bases
-- Base states of threads that are not open any more: nobody folds from them.
DELETE FROM runtime_base_state b
WHERE NOT EXISTS (SELECT FROM process_instances p WHERE p.id = b.thread_id AND p.state IN ('RUNNING', 'SUSPENDED'))
RETURNING thread_id;

-- name: bases_after
-- A page of base states, to export them.
SELECT thread_id, sequence, commit_version, commit_at, taken_at, state::text FROM runtime_base_state
WHERE thread_id > %(after)s::uuid ORDER BY thread_id LIMIT %(limit)s::integer;
