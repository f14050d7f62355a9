-- The first round trip of a step that begins with what its process remembers (bpm.store.projection), where that answers
-- all that the command asks: lock the thread's version row, and read the time and how the held tasks are locked now, for
-- locks are no commits of the thread. Where the thread stands at another commit than the one that is held it is
-- bpm_load, under the same lock; p_ask is what that takes, and not looked into before.
--
-- p_working: the tokens that have open tasks. Only what a lock changes comes back of each task. The tables are asked in
-- statements of their own, the version row first (see bpm_load).
CREATE OR REPLACE FUNCTION bpm_take_up(
    p_thread uuid, p_version bigint, p_last_at timestamptz, p_working uuid[], p_ask text
) RETURNS text
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '5s' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_version bigint;
    v_last_at timestamptz;
    v_tasks text;
BEGIN
    SELECT version, last_at INTO v_version, v_last_at FROM runtime_thread_version WHERE thread_id = p_thread FOR UPDATE;
    IF v_version IS DISTINCT FROM p_version OR v_last_at IS DISTINCT FROM p_last_at THEN
        RETURN bpm_load(p_thread, p_ask::jsonb);
    END IF;
    SELECT json_agg(json_build_array(ordinal, version, state, retries, retry_at, priority, lock_owner, lock_expire_at))
    INTO v_tasks FROM external_tasks
    WHERE token_id = ANY (p_working) AND state IN ('READY', 'LOCKED', 'FAILED');
    RETURN json_build_object('at', bpm_now(v_last_at), 'found', true, 'resumed', true,
                             'taken', coalesce(v_tasks, '[]')::json);
END
$$;
