-- A row that was read at another version: somebody else was faster. The step begins anew.
CREATE OR REPLACE FUNCTION bpm_lost(p_table text, p_id uuid) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% %: changed by somebody else in the meantime', p_table, p_id
        USING ERRCODE = 'TT001', TABLE = p_table;
END
$$;

-- A time as the core writes it: ISO 8601 in UTC, with microseconds where there are some.
CREATE OR REPLACE FUNCTION bpm_moment(p_at timestamptz) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT to_char(p_at AT TIME ZONE 'UTC', CASE p_at WHEN date_trunc('second', p_at)
        THEN 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"' ELSE 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"' END)
$$;

-- The one flush of a step: the whole commit as one document. Static statements on single rows where rows change (a
-- set-wise UPDATE over JSON is mis-estimated), one INSERT a table where history grows. Every change of a row is guarded
-- by the version it was read with; a row that was missed raises TT001, and nothing at all is written.
--
-- d: sequence is taken here, after the version row (and what the load saw) is locked, so the events of an instance are
-- totally ordered by (commit_sequence, ordinal). Rows come by kind ("token", "task", ...), whole, with the version
-- after this commit; 1 means a new row. Events come by history table. A lock that begins with the commit says for how
-- many microseconds it `lasts`, in its task's row and in its event.
CREATE OR REPLACE FUNCTION bpm_write(d jsonb, v_at timestamptz) RETURNS jsonb
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_sequence bigint := nextval('runtime_commit_sequence');
    v_thread uuid := (d ->> 'thread')::uuid;
    v_run uuid := (d ->> 'run')::uuid;
    v_version bigint := (d ->> 'version')::bigint;
    v_definition uuid := (d ->> 'definition')::uuid;
    v_actor varchar := d ->> 'actor';
    v_stated text := d ->> 'stated_reason';
    v_cause bigint := (d ->> 'caused_by')::bigint;
    v_engine varchar := d ->> 'engine_version';
    v_format smallint := (d ->> 'format')::smallint;
    v_state varchar := d ->> 'state';
    v_result jsonb;
    r record;
BEGIN
    IF v_version = 1 THEN
        INSERT INTO runtime_thread_version (thread_id, version, last_at, counters)
        VALUES (v_thread, 1, v_at, d -> 'counters');
    ELSE
        UPDATE runtime_thread_version SET version = v_version, last_at = v_at, counters = d -> 'counters'
        WHERE thread_id = v_thread AND version = v_version - 1;
        IF NOT FOUND THEN
            PERFORM bpm_lost('runtime_thread_version', v_thread);
        END IF;
    END IF;

    INSERT INTO runtime_commit (sequence, at, thread_id, run_id, version, process_def_id, command, arguments, actor,
                                stated_reason, key, caused_by, events, counters, engine_version, format)
    VALUES (v_sequence, v_at, v_thread, v_run, v_version, v_definition, d ->> 'command', d -> 'arguments', v_actor,
            v_stated, d ->> 'key', v_cause, (d ->> 'events')::integer, d -> 'counters', v_engine, v_format);

    IF d ? 'received' THEN
        INSERT INTO runtime_message (id, box, instance_id, sender, sender_version, sender_ordinal, kind, name, body,
                                     many, ticket, state, ordinal, version, commit_version, commit_at, created_at)
        SELECT id, 'IN', v_thread, sender, sender_version, sender_ordinal, kind, name, '{}', many, ticket, 'DELIVERED',
               0, 1, v_version, v_at, v_at
        FROM jsonb_to_record(d -> 'received') AS x(id uuid, sender uuid, sender_version bigint, sender_ordinal bigint,
                                                   kind varchar, name varchar, many boolean, ticket bigint);
    END IF;

    IF d ? 'instance' THEN
        FOR r IN
            SELECT * FROM jsonb_to_recordset(d -> 'instance') AS x(
                version integer, state varchar, definition_key varchar, business_key varchar, caller jsonb,
                ended boolean)
        LOOP
            IF r.version = 1 THEN
                INSERT INTO process_instances (
                    id, ordinal, version, commit_version, commit_at, created_at, process_def_id, definition_key, state,
                    business_key, run_id, caller, parent_instance_id, parent_ticket, started_by, started_at, ended_at)
                VALUES (v_thread, 0, 1, v_version, v_at, v_at, v_definition, r.definition_key, r.state, r.business_key,
                        v_run, r.caller, (r.caller ->> 'thread')::uuid, (r.caller ->> 'ticket')::bigint, v_actor, v_at,
                        CASE WHEN r.ended THEN v_at END);
            ELSE
                UPDATE process_instances SET state = r.state, business_key = r.business_key, run_id = v_run,
                    caller = r.caller, process_def_id = v_definition, ended_at = CASE WHEN r.ended THEN v_at END,
                    version = r.version, commit_version = v_version, commit_at = v_at
                WHERE id = v_thread AND version = r.version - 1;
                IF NOT FOUND THEN
                    PERFORM bpm_lost('process_instances', v_thread);
                END IF;
            END IF;
        END LOOP;
    END IF;

    IF d ? 'token' THEN
        FOR r IN
            SELECT * FROM jsonb_to_recordset(d -> 'token') AS x(
                id uuid, ordinal bigint, version integer, node_id varchar, state varchar, scope_id uuid,
                parent_token_id uuid, flow_id varchar, step varchar, local_scope bigint, loop_index integer)
        LOOP
            IF r.version = 1 THEN
                INSERT INTO tokens (
                    id, ordinal, instance_id, version, commit_version, commit_at, created_at, node_id, state, scope_id,
                    parent_token_id, flow_id, step, local_scope, loop_index)
                VALUES (r.id, r.ordinal, v_thread, 1, v_version, v_at, v_at, r.node_id, r.state, r.scope_id,
                        r.parent_token_id, r.flow_id, r.step, r.local_scope, r.loop_index);
            ELSE
                UPDATE tokens SET
                    node_id = r.node_id, state = r.state, scope_id = r.scope_id, parent_token_id = r.parent_token_id,
                    flow_id = r.flow_id, step = r.step, local_scope = r.local_scope, loop_index = r.loop_index,
                    version = r.version, commit_version = v_version, commit_at = v_at
                WHERE id = r.id AND version = r.version - 1;
                IF NOT FOUND THEN
                    PERFORM bpm_lost('tokens', r.id);
                END IF;
            END IF;
        END LOOP;
    END IF;

    IF d ? 'task' THEN
        FOR r IN
            SELECT * FROM jsonb_to_recordset(d -> 'task') AS x(
                id uuid, ordinal bigint, version integer, token_id uuid, node_id varchar, topic varchar, state varchar,
                retries integer, retry_at timestamptz, priority bigint, lock_owner varchar, lock_expire_at timestamptz,
                lasts bigint)
        LOOP
            IF r.version = 1 THEN
                INSERT INTO external_tasks (
                    id, ordinal, instance_id, version, commit_version, commit_at, created_at, token_id, node_id, topic,
                    state, retries, retry_at, priority, lock_owner, lock_expire_at)
                VALUES (r.id, r.ordinal, v_thread, 1, v_version, v_at, v_at, r.token_id, r.node_id, r.topic, r.state,
                        r.retries, r.retry_at, r.priority, r.lock_owner,
                        coalesce(v_at + r.lasts * interval '1 microsecond', r.lock_expire_at));
            ELSE
                UPDATE external_tasks SET
                    node_id = r.node_id, state = r.state, retries = r.retries, retry_at = r.retry_at,
                    priority = r.priority, lock_owner = r.lock_owner, lock_expire_at = r.lock_expire_at,
                    version = r.version, commit_version = v_version, commit_at = v_at
                WHERE id = r.id AND version = r.version - 1;
                IF NOT FOUND THEN
                    PERFORM bpm_lost('external_tasks', r.id);
                END IF;
            END IF;
        END LOOP;
    END IF;

    IF d ? 'timer' THEN
        FOR r IN
            SELECT * FROM jsonb_to_recordset(d -> 'timer') AS x(
                id uuid, ordinal bigint, version integer, token_id uuid, node_id varchar, fire_at timestamptz,
                schedule jsonb, state varchar)
        LOOP
            IF r.version = 1 THEN
                INSERT INTO timers (
                    id, ordinal, instance_id, version, commit_version, commit_at, created_at, token_id, node_id,
                    fire_at, schedule, state)
                VALUES (r.id, r.ordinal, v_thread, 1, v_version, v_at, v_at, r.token_id, r.node_id, r.fire_at,
                        r.schedule, r.state);
            ELSE
                UPDATE timers SET
                    node_id = r.node_id, state = r.state, version = r.version, commit_version = v_version,
                    commit_at = v_at
                WHERE id = r.id AND version = r.version - 1;
                IF NOT FOUND THEN
                    PERFORM bpm_lost('timers', r.id);
                END IF;
            END IF;
        END LOOP;
    END IF;

    IF d ? 'user_task' THEN
        FOR r IN
            SELECT * FROM jsonb_to_recordset(d -> 'user_task') AS x(
                id uuid, ordinal bigint, version integer, token_id uuid, node_id varchar, state varchar,
                assignee varchar, candidate_users jsonb, candidate_groups jsonb, due varchar, follow_up varchar,
                priority bigint, form_key varchar, owner varchar, delegation varchar)
        LOOP
            IF r.version = 1 THEN
                INSERT INTO user_tasks (
                    id, ordinal, instance_id, version, commit_version, commit_at, created_at, token_id, node_id, state,
                    assignee, candidate_users, candidate_groups, due, follow_up, priority, form_key, owner, delegation)
                VALUES (r.id, r.ordinal, v_thread, 1, v_version, v_at, v_at, r.token_id, r.node_id, r.state, r.assignee,
                        r.candidate_users, r.candidate_groups, r.due, r.follow_up, r.priority, r.form_key, r.owner,
                        r.delegation);
            ELSE
                UPDATE user_tasks SET
                    node_id = r.node_id, state = r.state, assignee = r.assignee, candidate_users = r.candidate_users,
                    candidate_groups = r.candidate_groups, due = r.due, follow_up = r.follow_up, priority = r.priority,
                    form_key = r.form_key, version = r.version,
                    -- A program of before they were there leaves them as they are; they are never taken back.
                    owner = coalesce(r.owner, owner), delegation = coalesce(r.delegation, delegation),
                    commit_version = v_version, commit_at = v_at
                WHERE id = r.id AND version = r.version - 1;
                IF NOT FOUND THEN
                    PERFORM bpm_lost('user_tasks', r.id);
                END IF;
            END IF;
        END LOOP;
    END IF;

    IF d ? 'ticket' THEN
        FOR r IN
            SELECT * FROM jsonb_to_recordset(d -> 'ticket') AS x(
                id uuid, ordinal bigint, version integer, token_id uuid, node_id varchar, kind varchar, name varchar,
                correlation varchar, state varchar, data jsonb)
        LOOP
            IF r.version = 1 THEN
                INSERT INTO runtime_wait_ticket (
                    id, ordinal, instance_id, version, commit_version, commit_at, created_at, token_id, node_id, kind,
                    name, correlation, state, data)
                VALUES (r.id, r.ordinal, v_thread, 1, v_version, v_at, v_at, r.token_id, r.node_id, r.kind, r.name,
                        r.correlation, r.state, r.data);
            ELSE
                UPDATE runtime_wait_ticket SET
                    node_id = r.node_id, name = r.name, correlation = r.correlation, state = r.state, data = r.data,
                    version = r.version, commit_version = v_version, commit_at = v_at
                WHERE id = r.id AND version = r.version - 1;
                IF NOT FOUND THEN
                    PERFORM bpm_lost('runtime_wait_ticket', r.id);
                END IF;
            END IF;
        END LOOP;
    END IF;

    IF d ? 'incident' THEN
        FOR r IN
            SELECT * FROM jsonb_to_recordset(d -> 'incident') AS x(
                id uuid, ordinal bigint, version integer, token_id uuid, node_id varchar, kind varchar, message text,
                task_id uuid, state varchar)
        LOOP
            IF r.version = 1 THEN
                INSERT INTO incidents (
                    id, ordinal, instance_id, version, commit_version, commit_at, created_at, token_id, node_id, kind,
                    message, task_id, state)
                VALUES (r.id, r.ordinal, v_thread, 1, v_version, v_at, v_at, r.token_id, r.node_id, r.kind, r.message,
                        r.task_id, r.state);
            ELSE
                UPDATE incidents SET
                    node_id = r.node_id, message = r.message, task_id = r.task_id, state = r.state, version = r.version,
                    commit_version = v_version, commit_at = v_at
                WHERE id = r.id AND version = r.version - 1;
                IF NOT FOUND THEN
                    PERFORM bpm_lost('incidents', r.id);
                END IF;
            END IF;
        END LOOP;
    END IF;

    IF d ? 'variable' THEN
        FOR r IN
            SELECT * FROM jsonb_to_recordset(d -> 'variable') AS x(
                id uuid, ordinal bigint, version integer, scope bigint, name varchar, value jsonb, present boolean)
        LOOP
            IF r.version = 1 THEN
                INSERT INTO variables (
                    id, ordinal, instance_id, version, commit_version, commit_at, created_at, scope, name, value,
                    present)
                VALUES (r.id, r.ordinal, v_thread, 1, v_version, v_at, v_at, r.scope, r.name, coalesce(r.value, 'null'),
                        r.present);
            ELSE
                UPDATE variables SET
                    value = coalesce(r.value, 'null'), present = r.present, version = r.version,
                    commit_version = v_version, commit_at = v_at
                WHERE id = r.id AND version = r.version - 1;
                IF NOT FOUND THEN
                    PERFORM bpm_lost('variables', r.id);
                END IF;
            END IF;
        END LOOP;
    END IF;

    IF d ? 'link' THEN
        INSERT INTO token_links (id, ordinal, instance_id, version, commit_version, commit_at, created_at,
                                 parent_token_id, child_token_id, link_type)
        SELECT id, ordinal, v_thread, 1, v_version, v_at, v_at, parent_token_id, child_token_id, link_type
        FROM jsonb_to_recordset(d -> 'link') AS x(id uuid, ordinal bigint, parent_token_id uuid, child_token_id uuid,
                                                  link_type varchar);
    END IF;

    IF d ? 'message' THEN
        INSERT INTO runtime_message (id, box, instance_id, sender, sender_version, sender_ordinal, kind, name,
                                     correlation, business_key, body, target, many, ticket, expires_at, state,
                                     ordinal, version, commit_version, commit_at, created_at)
        SELECT id, 'OUT', v_thread, v_thread, v_version, ordinal, kind, name, correlation, business_key, body, target,
               many, 0, expires_at, 'PENDING', ordinal, 1, v_version, v_at, v_at
        FROM jsonb_to_recordset(d -> 'message') AS x(id uuid, ordinal bigint, kind varchar, name varchar,
            correlation varchar, business_key varchar, body jsonb, target uuid, many boolean, expires_at timestamptz);
    END IF;

    IF d ? 'token_events' THEN
        INSERT INTO token_events (
            at, instance_id, event_type, token_id, node_id, from_state, to_state, reason, payload, commit_sequence,
            ordinal, thread_version, row_version, caused_by, actor, stated_reason, engine_version, format)
        SELECT v_at, v_thread, event_type, token_id, node_id, from_state, to_state, reason, payload, v_sequence,
               ordinal, v_version, row_version, v_cause, v_actor, v_stated, v_engine, v_format
        FROM jsonb_to_recordset(d -> 'token_events') AS x(
            event_type varchar, token_id uuid, node_id varchar, from_state varchar, to_state varchar, reason varchar,
            payload jsonb, ordinal integer, row_version integer);
    END IF;

    IF d ? 'external_task_events' THEN
        INSERT INTO external_task_events (
            at, instance_id, task_id, worker_id, error, event_type, token_id, node_id, from_state, to_state, reason,
            payload, commit_sequence, ordinal, thread_version, row_version, caused_by, actor, stated_reason,
            engine_version, format)
        SELECT v_at, v_thread, task_id, worker_id, error, event_type, token_id, node_id, from_state, to_state, reason,
               CASE WHEN lasts IS NULL THEN payload
                    ELSE payload || jsonb_build_object('until', bpm_moment(v_at + lasts * interval '1 microsecond')) END,
               v_sequence, ordinal, v_version, row_version, v_cause, v_actor, v_stated, v_engine, v_format
        FROM jsonb_to_recordset(d -> 'external_task_events') AS x(
            task_id uuid, worker_id varchar, error text, event_type varchar, token_id uuid, node_id varchar,
            from_state varchar, to_state varchar, reason varchar, payload jsonb, ordinal integer, row_version integer,
            lasts bigint);
    END IF;

    IF d ? 'timer_events' THEN
        INSERT INTO timer_events (
            at, instance_id, timer_id, event_type, token_id, node_id, from_state, to_state, reason, payload,
            commit_sequence, ordinal, thread_version, row_version, caused_by, actor, stated_reason, engine_version,
            format)
        SELECT v_at, v_thread, timer_id, event_type, token_id, node_id, from_state, to_state, reason, payload,
               v_sequence, ordinal, v_version, row_version, v_cause, v_actor, v_stated, v_engine, v_format
        FROM jsonb_to_recordset(d -> 'timer_events') AS x(
            timer_id uuid, event_type varchar, token_id uuid, node_id varchar, from_state varchar, to_state varchar,
            reason varchar, payload jsonb, ordinal integer, row_version integer);
    END IF;

    IF d ? 'work_events' THEN
        INSERT INTO work_events (
            at, instance_id, entity, entity_id, event_type, token_id, node_id, from_state, to_state, reason, payload,
            commit_sequence, ordinal, thread_version, row_version, caused_by, actor, stated_reason, engine_version,
            format)
        SELECT v_at, v_thread, entity, entity_id, event_type, token_id, node_id, from_state, to_state, reason,
               payload, v_sequence, ordinal, v_version, row_version, v_cause, v_actor, v_stated, v_engine, v_format
        FROM jsonb_to_recordset(d -> 'work_events') AS x(
            entity varchar, entity_id uuid, event_type varchar, token_id uuid, node_id varchar, from_state varchar,
            to_state varchar, reason varchar, payload jsonb, ordinal integer, row_version integer);
    END IF;

    IF d ? 'engine_events' THEN
        INSERT INTO engine_events (
            at, instance_id, entity, event_type, token_id, node_id, from_state, to_state, reason, payload,
            commit_sequence, ordinal, thread_version, row_version, caused_by, actor, stated_reason, engine_version,
            format)
        SELECT v_at, v_thread, entity, event_type, token_id, node_id, from_state, to_state, reason, payload,
               v_sequence, ordinal, v_version, row_version, v_cause, v_actor, v_stated, v_engine, v_format
        FROM jsonb_to_recordset(d -> 'engine_events') AS x(
            entity varchar, event_type varchar, token_id uuid, node_id varchar, from_state varchar, to_state varchar,
            reason varchar, payload jsonb, ordinal integer, row_version integer);
    END IF;

    IF d ? 'runtime_state_command' THEN
        INSERT INTO runtime_state_command (
            at, instance_id, variable_id, op, scope, name, value, token_id, node_id, reason, payload, commit_sequence,
            ordinal, thread_version, row_version, caused_by, actor, stated_reason, engine_version, format)
        SELECT v_at, v_thread, variable_id, op, scope, name, CASE op WHEN 'SET' THEN coalesce(value, 'null') END,
               token_id, node_id, reason, payload, v_sequence, ordinal, v_version, row_version, v_cause, v_actor,
               v_stated, v_engine, v_format
        FROM jsonb_to_recordset(d -> 'runtime_state_command') AS x(
            variable_id uuid, op varchar, scope bigint, name varchar, value jsonb, token_id uuid, node_id varchar,
            reason varchar, payload jsonb, ordinal integer, row_version integer);
    END IF;

    IF v_version = 1 OR (d ->> 'new_run')::boolean THEN
        INSERT INTO runtime_run_record (run_id, thread_id, number, process_def_id, state, last_sequence, last_command,
                                        version, commit_version, commit_at, started_at, ended_at)
        VALUES (v_run, v_thread, (d -> 'counters' ->> 'run')::integer, v_definition, v_state, v_sequence,
                d ->> 'command', 1, v_version, v_at, v_at, CASE WHEN (d ->> 'ended')::boolean THEN v_at END);
    ELSE
        UPDATE runtime_run_record SET state = v_state, process_def_id = v_definition, last_sequence = v_sequence,
            last_command = d ->> 'command', version = version + 1, commit_version = v_version, commit_at = v_at,
            ended_at = CASE WHEN (d ->> 'ended')::boolean THEN v_at END
        WHERE run_id = v_run AND commit_version = v_version - 1;
        IF NOT FOUND THEN
            PERFORM bpm_lost('runtime_run_record', v_run);
        END IF;
    END IF;

    v_result := jsonb_build_object('sequence', v_sequence, 'thread_id', v_thread, 'version', v_version, 'run_id', v_run,
                                   'at', v_at, 'command', d ->> 'command');
    IF d ? 'receipt' THEN
        INSERT INTO runtime_operation_receipt (id, instance_id, actor, key, content, result, version, commit_version,
                                               commit_at, created_at)
        VALUES ((d #>> '{receipt,id}')::uuid, v_thread, v_actor, d ->> 'key', d #>> '{receipt,content}', v_result, 1,
                v_version, v_at, v_at);
    END IF;
    RETURN v_result;
END
$$;

-- The flush of a step that has locked its thread's version row, and been told the time, in a round trip before.
CREATE OR REPLACE FUNCTION bpm_flush(d jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '5s' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    RETURN bpm_write(d, (d ->> 'at')::timestamptz);
END
$$;
