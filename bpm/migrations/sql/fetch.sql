-- READY tasks for a worker: by priority, then age, whatever others are claiming now (SKIP LOCKED). It moves no token and
-- no instance, so it locks no version row; the commit is the nil thread's. Each topic is walked by its own index order;
-- rows locked beyond the limit are let go at once by the commit. The sequence is taken after the row locks, so that the
-- events of an instance stay in order. Tasks of suspended instances stay where they are. As a function it is planned
-- once a session.
--
-- p_topics: [{topic, lock_seconds, variables}], of which `variables` are the names of those that the worker wants; it
-- has all that the token sees where there are none. p_places NULL: all that is READY is looked at. While a transaction
-- is held open somewhere, the entries of tasks that were claimed since then stay at the head of the index, and each
-- fetch would walk over all of them; with p_places only what is said there is looked at: [{topic, priority, since}] for
-- the tasks of a priority since then, [{topic, lowest, highest}] for those of any priority between, both included.
CREATE OR REPLACE FUNCTION bpm_fetch_and_lock(
    p_topics jsonb, p_places jsonb, p_limit integer, p_worker text, p_actor text, p_engine text, p_format smallint
) RETURNS TABLE (
    r_id uuid, r_instance uuid, r_token uuid, r_node varchar, r_topic varchar, r_retries integer, r_priority bigint,
    r_version integer, r_owner varchar, r_until timestamptz, r_created timestamptz, r_sequence bigint, r_key varchar,
    r_definition uuid, r_business_key varchar, r_variables text
)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_now timestamptz := bpm_now();
    v_picked uuid[];
    v_after timestamptz;
    v_sequence bigint;
    v_at timestamptz;
BEGIN
    IF p_places IS NULL THEN
        SELECT array_agg(c.id ORDER BY c.priority DESC, c.created_at, c.id), max(c.commit_at) INTO v_picked, v_after
        FROM (
            SELECT f.* FROM jsonb_to_recordset(p_topics) AS a(topic varchar) CROSS JOIN LATERAL (
                SELECT t.id, t.priority, t.created_at, t.commit_at FROM external_tasks t
                WHERE t.topic = a.topic AND t.state = 'READY' AND (t.retry_at IS NULL OR t.retry_at <= v_now)
                  AND EXISTS (SELECT FROM process_instances p WHERE p.id = t.instance_id AND p.state = 'RUNNING')
                ORDER BY t.priority DESC, t.created_at
                LIMIT p_limit
                FOR UPDATE OF t SKIP LOCKED
            ) f
            ORDER BY f.priority DESC, f.created_at, f.id LIMIT p_limit
        ) c;
    ELSE
        SELECT array_agg(c.id ORDER BY c.priority DESC, c.created_at, c.id), max(c.commit_at) INTO v_picked, v_after
        FROM (
            SELECT * FROM (
                SELECT f.* FROM jsonb_to_recordset(p_places) AS a(topic varchar, priority bigint, since timestamptz)
                CROSS JOIN LATERAL (
                    SELECT t.id, t.priority, t.created_at, t.commit_at FROM external_tasks t
                    WHERE t.topic = a.topic AND t.state = 'READY' AND t.priority = a.priority AND t.created_at >= a.since
                      AND (t.retry_at IS NULL OR t.retry_at <= v_now)
                      AND EXISTS (SELECT FROM process_instances p WHERE p.id = t.instance_id AND p.state = 'RUNNING')
                    ORDER BY t.created_at
                    LIMIT p_limit
                    FOR UPDATE OF t SKIP LOCKED
                ) f
                WHERE a.since IS NOT NULL
                UNION ALL
                SELECT f.* FROM jsonb_to_recordset(p_places) AS a(topic varchar, lowest bigint, highest bigint)
                CROSS JOIN LATERAL (
                    SELECT t.id, t.priority, t.created_at, t.commit_at FROM external_tasks t
                    WHERE t.topic = a.topic AND t.state = 'READY' AND t.priority BETWEEN a.lowest AND a.highest
                      AND (t.retry_at IS NULL OR t.retry_at <= v_now)
                      AND EXISTS (SELECT FROM process_instances p WHERE p.id = t.instance_id AND p.state = 'RUNNING')
                    ORDER BY t.priority DESC, t.created_at
                    LIMIT p_limit
                    FOR UPDATE OF t SKIP LOCKED
                ) f
                WHERE a.lowest IS NOT NULL
            ) f
            ORDER BY f.priority DESC, f.created_at, f.id LIMIT p_limit
        ) c;
    END IF;
    IF v_picked IS NULL THEN
        RETURN;
    END IF;

    v_sequence := nextval('runtime_commit_sequence');
    v_at := bpm_now(v_after);
    INSERT INTO runtime_commit (sequence, at, thread_id, run_id, version, command, arguments, actor, events, counters,
                                engine_version, format)
    VALUES (v_sequence, v_at, '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', v_sequence,
            'FetchAndLock', jsonb_build_object('topics', p_topics, 'limit', p_limit), p_actor, cardinality(v_picked),
            '{}', p_engine, p_format);
    RETURN QUERY
    WITH locked AS (
        UPDATE external_tasks t
        SET state = 'LOCKED', lock_owner = p_worker, lock_expire_at = v_at + make_interval(secs => a.lock_seconds),
            version = t.version + 1, commit_version = v_sequence, commit_at = v_at
        FROM unnest(v_picked) WITH ORDINALITY AS k(id, place),
             jsonb_to_recordset(p_topics) AS a(topic varchar, lock_seconds double precision, variables text[])
        WHERE t.id = k.id AND a.topic = t.topic
        RETURNING t.*, k.place, a.variables AS wanted
    ), told AS (
        INSERT INTO external_task_events (
            at, instance_id, task_id, worker_id, event_type, token_id, node_id, from_state, to_state, reason, payload,
            commit_sequence, ordinal, thread_version, row_version, actor, engine_version, format)
        SELECT commit_at, instance_id, id, lock_owner, 'TASK_LOCKED', token_id, node_id, 'READY', 'LOCKED', 'work',
               jsonb_build_object('until', lock_expire_at), v_sequence, place - 1, v_sequence, version, p_actor, p_engine,
               p_format
        FROM locked
    )
    SELECT l.id, l.instance_id, l.token_id, l.node_id, l.topic, l.retries, l.priority, l.version, l.lock_owner,
           l.lock_expire_at, l.created_at, v_sequence, p.definition_key, p.process_def_id, p.business_key,
           bpm_sees(l.instance_id, l.token_id, l.wanted)::text
    FROM locked l JOIN process_instances p ON p.id = l.instance_id
    ORDER BY l.place;
END
$$;
