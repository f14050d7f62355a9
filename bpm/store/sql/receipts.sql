-- name: lock_receipt
-- Until the end of the transaction nobody else does something with that key.
SELECT pg_advisory_xact_lock(hashtextextended('receipt:' || length(%(actor)s::text) || ':' || %(actor)s::text
                                              || %(key)s::text, 0));

-- name: receipt
-- What was done outside of instances under an actor's key.
SELECT content, commit_version, result::text FROM runtime_operation_receipt
WHERE instance_id = '00000000-0000-0000-0000-000000000000' AND actor = %(actor)s::text AND key = %(key)s::text;

-- name: keep_receipt
-- The receipt of a commit of the nil thread, made in the same transaction: only the present months are looked into.
INSERT INTO runtime_operation_receipt (id, instance_id, actor, key, content, result, version, commit_version, commit_at,
                                       created_at)
SELECT %(id)s::uuid, c.thread_id, %(actor)s::text, %(key)s::text, %(content)s::text, %(result)s::jsonb, 1, c.version,
       c.at, c.at
FROM runtime_commit c
WHERE c.thread_id = '00000000-0000-0000-0000-000000000000' AND c.version = %(sequence)s::bigint
  AND c.at > (SELECT bpm_now()) - interval '1 day';

-- name: receipt_of
-- Whether an actor's key has been used for something with an instance.
SELECT content FROM runtime_operation_receipt
WHERE instance_id = %(thread)s::uuid AND actor = %(actor)s::text AND key = %(key)s::text;

-- name: still_locked
-- Tasks that a fetch locked and that are held under that very lock: what a worker hears that asks again. By their ids
-- they are looked up (OFFSET keeps it so), not by what is locked.
SELECT t.id, t.instance_id, t.token_id, t.node_id, t.topic, t.retries, t.priority, t.version, t.lock_owner,
       t.lock_expire_at, t.created_at, %(sequence)s::bigint, p.definition_key, p.process_def_id, p.business_key,
       bpm_sees(t.instance_id, t.token_id, w.variables)::text
FROM jsonb_to_recordset(%(tasks)s::jsonb) AS a(id uuid, version integer, place integer)
CROSS JOIN LATERAL (SELECT * FROM external_tasks x WHERE x.id = a.id OFFSET 0) t
JOIN process_instances p ON p.id = t.instance_id
LEFT JOIN jsonb_to_recordset(%(wanted)s::jsonb) AS w(topic varchar, variables text[]) ON w.topic = t.topic
WHERE t.version = a.version AND t.state = 'LOCKED' AND t.lock_expire_at > (SELECT bpm_now())
ORDER BY a.place;

-- name: locked_by
-- The task that a commit of an instance locked for the worker that made it, while it is held under that very lock: for
-- who completes a task once more with the same key.
SELECT t.id, t.instance_id, t.token_id, t.node_id, t.topic, t.retries, t.priority, t.version, t.lock_owner,
       t.lock_expire_at, t.created_at, e.commit_sequence, p.definition_key, p.process_def_id, p.business_key,
       bpm_sees(t.instance_id, t.token_id, w.variables)::text
FROM (
    SELECT * FROM external_task_events
    WHERE instance_id = %(instance)s::uuid AND commit_sequence = %(sequence)s::bigint AND at = %(at)s::timestamptz
    OFFSET 0
) e
CROSS JOIN LATERAL (SELECT * FROM external_tasks x WHERE x.id = e.task_id OFFSET 0) t
JOIN process_instances p ON p.id = t.instance_id
LEFT JOIN jsonb_to_recordset(%(wanted)s::jsonb) AS w(topic varchar, variables text[]) ON w.topic = t.topic
WHERE e.event_type = 'TASK_LOCKED' AND t.version = e.row_version AND t.state = 'LOCKED' AND t.lock_expire_at > (SELECT bpm_now());

-- name: received_by
-- Who has consumed the message of that name, and what the receipt says of it, while there is one.
SELECT m.instance_id, m.commit_version, m.commit_at, r.content, r.result::text
FROM runtime_message m
LEFT JOIN runtime_operation_receipt r
       ON r.instance_id = m.instance_id AND r.actor = %(actor)s::text AND r.key = %(key)s::text
WHERE m.box = 'IN' AND m.sender = %(sender)s::uuid AND m.sender_version = %(version)s::bigint
  AND m.sender_ordinal = %(ordinal)s::bigint
LIMIT 1;
