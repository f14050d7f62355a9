-- name: fetch_and_lock
-- Give READY tasks to a worker, in one commit of the nil thread (bpm/migrations/sql/fetch.sql).
SELECT * FROM bpm_fetch_and_lock(%(topics)s::jsonb, %(places)s::jsonb, %(limit)s::integer, %(worker)s::text,
                                 %(actor)s::text, %(engine)s::text, %(format)s::smallint);

-- name: extend_lock
-- The worker asks for more time; refused (no row) unless it holds the lock now. By its id alone the task is looked up: in
-- a young table the index of all that is locked seems as short.
WITH held AS MATERIALIZED (
    SELECT id, commit_at FROM (SELECT * FROM external_tasks WHERE id = %(id)s::uuid OFFSET 0 FOR UPDATE) t
    WHERE state = 'LOCKED' AND lock_owner = %(worker)s::text
), stamp AS MATERIALIZED (
    SELECT nextval('runtime_commit_sequence') AS sequence, bpm_now(max(commit_at)) AS at FROM held HAVING count(*) > 0
), extended AS (
    UPDATE external_tasks t
    SET lock_expire_at = s.at + make_interval(secs => %(seconds)s::double precision), version = t.version + 1,
        commit_version = s.sequence,
        commit_at = s.at
    FROM stamp s
    WHERE t.id = %(id)s::uuid AND t.lock_expire_at > s.at
    RETURNING t.*, s.sequence
), noted AS (
    INSERT INTO runtime_commit (sequence, at, thread_id, run_id, version, command, arguments, actor, events, counters,
                                engine_version, format)
    SELECT sequence, commit_at, '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000',
           sequence, 'ExtendLock', jsonb_build_object('task', id, 'seconds', %(seconds)s::double precision),
           %(actor)s::text, 1, '{}', %(engine)s::text, %(format)s::smallint
    FROM extended
), told AS (
    INSERT INTO external_task_events (
        at, instance_id, task_id, worker_id, event_type, token_id, node_id, from_state, to_state, reason, payload,
        commit_sequence, ordinal, thread_version, row_version, actor, engine_version, format)
    SELECT commit_at, instance_id, id, lock_owner, 'TASK_EXTENDED', token_id, node_id, 'LOCKED', 'LOCKED', 'work',
           jsonb_build_object('until', lock_expire_at), sequence, 0, sequence, version, %(actor)s::text,
           %(engine)s::text, %(format)s::smallint
    FROM extended
)
SELECT lock_expire_at, version, sequence FROM extended;

-- name: unlock
-- The task is given back, by its worker or by an operator (worker NULL: whoever holds it). Looked up as in extend_lock.
WITH held AS MATERIALIZED (
    SELECT id, commit_at, lock_owner FROM (SELECT * FROM external_tasks WHERE id = %(id)s::uuid OFFSET 0 FOR UPDATE) t
    WHERE state = 'LOCKED' AND (%(worker)s::text IS NULL OR lock_owner = %(worker)s::text)
), stamp AS MATERIALIZED (
    SELECT nextval('runtime_commit_sequence') AS sequence, bpm_now(max(commit_at)) AS at FROM held HAVING count(*) > 0
), freed AS (
    UPDATE external_tasks t
    SET state = 'READY', lock_owner = NULL, lock_expire_at = NULL, version = t.version + 1, commit_version = s.sequence,
        commit_at = s.at
    FROM stamp s, held h
    WHERE t.id = h.id
    RETURNING t.*, s.sequence, h.lock_owner AS holder
), noted AS (
    INSERT INTO runtime_commit (sequence, at, thread_id, run_id, version, command, arguments, actor, stated_reason,
                                events, counters, engine_version, format)
    SELECT sequence, commit_at, '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000',
           sequence, 'Unlock', jsonb_build_object('task', id), %(actor)s::text, %(reason)s::text, 1, '{}',
           %(engine)s::text, %(format)s::smallint
    FROM freed
), told AS (
    INSERT INTO external_task_events (
        at, instance_id, task_id, worker_id, event_type, token_id, node_id, from_state, to_state, reason, payload,
        commit_sequence, ordinal, thread_version, row_version, actor, stated_reason, engine_version, format)
    SELECT commit_at, instance_id, id, holder, 'TASK_UNLOCKED', token_id, node_id, 'LOCKED', 'READY',
           CASE WHEN %(worker)s::text IS NULL THEN 'operator' ELSE 'work' END, '{}', sequence, 0, sequence, version,
           %(actor)s::text, %(reason)s::text, %(engine)s::text, %(format)s::smallint
    FROM freed
)
SELECT topic, holder, version, sequence FROM freed;

-- name: release_expired
-- Locks that have run out: the tasks are READY again. Several sweepers at once pass over each other's rows.
WITH expired AS MATERIALIZED (
    SELECT id, commit_at, lock_owner, row_number() OVER () AS place FROM (
        SELECT id, commit_at, lock_owner FROM external_tasks
        WHERE state = 'LOCKED' AND lock_expire_at <= (SELECT bpm_now())
        ORDER BY lock_expire_at LIMIT %(limit)s::integer
        FOR UPDATE SKIP LOCKED
    ) e
), stamp AS MATERIALIZED (
    SELECT nextval('runtime_commit_sequence') AS sequence, bpm_now(max(commit_at)) AS at, count(*) AS events
    FROM expired HAVING count(*) > 0
), noted AS (
    INSERT INTO runtime_commit (sequence, at, thread_id, run_id, version, command, arguments, actor, events, counters,
                                engine_version, format)
    SELECT sequence, at, '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', sequence,
           'ReleaseExpired', '{}', %(actor)s::text, events, '{}', %(engine)s::text, %(format)s::smallint
    FROM stamp
), freed AS (
    UPDATE external_tasks t
    SET state = 'READY', lock_owner = NULL, lock_expire_at = NULL, version = t.version + 1, commit_version = s.sequence,
        commit_at = s.at
    FROM expired e, stamp s
    WHERE t.id = e.id
    RETURNING t.*, s.sequence, e.place, e.lock_owner AS holder
), told AS (
    INSERT INTO external_task_events (
        at, instance_id, task_id, worker_id, event_type, token_id, node_id, from_state, to_state, reason, payload,
        commit_sequence, ordinal, thread_version, row_version, actor, engine_version, format)
    SELECT commit_at, instance_id, id, holder, 'TASK_TIMED_OUT', token_id, node_id, 'LOCKED', 'READY', 'timeout', '{}',
           sequence, place - 1, sequence, version, %(actor)s::text, %(engine)s::text, %(format)s::smallint
    FROM freed
)
SELECT id, topic, holder, sequence FROM freed;

-- name: now
-- The only clock.
SELECT bpm_now();
