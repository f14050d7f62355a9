-- The only round trip of a step that was decided beforehand, on what its process remembers (bpm.store.foreseeing): lock
-- the thread's version row, see that all is as it was foreseen, take the time, and write. NULL, and nothing written,
-- where it is not: the thread stands at another commit than p_version (0: there is one), it is p_until or later, the
-- task is not locked as it was taken to be (p_task NULL: the step asks for none), or the key was used already. What else
-- the step has taken to be so is guarded row by row, by version (bpm_write).
--
-- The tables are asked in statements of their own, the version row first (see bpm_load).
CREATE OR REPLACE FUNCTION bpm_settle(
    p_thread uuid, p_version bigint, p_last_at timestamptz, p_until timestamptz, p_task uuid, p_task_version integer,
    p_worker text, d jsonb
) RETURNS text
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '5s' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_version bigint;
    v_last_at timestamptz;
    v_at timestamptz;
BEGIN
    SELECT version, last_at INTO v_version, v_last_at FROM runtime_thread_version WHERE thread_id = p_thread FOR UPDATE;
    IF coalesce(v_version, 0) <> p_version OR v_last_at IS DISTINCT FROM p_last_at THEN
        RETURN NULL;
    END IF;
    v_at := bpm_now(v_last_at);
    IF v_at >= p_until THEN
        RETURN NULL;
    END IF;
    IF p_task IS NOT NULL THEN
        -- By its id (OFFSET keeps it so): in a young table the index of all that is locked seems as short.
        PERFORM FROM (SELECT * FROM external_tasks WHERE id = p_task OFFSET 0) t
        WHERE version = p_task_version AND state = 'LOCKED' AND lock_owner = p_worker
          AND (lock_expire_at IS NULL OR lock_expire_at > v_at);
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    IF d ? 'receipt' AND EXISTS (SELECT FROM runtime_operation_receipt WHERE id = (d #>> '{receipt,id}')::uuid) THEN
        RETURN NULL;
    END IF;
    RETURN bpm_write(d, v_at);
END
$$;
