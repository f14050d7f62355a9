-- The instances with rows in a month, and whether their rows stay in the database when it is archived: those of open
-- instances always; of others as their definition's retention says (days after the end; JSON null: for ever), and where
-- that says nothing as p_unsaid does.
CREATE FUNCTION bpm_month_instances(p_month timestamptz, p_retention jsonb, p_unsaid boolean)
RETURNS TABLE (instance_id uuid, process_def_id uuid, definition_key varchar, business_key varchar, state varchar,
               started_at timestamptz, ended_at timestamptz, stays boolean)
LANGUAGE sql STABLE SET timezone = 'UTC' AS $$
    WITH touched AS (
        SELECT DISTINCT c.thread_id AS id FROM runtime_commit c
        WHERE c.at >= p_month AND c.at < p_month + interval '1 month'
          AND c.thread_id <> '00000000-0000-0000-0000-000000000000'
        UNION
        SELECT e.instance_id FROM external_task_events e
        WHERE e.at >= p_month AND e.at < p_month + interval '1 month'
    ), known AS (
        SELECT t.id, coalesce(p.process_def_id, c.process_def_id, a.process_def_id) AS process_def_id,
               coalesce(p.business_key, b.business_key, a.business_key) AS business_key,
               coalesce(p.state, e.to_state, a.state) AS state,
               coalesce(p.started_at, c.at, a.started_at) AS started_at,
               CASE WHEN p.id IS NULL THEN coalesce(e.at, a.ended_at) ELSE p.ended_at END AS ended_at,
               p.id IS NOT NULL AND p.ended_at IS NULL AS is_open
        FROM touched t
        LEFT JOIN process_instances p ON p.id = t.id
        LEFT JOIN LATERAL (
            SELECT c.process_def_id, c.at FROM runtime_commit c
            WHERE p.id IS NULL AND c.thread_id = t.id AND c.version = 1 LIMIT 1
        ) c ON true
        LEFT JOIN LATERAL (
            SELECT x.to_state, x.at FROM engine_events x
            WHERE p.id IS NULL AND x.instance_id = t.id AND x.to_state IN ('COMPLETED', 'FAILED', 'CANCELLED')
            ORDER BY x.commit_sequence DESC LIMIT 1
        ) e ON true
        LEFT JOIN LATERAL (
            SELECT x.payload ->> 'business_key' AS business_key FROM engine_events x
            WHERE p.id IS NULL AND x.instance_id = t.id AND x.event_type = 'INSTANCE_STARTED' LIMIT 1
        ) b ON true
        LEFT JOIN LATERAL (
            SELECT x.* FROM runtime_archived_instance x WHERE x.instance_id = t.id ORDER BY x.archive_id DESC LIMIT 1
        ) a ON true
    )
    SELECT k.id, k.process_def_id, d.key, k.business_key, k.state, k.started_at, k.ended_at,
           k.is_open OR CASE
               WHEN p_retention ? d.key THEN coalesce(
                   k.ended_at > bpm_now() - make_interval(days => (p_retention ->> d.key)::integer), true)
               ELSE p_unsaid
           END
    FROM known k LEFT JOIN process_definitions d ON d.id = k.process_def_id
$$;

-- Takes a month that was archived out of the database: in each table of history its partition is replaced by one with
-- the rows that stay, in one transaction. Refused unless the partitions hold exactly as many rows as were archived
-- (p_rows, by table): writers are held back from then on. Whoever may call this can remove history from the database,
-- so nobody may but the owner and whom the owner lets.
CREATE FUNCTION bpm_replace_month(p_month timestamptz, p_archive bigint, p_rows jsonb, p_retention jsonb,
                                  p_unsaid boolean)
RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET timezone = 'UTC' SET lock_timeout = '10s' AS $$
DECLARE
    v_tables CONSTANT regclass[] := ARRAY[
        'runtime_commit', 'token_events', 'external_task_events', 'timer_events', 'work_events', 'engine_events',
        'runtime_state_command'
    ]::regclass[];
    v_until CONSTANT timestamptz := p_month + interval '1 month';
    v_suffix CONSTANT text := to_char(p_month, '_YYYY_MM');
    v_kept jsonb := '{}';
    v_table regclass;
    v_name text;
    v_rows bigint;
    t record;
BEGIN
    IF v_until > bpm_now() THEN
        RAISE EXCEPTION 'the month of % is not over', p_month USING ERRCODE = 'TT107';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('bpm_ensure_partitions'));
    FOREACH v_table IN ARRAY v_tables LOOP
        v_name := (SELECT relname FROM pg_class WHERE oid = v_table) || v_suffix;
        EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', v_name);
        EXECUTE format('SELECT count(*) FROM %I', v_name) INTO v_rows;
        IF v_rows <> (p_rows ->> (SELECT relname FROM pg_class WHERE oid = v_table)::text)::bigint THEN
            RAISE EXCEPTION '% has % rows, archived were %', v_name, v_rows, p_rows ->> v_table::text
                USING ERRCODE = 'TT107';
        END IF;
    END LOOP;

    CREATE TEMPORARY TABLE tokentrail_month ON COMMIT DROP AS
    SELECT * FROM bpm_month_instances(p_month, p_retention, p_unsaid);
    CREATE INDEX ON tokentrail_month (instance_id) WHERE stays;
    ANALYZE tokentrail_month;
    INSERT INTO runtime_archived_instance (instance_id, archive_id, process_def_id, definition_key, business_key, state,
                                           started_at, ended_at, stayed)
    SELECT instance_id, p_archive, process_def_id, definition_key, business_key, state, started_at, ended_at, stays
    FROM tokentrail_month;

    FOREACH v_table IN ARRAY v_tables LOOP
        v_name := (SELECT relname FROM pg_class WHERE oid = v_table) || v_suffix;
        EXECUTE format('CREATE TABLE %I (LIKE %s INCLUDING ALL EXCLUDING IDENTITY)', v_name || '_new', v_table);
        IF v_table = 'runtime_commit'::regclass THEN
            -- The commits of instances that stay, and those of the nil thread that locked their tasks.
            EXECUTE format(
                'INSERT INTO %I SELECT * FROM %I h WHERE h.thread_id IN (SELECT instance_id FROM tokentrail_month WHERE'
                ' stays) OR h.sequence IN (SELECT e.commit_sequence FROM external_task_events e JOIN tokentrail_month k'
                ' ON k.instance_id = e.instance_id AND k.stays WHERE e.at >= $1 AND e.at < $2)',
                v_name || '_new', v_name) USING p_month, v_until;
        ELSE
            EXECUTE format(
                'INSERT INTO %I SELECT * FROM %I h WHERE h.instance_id IN (SELECT instance_id FROM tokentrail_month'
                ' WHERE stays)', v_name || '_new', v_name);
        END IF;
        GET DIAGNOSTICS v_rows = ROW_COUNT;
        IF v_table = 'runtime_commit'::regclass THEN
            EXECUTE format('CREATE UNIQUE INDEX ON %I (thread_id, version)', v_name || '_new');
        END IF;
        v_kept := v_kept || jsonb_build_object((SELECT relname FROM pg_class WHERE oid = v_table), v_rows);
        -- Never an empty one: a plan made for it would scan when it has rows.
        IF v_rows > 0 THEN
            EXECUTE format('ANALYZE %I', v_name || '_new');
        END IF;
        -- With it, attaching need not read the rows.
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT tokentrail_month CHECK (at >= %L AND at < %L)', v_name || '_new',
                       p_month, v_until);
        FOR t IN
            SELECT tgname, tgfoid::regproc AS function FROM pg_trigger
            WHERE tgrelid = v_table AND NOT tgisinternal AND tgtype & 1 = 0 AND tgtype & 32 = 32
        LOOP
            EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION %s()',
                           t.tgname, v_name || '_new', t.function);
        END LOOP;
    END LOOP;

    -- From here on the tables are locked for everybody, for a moment.
    FOREACH v_table IN ARRAY v_tables LOOP
        v_name := (SELECT relname FROM pg_class WHERE oid = v_table) || v_suffix;
        EXECUTE format('ALTER TABLE %s DETACH PARTITION %I', v_table, v_name);
        EXECUTE format('DROP TABLE %I', v_name);
        EXECUTE format('ALTER TABLE %I RENAME TO %I', v_name || '_new', v_name);
        EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', v_table, v_name, p_month,
                       v_until);
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT tokentrail_month', v_name);
        IF v_table = 'runtime_commit'::regclass THEN
            EXECUTE format('ALTER INDEX %I RENAME TO %I', v_name || '_new_thread_id_version_idx',
                           v_name || '_thread_version');
        END IF;
    END LOOP;
    RETURN v_kept;
END
$$;

REVOKE ALL ON FUNCTION bpm_replace_month(timestamptz, bigint, jsonb, jsonb, boolean) FROM PUBLIC;

DO $do$
BEGIN
    EXECUTE format(
        'ALTER FUNCTION bpm_replace_month(timestamptz, bigint, jsonb, jsonb, boolean) SET search_path = %I, pg_catalog,'
        ' pg_temp', current_schema());
END
$do$;
