-- name: active_of_instance
-- The instance's tokens that the engine must advance, oldest first.
SELECT t.ordinal FROM tokens t
WHERE t.instance_id = %(instance)s::uuid AND t.state = 'ACTIVE'
ORDER BY t.id LIMIT %(limit)s::integer;

-- name: pending_messages
-- What waits to be delivered, first in first out; what is older than its time to live is for expire_messages, unless it
-- has been taken and only its row is open still.
SELECT id, sender, sender_version, sender_ordinal, kind, name, correlation, business_key, body::text, target, many,
       version, created_at
FROM runtime_message m
WHERE box = 'OUT' AND state = 'PENDING' AND (expires_at IS NULL OR expires_at > (SELECT bpm_now()) OR EXISTS (
      SELECT FROM runtime_message r
      WHERE r.box = 'IN' AND NOT r.many AND r.sender = m.sender AND r.sender_version = m.sender_version
        AND r.sender_ordinal = m.sender_ordinal
  ))
  AND (created_at, id) > (%(after_at)s::timestamptz, %(after_id)s::uuid)
ORDER BY created_at, id LIMIT %(limit)s::integer;

-- name: messages_of
-- What one commit sent and is not delivered yet.
SELECT id, sender, sender_version, sender_ordinal, kind, name, correlation, business_key, body::text, target, many,
       version, created_at
FROM runtime_message
WHERE box = 'OUT' AND state = 'PENDING' AND sender = %(sender)s::uuid AND sender_version = %(version)s::bigint
ORDER BY sender_ordinal;

-- name: pending_named
-- Messages of a name that wait for somebody: asked when a ticket has been opened.
SELECT id, sender, sender_version, sender_ordinal, kind, name, correlation, business_key, body::text, target, many,
       version, created_at
FROM runtime_message
WHERE box = 'OUT' AND state = 'PENDING' AND kind = %(kind)s::text AND name = %(name)s::text
  AND (expires_at IS NULL OR expires_at > (SELECT bpm_now()))
ORDER BY created_at, id LIMIT %(limit)s::integer;

-- name: publish
-- A message from outside: a row that waits for its receiver, and its event. It changes no instance, so it is allowed in
-- any transaction.
WITH stamp AS MATERIALIZED (
    SELECT nextval('runtime_commit_sequence') AS sequence, bpm_now() AS at
), noted AS (
    INSERT INTO runtime_commit (sequence, at, thread_id, run_id, version, command, arguments, actor, stated_reason, key,
                                events, counters, engine_version, format)
    SELECT sequence, at, '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', sequence,
           'PublishMessage', jsonb_build_object('message', %(id)s::uuid), %(actor)s::text, %(reason)s::text,
           %(key)s::text, 1, '{}', %(engine)s::text, %(format)s::smallint
    FROM stamp
), sent AS (
    INSERT INTO runtime_message (id, box, instance_id, sender, sender_version, sender_ordinal, kind, name, correlation,
                                 business_key, body, target, many, ticket, expires_at, state, ordinal, version,
                                 commit_version, commit_at, created_at)
    SELECT %(id)s::uuid, 'OUT', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000',
           sequence, 1, %(kind)s::text, %(name)s::text, %(correlation)s::text, %(business_key)s::text, %(body)s::jsonb,
           %(target)s::uuid, %(many)s::boolean, 0, at + make_interval(secs => %(live_seconds)s::double precision),
           'PENDING', 1, 1, sequence, at, at
    FROM stamp
), told AS (
    INSERT INTO work_events (
        at, instance_id, entity, entity_id, event_type, to_state, reason, payload, commit_sequence, ordinal,
        thread_version, row_version, actor, stated_reason, engine_version, format)
    SELECT at, '00000000-0000-0000-0000-000000000000', 'message', %(id)s::uuid, 'MESSAGE_SENT', 'PENDING', 'message',
           jsonb_build_object('kind', %(kind)s::text, 'name', %(name)s::text, 'body', %(body)s::jsonb), sequence,
           0, sequence, 1, %(actor)s::text, %(reason)s::text, %(engine)s::text, %(format)s::smallint
    FROM stamp
)
SELECT sequence, at FROM stamp;

-- name: deliver_messages
-- Messages of one sender that their receivers have consumed (or that nobody will) are closed. The receiver's own commit
-- was the delivery; this only keeps the relay from asking again. Whoever closed one before is passed over.
WITH asked AS MATERIALIZED (
    SELECT m.id, row_number() OVER () AS place, a.receivers FROM (
        SELECT m.id FROM runtime_message m
        WHERE m.id = ANY (ARRAY(SELECT (jsonb_array_elements(%(messages)s::jsonb) ->> 'id')::uuid))
          AND m.box = 'OUT' AND m.state = 'PENDING'
        ORDER BY m.id
        FOR UPDATE SKIP LOCKED
    ) m JOIN jsonb_to_recordset(%(messages)s::jsonb) AS a(id uuid, receivers jsonb) USING (id)
), stamp AS MATERIALIZED (
    SELECT nextval('runtime_commit_sequence') AS sequence, bpm_now() AS at, count(*) AS events
    FROM asked HAVING count(*) > 0
), noted AS (
    INSERT INTO runtime_commit (sequence, at, thread_id, run_id, version, command, arguments, actor, events, counters,
                                engine_version, format)
    SELECT sequence, at, '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', sequence,
           'DeliverMessages', '{}', %(actor)s::text, events, '{}', %(engine)s::text, %(format)s::smallint
    FROM stamp
), closed AS (
    UPDATE runtime_message m
    SET state = 'DELIVERED', version = m.version + 1, commit_version = s.sequence, commit_at = s.at
    FROM asked a, stamp s
    WHERE m.id = a.id
    RETURNING m.*, s.sequence, a.place, a.receivers
), told AS (
    INSERT INTO work_events (
        at, instance_id, entity, entity_id, event_type, from_state, to_state, reason, payload, commit_sequence, ordinal,
        thread_version, row_version, actor, engine_version, format)
    SELECT commit_at, instance_id, 'message', id, 'MESSAGE_DELIVERED', 'PENDING', 'DELIVERED', 'message',
           jsonb_build_object('receivers', coalesce(receivers, '[]')), sequence, place - 1, sequence, version,
           %(actor)s::text, %(engine)s::text, %(format)s::smallint
    FROM closed
)
SELECT id FROM closed;

-- name: expire_messages
-- The oldest message that nobody took within its time to live expires into history: one, so that a transaction touches
-- one sender. What has been taken is only to be closed. What one instance owes another (a call, its result) has no such
-- time.
WITH late AS MATERIALIZED (
    SELECT id, row_number() OVER () AS place FROM (
        SELECT id FROM runtime_message m
        WHERE box = 'OUT' AND state = 'PENDING' AND (expires_at <= (SELECT bpm_now()) OR (
              expires_at IS NULL AND kind IN ('MESSAGE', 'SIGNAL')
              AND created_at <= (SELECT bpm_now()) - make_interval(secs => %(without_life)s::double precision)
          ))
          AND NOT EXISTS (
              SELECT FROM runtime_message r
              WHERE r.box = 'IN' AND NOT r.many AND r.sender = m.sender AND r.sender_version = m.sender_version
                AND r.sender_ordinal = m.sender_ordinal
          )
        ORDER BY created_at LIMIT 1
        FOR UPDATE SKIP LOCKED
    ) m
), stamp AS MATERIALIZED (
    SELECT nextval('runtime_commit_sequence') AS sequence, bpm_now() AS at, count(*) AS events
    FROM late HAVING count(*) > 0
), noted AS (
    INSERT INTO runtime_commit (sequence, at, thread_id, run_id, version, command, arguments, actor, events, counters,
                                engine_version, format)
    SELECT sequence, at, '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', sequence,
           'ExpireMessages', '{}', %(actor)s::text, events, '{}', %(engine)s::text, %(format)s::smallint
    FROM stamp
), closed AS (
    UPDATE runtime_message m
    SET state = 'EXPIRED', version = m.version + 1, commit_version = s.sequence, commit_at = s.at
    FROM late l, stamp s
    WHERE m.id = l.id
    RETURNING m.*, s.sequence, l.place
), told AS (
    INSERT INTO work_events (
        at, instance_id, entity, entity_id, event_type, from_state, to_state, reason, payload, commit_sequence, ordinal,
        thread_version, row_version, actor, engine_version, format)
    SELECT commit_at, instance_id, 'message', id, 'MESSAGE_EXPIRED', 'PENDING', 'EXPIRED', 'timeout', '{}', sequence,
           place - 1, sequence, version, %(actor)s::text, %(engine)s::text, %(format)s::smallint
    FROM closed
)
SELECT id FROM closed;

-- name: engine_event
-- What the engine itself did (ENGINE_TICK, ENGINE_RECOVERY, ENGINE_VERSION): no instance, no commit.
INSERT INTO engine_events (at, instance_id, entity, event_type, reason, payload, actor, engine_version, format)
VALUES (bpm_now(), NULL, 'engine', %(type)s::text, %(reason)s::text, %(payload)s::jsonb, %(actor)s::text,
        %(engine)s::text, %(format)s::smallint)
RETURNING id, at;

-- name: sweep_ended
-- An instance that ended before the retention of runtime rows, the first one: history can rebuild it. Its rows go
-- together, and a transaction touches no second instance.
WITH gone AS MATERIALIZED (
    SELECT id FROM process_instances
    WHERE ended_at <= (SELECT bpm_now()) - make_interval(secs => %(seconds)s::double precision)
    ORDER BY ended_at LIMIT 1
    FOR UPDATE SKIP LOCKED
), t1 AS (DELETE FROM tokens WHERE instance_id IN (SELECT id FROM gone)
), t2 AS (DELETE FROM token_links WHERE instance_id IN (SELECT id FROM gone)
), t3 AS (DELETE FROM external_tasks WHERE instance_id IN (SELECT id FROM gone)
), t4 AS (DELETE FROM timers WHERE instance_id IN (SELECT id FROM gone)
), t5 AS (DELETE FROM user_tasks WHERE instance_id IN (SELECT id FROM gone)
), t6 AS (DELETE FROM incidents WHERE instance_id IN (SELECT id FROM gone)
), t7 AS (DELETE FROM variables WHERE instance_id IN (SELECT id FROM gone)
), t8 AS (DELETE FROM runtime_wait_ticket WHERE instance_id IN (SELECT id FROM gone)
), t9 AS (DELETE FROM runtime_message WHERE instance_id IN (SELECT id FROM gone) AND state <> 'PENDING'
), t10 AS (DELETE FROM runtime_run_record WHERE thread_id IN (SELECT id FROM gone)
), t11 AS (DELETE FROM runtime_base_state WHERE thread_id IN (SELECT id FROM gone)
)
DELETE FROM process_instances WHERE id IN (SELECT id FROM gone) RETURNING id;

-- name: sweep_receipts
-- Receipts expire by setting.
DELETE FROM runtime_operation_receipt WHERE id IN (
    SELECT id FROM runtime_operation_receipt
    WHERE created_at <= (SELECT bpm_now()) - make_interval(secs => %(seconds)s::double precision)
    ORDER BY created_at LIMIT %(limit)s::integer
)
RETURNING id;

-- name: ensure_partitions
-- Months of history ahead, made by the owner's function.
SELECT bpm_ensure_partitions(NULL, %(months)s::integer);

-- name: move_clock
-- Only in a database marked as one for tests.
SELECT bpm_move_clock(%(ahead)s::interval);
