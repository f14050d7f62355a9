-- The limit: what one completion writes, by hand and as fast as PostgreSQL lets one, for pgbench -M prepared with
-- plan_cache_mode = force_generic_plan.
--
-- The rows are those of `engine.complete_task` on a task that its worker holds: the same tables with all constraints,
-- indexes and triggers, the same number of rows, values of the same size. Left out is everything else: nothing is read
-- but the version, nothing is decided, ids and versions come from the command line, and no value is checked.
--
--   version row   locked by a statement of its own, then raised by one
--   commit        one row of runtime_commit
--   task          DONE; the next one is made (LOCKED at once, where the engine makes it READY, so that one run of
--                 pgbench can go on with it: a connection's first commits cost several times those that follow)
--   token         moved on and waiting again
--   variable      one is set: its row, and one row of runtime_state_command
--   events        two of the token, two of the tasks
--   run record    one update
--
-- Two statements, as few as the locking allows: whoever waits for the version row must read the rest anew. All of the
-- writing is one statement, so it is parsed, bound and executed once; `pipeline` sends it all in one go. Ids are made of
-- `n`, the instance, and the ordinals of its tasks. now() is the time of the commit: nobody waits here, so it is in order.

\set i :i + 1
\set n :first + :client_id * :share + :i % :share
\set round :base + :i / :share
\set there :round % 2
\set version :round + 1
\set done :round + 1
\set next :round + 2

\startpipeline
BEGIN;
SELECT version FROM runtime_thread_version
WHERE thread_id = ('0000bbbb-7002-7000-8000-' || :n || '00000000')::uuid FOR UPDATE;
WITH k AS MATERIALIZED (
    SELECT ('0000bbbb-7002-7000-8000-' || :n || '00000000')::uuid AS thread,
           ('0000bbbb-7002-7000-8000-' || :n || '00000001')::uuid AS token,
           ('0000bbbb-7002-7000-8000-' || :n || lpad(to_hex(:done::integer), 8, '0'))::uuid AS done,
           ('0000bbbb-7002-7000-8000-' || :n || lpad(to_hex(:next::integer), 8, '0'))::uuid AS next,
           ('0000bbbb-7012-7000-8000-' || :n || '00000000')::uuid AS run,
           ('0000bbbb-7022-7000-8000-' || :n || '00000000')::uuid AS variable,
           :version::bigint AS version, :definition::uuid AS definition,
           CASE :there::integer WHEN 1 THEN 'a' ELSE 'b' END AS origin,
           CASE :there::integer WHEN 1 THEN 'b' ELSE 'a' END AS target,
           CASE :there::integer WHEN 1 THEN 'f2' ELSE 'f3' END AS flow,
           jsonb_build_object('run', 1, 'entity', :next::integer) AS counters,
           CASE :round::integer WHEN 1 THEN 3 ELSE 2 END AS done_version,
           nextval('runtime_commit_sequence') AS sequence
), version AS (
    UPDATE runtime_thread_version v SET version = k.version, last_at = now(), counters = k.counters
    FROM k WHERE v.thread_id = k.thread AND v.version = k.version - 1
), logged AS (
    INSERT INTO runtime_commit (sequence, at, thread_id, run_id, version, process_def_id, command, arguments, actor,
                                events, counters, engine_version, format)
    SELECT sequence, now(), thread, run, version, definition, 'CompleteExternalTask',
           jsonb_build_object('@', '{"variables": {"n": 1}}'::jsonb, 'task', :done::integer, 'worker', 'limit'), 'limit', 5,
           counters, '0.1.0', 1
    FROM k
), completed AS (
    UPDATE external_tasks t SET state = 'DONE', lock_owner = NULL, lock_expire_at = NULL, version = t.version + 1,
           commit_version = k.version, commit_at = now()
    FROM k WHERE t.id = k.done AND t.version = k.done_version - 1
), moved AS (
    UPDATE tokens t SET node_id = k.target, flow_id = k.flow, version = k.version, commit_version = k.version,
           commit_at = now()
    FROM k WHERE t.id = k.token AND t.version = k.version - 1
), made AS (
    INSERT INTO external_tasks (id, ordinal, instance_id, version, commit_version, commit_at, created_at, token_id,
                                node_id, topic, state, retries, priority, lock_owner, lock_expire_at)
    SELECT next, :next::integer, thread, 1, version, now(), now(), token, target, 'limit', 'LOCKED', 3, 0, 'limit',
           now() + interval '1 hour'
    FROM k
), varied AS (
    UPDATE variables v SET value = to_jsonb(k.version), version = k.version, commit_version = k.version,
           commit_at = now()
    FROM k WHERE v.id = k.variable AND v.version = k.version - 1
), ran AS (
    UPDATE runtime_run_record r SET last_sequence = k.sequence, last_command = 'CompleteExternalTask',
           version = k.version, commit_version = k.version, commit_at = now()
    FROM k WHERE r.run_id = k.run
), token_told AS (
    INSERT INTO token_events (at, instance_id, event_type, token_id, node_id, from_state, to_state, reason, payload,
                              commit_sequence, ordinal, thread_version, row_version, actor, engine_version, format)
    SELECT now(), thread, e.type, token, target, e.before, e.after, e.reason, e.payload, sequence, e.ordinal, version,
           version, 'limit', '0.1.0', 1
    FROM k CROSS JOIN LATERAL (VALUES
        ('TOKEN_MOVED', 'WAITING', 'ACTIVE', 'flow', 2,
         jsonb_build_object('flow', k.flow, 'left', true, 'step', 'enter', 'origin', k.origin)),
        ('TOKEN_STATE_CHANGED', 'ACTIVE', 'WAITING', 'work', 4, '{"step": "leave"}'::jsonb)
    ) AS e(type, before, after, reason, ordinal, payload)
), task_told AS (
    INSERT INTO external_task_events (at, instance_id, task_id, worker_id, event_type, token_id, node_id, from_state,
                                      to_state, reason, payload, commit_sequence, ordinal, thread_version, row_version,
                                      actor, engine_version, format)
    SELECT now(), thread, e.task, e.worker, e.type, token, e.node, e.before, e.after, 'work', e.payload, sequence,
           e.ordinal, version, e.row_version, 'limit', '0.1.0', 1
    FROM k CROSS JOIN LATERAL (VALUES
        (k.done, 'limit', 'TASK_COMPLETED', k.origin, 'LOCKED', 'DONE', 0, k.done_version, '{}'::jsonb),
        (k.next, NULL, 'TASK_CREATED', k.target, NULL, 'READY', 3, 1,
         '{"topic": "limit", "retries": 3, "priority": 0}'::jsonb)
    ) AS e(task, worker, type, node, before, after, ordinal, row_version, payload)
)
INSERT INTO runtime_state_command (at, instance_id, variable_id, op, scope, name, value, token_id, payload,
                                   commit_sequence, ordinal, thread_version, row_version, actor, engine_version, format)
SELECT now(), thread, variable, 'SET', 0, 'n', to_jsonb(version), token, '{}', sequence, 1, version, version, 'limit',
       '0.1.0', 1
FROM k;
COMMIT;
\endpipeline
