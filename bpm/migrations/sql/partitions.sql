-- Months of history. Made ahead by the owner's functions, so that the application's role needs no DDL rights.

-- One month of one table. LIKE and ATTACH wait for nobody, where CREATE TABLE ... PARTITION OF would wait for every
-- open writer. Row triggers and indexes come along; TRUNCATE triggers do not and are put on here, as is the uniqueness
-- that a partitioned parent cannot have.
CREATE FUNCTION bpm_add_partition(p_table regclass, p_month timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_parent name := (SELECT relname FROM pg_class WHERE oid = p_table);
    v_name text := v_parent || to_char(p_month AT TIME ZONE 'UTC', '_YYYY_MM');
    v_until timestamptz := ((p_month AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC';
    t record;
BEGIN
    IF to_regclass(quote_ident(v_name)) IS NOT NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %s INCLUDING ALL EXCLUDING IDENTITY)', v_name, p_table);
    IF v_parent = 'runtime_commit' THEN
        EXECUTE format('CREATE UNIQUE INDEX %I ON %I (thread_id, version)', v_name || '_thread_version', v_name);
    END IF;
    FOR t IN
        SELECT tgname, tgfoid::regproc AS function FROM pg_trigger
        WHERE tgrelid = p_table AND NOT tgisinternal AND tgtype & 1 = 0 AND tgtype & 32 = 32
    LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION %s()',
                       t.tgname, v_name, t.function);
    END LOOP;
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', p_table, v_name, p_month,
    v_until); RETURN v_name;
END
$$;

-- All months of all history from p_from (the present where NULL) to p_months later. Several callers at once do no harm.
CREATE FUNCTION bpm_ensure_partitions(p_from timestamptz DEFAULT NULL, p_months integer DEFAULT 3) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET timezone = 'UTC' SET lock_timeout = '10s' AS $$
DECLARE
    v_first timestamptz := date_trunc('month', coalesce(p_from, bpm_now()));
    v_month timestamptz;
    v_table regclass;
    v_made text;
BEGIN
    IF v_first > bpm_now() + interval '2 years' OR p_months NOT BETWEEN 0 AND 24 THEN
        RAISE EXCEPTION 'partitions are made for at most two years ahead' USING ERRCODE = 'TT106';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('bpm_ensure_partitions'));
    FOR i IN 0 .. p_months LOOP
        v_month := v_first + make_interval(months => i);
        FOREACH v_table IN ARRAY ARRAY[
            'runtime_commit', 'token_events', 'external_task_events', 'timer_events', 'work_events', 'engine_events',
            'runtime_state_command'
        ]::regclass[] LOOP
            v_made := bpm_add_partition(v_table, v_month);
            IF v_made IS NOT NULL THEN
                RETURN NEXT v_made;
            END IF;
        END LOOP;
    END LOOP;
END
$$;

-- How many whole months of history are ready beyond the present one: for start-up checks and metrics.
CREATE FUNCTION bpm_months_ahead() RETURNS integer
LANGUAGE sql STABLE SET timezone = 'UTC' AS $$
    SELECT coalesce(min(ahead), -1)::integer FROM (
        SELECT (
            SELECT count(*) - 1 FROM generate_series(0, 24) i
            WHERE to_regclass(quote_ident(
                parent || to_char(date_trunc('month', bpm_now()) + make_interval(months => i::integer), '_YYYY_MM')
            )) IS NOT NULL
        ) AS ahead
        FROM unnest(ARRAY[
            'runtime_commit', 'token_events', 'external_task_events', 'timer_events', 'work_events', 'engine_events',
            'runtime_state_command'
        ]) parent
    ) m
$$;
