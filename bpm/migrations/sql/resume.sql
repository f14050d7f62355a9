-- The first round trip of a step whose caller holds the thread's state already (p_ask: what bpm_load takes, and
-- "projected" {version, last_at, names, scopes, own}). At exactly that commit only what changes without one is read: the
-- tasks, which workers lock, and the variables that the state has not (by name in those scopes, all of the scope "own").
-- At any other it is bpm_load, under the same lock.
CREATE FUNCTION bpm_resume(p_thread uuid, p_ask jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '5s' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_held jsonb := p_ask -> 'projected';
    v_thread runtime_thread_version;
    v_anchor record;
    v_tasks jsonb;
    v_variables jsonb;
BEGIN
    IF (p_ask ->> 'alone')::boolean OR p_ask ? 'message' THEN
        RETURN bpm_load(p_thread, p_ask);
    END IF;
    SELECT * INTO v_thread FROM runtime_thread_version WHERE thread_id = p_thread FOR UPDATE;
    IF NOT FOUND OR v_thread.version <> (v_held ->> 'version')::bigint
       OR v_thread.last_at <> (v_held ->> 'last_at')::timestamptz
       OR (p_ask ? 'key' AND EXISTS (
           SELECT FROM runtime_operation_receipt
           WHERE instance_id = p_thread AND actor = p_ask ->> 'actor' AND key = p_ask ->> 'key'
       ))
    THEN
        RETURN bpm_load(p_thread, p_ask);
    END IF;

    IF p_ask ? 'anchor' THEN
        SELECT * INTO v_anchor FROM bpm_entity(p_ask #>> '{anchor,kind}', (p_ask #>> '{anchor,id}')::uuid);
    ELSE
        SELECT NULL::jsonb AS row_data, NULL::uuid AS token_id INTO v_anchor;
    END IF;
    SELECT jsonb_agg(to_jsonb(x)) INTO v_tasks FROM external_tasks x
    WHERE x.token_id = ANY (ARRAY(SELECT jsonb_array_elements_text(v_held -> 'working')::uuid))
      AND x.state IN ('READY', 'LOCKED', 'FAILED');
    IF jsonb_array_length(v_held -> 'names') > 0 OR (v_held ->> 'own')::bigint > 0 THEN
        SELECT jsonb_agg(to_jsonb(v)) INTO v_variables FROM variables v
        WHERE v.instance_id = p_thread
          AND (v.scope = nullif((v_held ->> 'own')::bigint, 0)
               OR (v.scope = ANY (ARRAY(SELECT jsonb_array_elements_text(v_held -> 'scopes')::bigint))
                   AND v.name = ANY (ARRAY(SELECT jsonb_array_elements_text(v_held -> 'names')))));
    END IF;
    RETURN jsonb_build_object(
        'at', bpm_now(v_thread.last_at), 'found', true, 'resumed', true, 'counters', v_thread.counters,
        'anchor', v_anchor.row_data, 'task', v_tasks, 'variables', v_variables
    );
END
$$;
