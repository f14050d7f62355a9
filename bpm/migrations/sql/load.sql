-- What a step reads, in one round trip, and what it asks for afterwards. Planner settings stand on the functions: each
-- statement looks up a handful of rows by index, whatever the statistics of a young table say. No bitmaps: they gather
-- all that an index has of an instance, its dead rows too, before the first row comes out. Only bpm_below takes all
-- that it finds, in two indexes.

-- Every open token below p_tops (an instance's own id: all of it).
CREATE OR REPLACE FUNCTION bpm_below(p_instance uuid, p_tops uuid[]) RETURNS SETOF tokens
LANGUAGE sql STABLE
SET enable_seqscan = off SET enable_bitmapscan = on SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
    WITH RECURSIVE below AS (
        SELECT t.* FROM tokens t
        WHERE t.instance_id = p_instance AND t.state IN ('ACTIVE', 'WAITING')
          AND (t.scope_id = ANY (p_tops) OR t.parent_token_id = ANY (p_tops))
        UNION
        SELECT t.* FROM below b CROSS JOIN LATERAL (
            SELECT * FROM tokens s
            WHERE s.instance_id = p_instance AND s.scope_id = b.id AND s.state IN ('ACTIVE', 'WAITING')
            UNION ALL
            SELECT * FROM tokens c WHERE c.parent_token_id = b.id AND c.state IN ('ACTIVE', 'WAITING')
        ) t
    )
    SELECT * FROM below
$$;

-- The tokens with those ids, their scopes and their fork ancestors, open or ended.
CREATE OR REPLACE FUNCTION bpm_above(p_ids uuid[]) RETURNS SETOF tokens
LANGUAGE sql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
    WITH RECURSIVE above AS (
        SELECT t.* FROM tokens t WHERE t.id = ANY (p_ids)
        UNION
        SELECT t.* FROM above a JOIN tokens t ON t.id = ANY (ARRAY[a.scope_id, a.parent_token_id])
    )
    SELECT * FROM above
$$;

-- What is open and hangs on those tokens: kind -> rows.
CREATE OR REPLACE FUNCTION bpm_attached(p_ids uuid[]) RETURNS jsonb
LANGUAGE sql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
    SELECT jsonb_build_object(
        'task', (SELECT jsonb_agg(to_jsonb(x)) FROM external_tasks x
                 WHERE x.token_id = ANY (p_ids) AND x.state IN ('READY', 'LOCKED', 'FAILED')),
        'timer', (SELECT jsonb_agg(to_jsonb(x)) FROM timers x WHERE x.token_id = ANY (p_ids) AND x.state = 'SCHEDULED'),
        'user_task', (SELECT jsonb_agg(to_jsonb(x)) FROM user_tasks x
                      WHERE x.token_id = ANY (p_ids) AND x.state IN ('READY', 'CLAIMED')),
        'ticket', (SELECT jsonb_agg(to_jsonb(x)) FROM runtime_wait_ticket x
                   WHERE x.token_id = ANY (p_ids) AND x.state = 'OPEN'),
        'incident', (SELECT jsonb_agg(to_jsonb(x)) FROM incidents x
                     WHERE x.token_id = ANY (p_ids) AND x.state = 'OPEN')
    )
$$;

-- One row of any kind, and the token it hangs on.
CREATE OR REPLACE FUNCTION bpm_entity(p_kind text, p_id uuid, OUT row_data jsonb, OUT token_id uuid)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    CASE p_kind
        WHEN 'token' THEN SELECT to_jsonb(x), x.id INTO row_data, token_id FROM tokens x WHERE x.id = p_id;
        WHEN 'task' THEN SELECT to_jsonb(x), x.token_id INTO row_data, token_id FROM external_tasks x WHERE x.id = p_id;
        WHEN 'timer' THEN SELECT to_jsonb(x), x.token_id INTO row_data, token_id FROM timers x WHERE x.id = p_id;
        WHEN 'user_task' THEN SELECT to_jsonb(x), x.token_id INTO row_data, token_id FROM user_tasks x WHERE x.id =
        p_id; WHEN 'ticket' THEN
            SELECT to_jsonb(x), x.token_id INTO row_data, token_id FROM runtime_wait_ticket x WHERE x.id = p_id;
        WHEN 'incident' THEN SELECT to_jsonb(x), x.token_id INTO row_data, token_id FROM incidents x WHERE x.id = p_id;
    END CASE;
END
$$;

-- The first round trip of a step.
--
-- p_ask: alone (the transaction may touch this instance only), anchor {kind, id}, names (variables of the command), key
-- and actor (a receipt), message {sender, version, ordinal, many, ticket} (received already?), definition (of a start).
--
-- The version row is locked by a statement of its own before anything else is read or locked: what was read earlier
-- could be older than the lock, and joins would be lost. Time is read after it, or it would be older than the commit
-- waited for.
--
-- An instance with up to p_window open tokens is loaded whole (but for its variables). Of a larger one: the anchor with
-- its scopes and fork ancestors, up to p_window open tokens of each scope and children of each ancestor (witnesses for
-- "is another one open?"), who waits at joining gateways there, and what hangs on the chain. Never more, however large
-- it is.
--
-- The index of open tokens is read from its end, where the rows are that were written last: at its beginning pile up
-- the dead ones of the tokens that went first. (Without sorts only that index gives the order.)
CREATE OR REPLACE FUNCTION bpm_load(p_thread uuid, p_ask jsonb, p_window integer DEFAULT 24) RETURNS jsonb
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '5s' SET enable_sort = off
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    v_thread runtime_thread_version;
    v_found boolean;
    v_at timestamptz;
    v_receipt jsonb;
    v_received jsonb;
    v_instance process_instances;
    v_definition record;
    v_anchor record;
    v_open uuid[];
    v_above uuid[];
    v_arrived uuid[];
    v_chain uuid[];
    v_whole boolean;
    v_tokens jsonb;
    v_scopes jsonb := '{}';
    v_children jsonb := '{}';
    v_locals bigint[];
    v_own bigint := 0;
    v_all_names boolean;
    v_names text[];
    v_variables jsonb;
BEGIN
    IF (p_ask ->> 'alone')::boolean THEN
        IF coalesce(current_setting('tokentrail.thread', true), '') NOT IN ('', p_thread::text) THEN
            RAISE EXCEPTION 'this transaction has changed instance % already and cannot change % too',
                current_setting('tokentrail.thread', true), p_thread USING ERRCODE = 'TT003';
        END IF;
        PERFORM set_config('tokentrail.thread', p_thread::text, true);
    END IF;

    SELECT * INTO v_thread FROM runtime_thread_version WHERE thread_id = p_thread FOR UPDATE;
    v_found := FOUND;
    v_at := bpm_now(v_thread.last_at);

    IF p_ask ? 'key' THEN
        SELECT jsonb_build_object('content', content, 'result', result) INTO v_receipt FROM runtime_operation_receipt
        WHERE instance_id = p_thread AND actor = p_ask ->> 'actor' AND key = p_ask ->> 'key';
    END IF;
    IF p_ask ? 'message' THEN
        SELECT jsonb_build_object('thread', m.instance_id, 'version', m.commit_version, 'at', m.commit_at)
        INTO v_received FROM runtime_message m
        WHERE m.box = 'IN' AND m.sender = (p_ask #>> '{message,sender}')::uuid
          AND m.sender_version = (p_ask #>> '{message,version}')::bigint
          AND m.sender_ordinal = (p_ask #>> '{message,ordinal}')::bigint
          AND (NOT m.many OR (m.instance_id = p_thread AND m.ticket = (p_ask #>> '{message,ticket}')::bigint));
    END IF;
    IF NOT v_found OR v_receipt IS NOT NULL OR v_received IS NOT NULL THEN
        RETURN jsonb_build_object('at', v_at, 'found', v_found, 'receipt', v_receipt, 'received', v_received);
    END IF;

    SELECT * INTO v_instance FROM process_instances WHERE id = p_thread;
    -- By name: the whole row would bring graph and source out of their storage, each time.
    SELECT key, joins, whole_scopes, reads, dynamic INTO v_definition FROM process_definitions
    WHERE id = v_instance.process_def_id;
    IF p_ask ? 'anchor' THEN
        SELECT * INTO v_anchor FROM bpm_entity(p_ask #>> '{anchor,kind}', (p_ask #>> '{anchor,id}')::uuid);
    ELSE
        SELECT NULL::jsonb AS row_data, NULL::uuid AS token_id INTO v_anchor;
    END IF;

    v_open := ARRAY(
        SELECT id FROM tokens WHERE instance_id = p_thread AND state IN ('ACTIVE', 'WAITING')
        ORDER BY scope_id DESC LIMIT p_window + 1
    );
    v_whole := cardinality(v_open) <= p_window;
    IF v_whole THEN
        SELECT jsonb_agg(to_jsonb(t)), array_agg(t.id), array_agg(t.local_scope) FILTER (WHERE t.local_scope > 0)
        INTO v_tokens, v_chain, v_locals FROM bpm_above(v_open || v_anchor.token_id) t;
    ELSE
        SELECT array_agg(id) INTO v_above FROM bpm_above(ARRAY[v_anchor.token_id]);
        -- Gateway by gateway (OFFSET keeps it so): put as one condition, all open tokens of the instance are gone
        -- through for the few that wait there, or for none. And in the order of their nodes, which is one node: only
        -- the index by scope and node gives it, where the one by instance seems as short in a young table.
        v_arrived := ARRAY(
            SELECT a.id
            FROM unnest(v_above || p_thread) s(id)
            CROSS JOIN jsonb_array_elements_text(v_definition.joins) n(id)
            CROSS JOIN LATERAL (
                SELECT t.id FROM tokens t
                WHERE t.instance_id = p_thread AND t.scope_id = s.id AND t.node_id BETWEEN n.id AND n.id
                  AND t.state = 'WAITING'
                ORDER BY t.node_id OFFSET 0
            ) a
        );
        -- Those who wait at joining gateways bring their own fork ancestors.
        SELECT jsonb_agg(to_jsonb(t)), array_agg(t.id), array_agg(t.local_scope) FILTER (WHERE t.local_scope > 0)
        INTO v_tokens, v_chain, v_locals FROM bpm_above(v_above || v_arrived) t;
        SELECT jsonb_object_agg(o.id, m.found) INTO v_scopes
        FROM unnest(v_above || p_thread) o(id)
        LEFT JOIN tokens s ON s.id = o.id
        CROSS JOIN LATERAL (
            SELECT CASE WHEN v_definition.whole_scopes ? coalesce(s.node_id, v_definition.key) THEN NULL
                        ELSE p_window END AS most
        ) l
        CROSS JOIN LATERAL (
            SELECT jsonb_build_object('complete', l.most IS NULL OR count(*) < l.most,
                                      'members', coalesce(jsonb_agg(to_jsonb(w)), '[]')) AS found
            FROM (
                SELECT * FROM tokens t
                WHERE t.instance_id = p_thread AND t.scope_id = o.id AND t.state IN ('ACTIVE', 'WAITING')
                ORDER BY t.node_id DESC LIMIT l.most
            ) w
        ) m;
        SELECT jsonb_object_agg(o.id, m.found) INTO v_children
        FROM unnest(v_chain) o(id)
        CROSS JOIN LATERAL (
            SELECT jsonb_build_object('complete', count(*) < p_window,
                                      'members', coalesce(jsonb_agg(to_jsonb(w)), '[]')) AS found
            FROM (
                SELECT * FROM tokens t WHERE t.parent_token_id = o.id AND t.state IN ('ACTIVE', 'WAITING') LIMIT
                p_window
            ) w
        ) m
        WHERE o.id <> ALL (v_arrived);
    END IF;
    IF v_anchor.token_id IS NOT NULL THEN
        v_own := coalesce((SELECT local_scope FROM tokens WHERE id = v_anchor.token_id), 0);
    END IF;

    -- Variables: those that expressions or the command name, in the scopes at hand; all of the anchor's own scope.
    v_all_names := v_definition.dynamic OR (v_instance.caller IS NOT NULL AND v_instance.caller -> 'wants' IS NULL)
        OR jsonb_typeof(v_instance.caller -> 'wants') = 'null';
    v_names := ARRAY(
        SELECT jsonb_array_elements_text(v_definition.reads)
        UNION SELECT jsonb_array_elements_text(p_ask -> 'names')
        UNION SELECT jsonb_array_elements_text(CASE jsonb_typeof(v_instance.caller -> 'wants')
                                               WHEN 'array' THEN v_instance.caller -> 'wants' END)
    );
    -- Scope by scope (OFFSET keeps it so): put as one condition, all variables of the instance are gone through.
    SELECT jsonb_agg(to_jsonb(v)) INTO v_variables
    FROM (SELECT DISTINCT unnest(v_locals || 0::bigint) AS id) s
    CROSS JOIN LATERAL (SELECT * FROM variables x WHERE x.instance_id = p_thread AND x.scope = s.id OFFSET 0) v
    WHERE v_all_names OR v.name = ANY (v_names) OR (v_own > 0 AND v.scope = v_own);

    RETURN jsonb_build_object(
        'at', v_at, 'found', true, 'version', v_thread.version, 'counters', v_thread.counters,
        'definition', v_instance.process_def_id, 'run', v_instance.run_id,
        'instance', to_jsonb(v_instance), 'anchor', v_anchor.row_data, 'whole', v_whole, 'above', to_jsonb(v_above),
        'chain', to_jsonb(v_chain),
        'tokens', v_tokens, 'scopes', v_scopes, 'children', v_children, 'joins', v_definition.joins,
        'attached', bpm_attached(v_chain || p_thread), 'variables', v_variables, 'names', to_jsonb(v_names),
        'all_names', v_all_names, 'own', v_own
    );
END
$$;

-- Answers to a `Need`: each key [question, ...] (see bpm.semantics.view) with everything that follows from it, in one
-- round trip. Ids of tokens and entities come as UUIDs, scopes of variables as numbers.
CREATE OR REPLACE FUNCTION bpm_answer(p_thread uuid, p_keys jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    v_answers jsonb := '[]';
    v_answer jsonb;
    v_key jsonb;
    v_kind text;
    v_ids uuid[];
BEGIN
    FOR v_key IN SELECT jsonb_array_elements(p_keys) LOOP
        v_kind := v_key ->> 0;
        IF v_kind = 'token' THEN
            SELECT jsonb_build_object('tokens', jsonb_agg(to_jsonb(t))) INTO v_answer
            FROM bpm_above(ARRAY[(v_key ->> 1)::uuid]) t;
        ELSIF v_kind IN ('task', 'timer', 'ticket', 'user_task', 'incident') THEN
            SELECT jsonb_build_object(v_kind, jsonb_build_array(e.row_data)) INTO v_answer
            FROM bpm_entity(v_kind, (v_key ->> 1)::uuid) e WHERE e.row_data IS NOT NULL;
        ELSIF v_kind = 'attached' THEN
            v_answer := bpm_attached(ARRAY[(v_key ->> 1)::uuid]);
        ELSIF v_kind = 'children' THEN
            SELECT jsonb_build_object('tokens', jsonb_agg(to_jsonb(t))) INTO v_answer FROM tokens t
            WHERE t.parent_token_id = (v_key ->> 1)::uuid AND t.state IN ('ACTIVE', 'WAITING');
        ELSIF v_kind = 'scope' THEN
            SELECT jsonb_build_object('tokens', jsonb_agg(to_jsonb(t))) INTO v_answer FROM tokens t
            WHERE t.instance_id = p_thread AND t.scope_id = (v_key ->> 1)::uuid AND t.state IN ('ACTIVE', 'WAITING');
        ELSIF v_kind = 'arrived' THEN
            -- Whoever fires them goes up their fork ancestors.
            SELECT jsonb_build_object('tokens', jsonb_agg(to_jsonb(t))) INTO v_answer
            FROM bpm_above(ARRAY(
                SELECT id FROM tokens a WHERE a.instance_id = p_thread AND a.scope_id = (v_key ->> 1)::uuid
                  AND a.node_id = v_key ->> 2 AND a.state = 'WAITING'
            )) t;
        ELSIF v_kind = 'subtree' THEN
            SELECT jsonb_agg(to_jsonb(t)), array_agg(t.id) INTO v_answer, v_ids
            FROM bpm_below(p_thread, ARRAY[(v_key ->> 1)::uuid]) t;
            v_answer := bpm_attached(v_ids) || jsonb_build_object('tokens', v_answer);
        ELSIF v_kind IN ('conditions', 'signals') THEN
            SELECT jsonb_agg(to_jsonb(x)), array_agg(x.token_id) INTO v_answer, v_ids FROM runtime_wait_ticket x
            WHERE x.instance_id = p_thread AND x.state = 'OPEN' AND x.kind = upper(left(v_kind, -1))
              AND x.name = coalesce(v_key ->> 1, x.name);
            v_answer := jsonb_build_object(
                'ticket', v_answer, 'tokens', (SELECT jsonb_agg(to_jsonb(t)) FROM bpm_above(v_ids) t)
            );
        ELSIF v_kind = 'variable' THEN
            SELECT jsonb_build_object('variables', jsonb_agg(to_jsonb(v))) INTO v_answer FROM variables v
            WHERE v.instance_id = p_thread AND v.scope = (v_key ->> 1)::bigint AND v.name = v_key ->> 2;
        ELSIF v_kind = 'variables' THEN
            SELECT jsonb_build_object('variables', jsonb_agg(to_jsonb(v))) INTO v_answer FROM variables v
            WHERE v.instance_id = p_thread AND v.scope = (v_key ->> 1)::bigint;
        ELSE
            RAISE EXCEPTION 'no such question: %', v_key USING ERRCODE = 'TT107';
        END IF;
        v_answers := v_answers || jsonb_build_array(coalesce(v_answer, '{}'));
        v_answer := NULL;
    END LOOP;
    RETURN v_answers;
END
$$;

-- All variables that a token sees, inner scopes hiding outer ones: what a worker or a person is shown.
CREATE OR REPLACE FUNCTION bpm_sees(p_instance uuid, p_token uuid) RETURNS jsonb
LANGUAGE sql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    WITH RECURSIVE scopes AS (
        SELECT t.scope_id, t.local_scope, 1 AS depth FROM tokens t WHERE t.id = p_token
        UNION ALL
        SELECT t.scope_id, t.local_scope, s.depth + 1 FROM scopes s JOIN tokens t ON t.id = s.scope_id
    ), seen AS (
        SELECT DISTINCT ON (v.name) v.name, v.value, v.present
        FROM (SELECT local_scope, depth FROM scopes WHERE local_scope > 0 UNION ALL SELECT 0, 1000000) s
        -- Scope by scope (OFFSET keeps it so): else a young table's variables of the whole instance are gone through.
        CROSS JOIN LATERAL (
            SELECT * FROM variables o
            WHERE o.instance_id = p_instance AND o.scope = s.local_scope AND o.present
            OFFSET 0
        ) v
        ORDER BY v.name, s.depth
    )
    SELECT coalesce(jsonb_object_agg(name, value), '{}') FROM seen
$$;
