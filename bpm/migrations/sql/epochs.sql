-- Opens an epoch of seals. The lock lets writers end and holds new ones back for a moment, so that what lies before the
-- epoch is exactly what is visible now. The first epoch begins with nothing and needs no lock.
CREATE FUNCTION bpm_open_epoch(p_server text) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET lock_timeout = '10s' AS $$
DECLARE
    v_last runtime_seal%ROWTYPE;
    v_number integer;
    v_sequence bigint := 0;
    v_event bigint := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('bpm_open_epoch'));
    SELECT * INTO v_last FROM runtime_seal ORDER BY number DESC LIMIT 1;
    SELECT coalesce(max(number), 0) + 1 INTO v_number FROM runtime_seal_epoch;
    IF EXISTS (SELECT FROM runtime_seal_epoch WHERE number = v_number - 1 AND server = p_server) THEN
        RETURN v_number - 1;
    END IF;
    IF v_number > 1 THEN
        LOCK TABLE runtime_commit, engine_events IN SHARE MODE;
        SELECT coalesce(max(sequence), 0) INTO v_sequence FROM runtime_commit;
        SELECT coalesce(max(id), 0) INTO v_event FROM engine_events;
    END IF;
    INSERT INTO runtime_seal_epoch (number, server, before_sequence, before_event, after_sequence, after_event,
    opened_at)
    VALUES (v_number, p_server, coalesce(v_last.last_sequence, 0), coalesce(v_last.last_event, 0),
            v_sequence, v_event, clock_timestamp());
    RETURN v_number;
END
$$;

DO $do$
BEGIN
    EXECUTE format('ALTER FUNCTION bpm_open_epoch(text) SET search_path = %I, pg_catalog, pg_temp', current_schema());
END
$do$;
