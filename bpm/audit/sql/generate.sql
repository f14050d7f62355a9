-- name: marked_for_tests
-- Whether a superuser has marked this database as one for tests.
SELECT EXISTS (
    SELECT FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
    WHERE c.relname = 'tokentrail_test_database' AND c.relkind = 'r' AND r.rolsuper
);

-- name: generate_months
-- The months that copies will lie in.
SELECT bpm_ensure_partitions(%(from)s::timestamptz, %(months)s::integer);

-- name: generate_pattern
-- The commits of the instance that is copied, those of the nil thread that locked its tasks among them.
CREATE TEMPORARY TABLE tokentrail_pattern AS
SELECT sequence, row_number() OVER (ORDER BY sequence) AS place FROM runtime_commit
WHERE thread_id = %(instance)s::uuid
   OR sequence IN (SELECT commit_sequence FROM external_task_events WHERE instance_id = %(instance)s::uuid);

-- name: generate_numbers
-- Numbers for so many copies: the first, and how many one needs.
SELECT nextval('runtime_commit_sequence'), (SELECT max(place) FROM tokentrail_pattern),
       setval('runtime_commit_sequence',
              currval('runtime_commit_sequence') + %(copies)s::bigint * (SELECT max(place) FROM tokentrail_pattern) + 1);

-- name: generate_copies
-- The ids, numbers and times of a batch of copies.
CREATE TEMPORARY TABLE tokentrail_copies ON COMMIT DROP AS
SELECT k, %(first)s::bigint + k * %(span)s::bigint AS base,
       (substr(t, 1, 8) || '-' || substr(t, 9, 4) || '-7' || substr(m, 1, 3) || '-8' || substr(m, 4, 3) || '-'
        || substr(m, 7, 4) || '00000000')::uuid AS id,
       substr(t, 1, 8) || '-' || substr(t, 9, 4) || '-7' || substr(m, 1, 3) || '-8' || substr(m, 4, 3) || '-'
       || substr(m, 7, 4) AS prefix,
       began - %(pattern_at)s::timestamptz AS ahead
FROM (
    SELECT k, began, lpad(to_hex((extract(epoch FROM began) * 1000)::bigint), 12, '0') AS t, md5(k::text || %(seed)s::text) AS m
    FROM (
        SELECT k, %(from)s::timestamptz + k * make_interval(secs => %(step)s::double precision) AS began
        FROM generate_series(%(lowest)s::bigint, %(highest)s::bigint) k
    ) a
) b;

-- name: generate_commits
-- Their commits.
INSERT INTO runtime_commit (sequence, at, thread_id, run_id, version, process_def_id, command, arguments, actor,
                            stated_reason, key, caused_by, events, counters, engine_version, format)
SELECT k.base + p.place, c.at + k.ahead,
       CASE c.thread_id WHEN %(instance)s::uuid THEN k.id ELSE c.thread_id END,
       CASE c.thread_id WHEN %(instance)s::uuid THEN k.id ELSE c.run_id END,
       CASE c.thread_id WHEN %(instance)s::uuid THEN c.version ELSE k.base + p.place END,
       c.process_def_id, c.command, c.arguments, c.actor, c.stated_reason, c.key, k.base + q.place, c.events,
       c.counters, c.engine_version, c.format
FROM runtime_commit c JOIN tokentrail_pattern p USING (sequence)
LEFT JOIN tokentrail_pattern q ON q.sequence = c.caused_by CROSS JOIN tokentrail_copies k;

-- name: generate_token_events
-- Their events, table by table.
INSERT INTO token_events (at, instance_id, event_type, token_id, node_id, from_state, to_state, reason, payload,
                          commit_sequence, ordinal, thread_version, row_version, caused_by, actor, stated_reason,
                          engine_version, format)
SELECT e.at + k.ahead, k.id, e.event_type, (k.prefix || right(e.token_id::text, 8))::uuid, e.node_id, e.from_state,
       e.to_state, e.reason, e.payload, k.base + p.place, e.ordinal, e.thread_version, e.row_version, NULL, e.actor,
       e.stated_reason, e.engine_version, e.format
FROM token_events e JOIN tokentrail_pattern p ON p.sequence = e.commit_sequence CROSS JOIN tokentrail_copies k
WHERE e.instance_id = %(instance)s::uuid;

-- name: generate_task_events
-- Those of external tasks.
INSERT INTO external_task_events (at, instance_id, event_type, task_id, worker_id, error, token_id, node_id, from_state,
                                  to_state, reason, payload, commit_sequence, ordinal, thread_version, row_version,
                                  caused_by, actor, stated_reason, engine_version, format)
SELECT e.at + k.ahead, k.id, e.event_type, (k.prefix || right(e.task_id::text, 8))::uuid, e.worker_id, e.error,
       (k.prefix || right(e.token_id::text, 8))::uuid, e.node_id, e.from_state, e.to_state, e.reason, e.payload,
       k.base + p.place, e.ordinal, CASE WHEN c.thread_id = e.instance_id THEN e.thread_version ELSE k.base + p.place END,
       e.row_version, NULL, e.actor, e.stated_reason, e.engine_version, e.format
FROM external_task_events e JOIN tokentrail_pattern p ON p.sequence = e.commit_sequence
JOIN runtime_commit c ON c.sequence = p.sequence CROSS JOIN tokentrail_copies k
WHERE e.instance_id = %(instance)s::uuid;

-- name: generate_timer_events
-- Those of timers.
INSERT INTO timer_events (at, instance_id, event_type, timer_id, token_id, node_id, from_state, to_state, reason,
                          payload, commit_sequence, ordinal, thread_version, row_version, caused_by, actor,
                          stated_reason, engine_version, format)
SELECT e.at + k.ahead, k.id, e.event_type, (k.prefix || right(e.timer_id::text, 8))::uuid,
       (k.prefix || right(e.token_id::text, 8))::uuid, e.node_id, e.from_state, e.to_state, e.reason, e.payload,
       k.base + p.place, e.ordinal, e.thread_version, e.row_version, NULL, e.actor, e.stated_reason, e.engine_version,
       e.format
FROM timer_events e JOIN tokentrail_pattern p ON p.sequence = e.commit_sequence CROSS JOIN tokentrail_copies k
WHERE e.instance_id = %(instance)s::uuid;

-- name: generate_work_events
-- Those of user tasks, tickets, incidents and messages.
INSERT INTO work_events (at, instance_id, event_type, entity, entity_id, token_id, node_id, from_state, to_state, reason,
                         payload, commit_sequence, ordinal, thread_version, row_version, caused_by, actor,
                         stated_reason, engine_version, format)
SELECT e.at + k.ahead, k.id, e.event_type, e.entity, (k.prefix || right(e.entity_id::text, 8))::uuid,
       (k.prefix || right(e.token_id::text, 8))::uuid, e.node_id, e.from_state, e.to_state, e.reason, e.payload,
       k.base + p.place, e.ordinal, e.thread_version, e.row_version, NULL, e.actor, e.stated_reason, e.engine_version,
       e.format
FROM work_events e JOIN tokentrail_pattern p ON p.sequence = e.commit_sequence CROSS JOIN tokentrail_copies k
WHERE e.instance_id = %(instance)s::uuid;

-- name: generate_engine_events
-- Those of the instances themselves.
INSERT INTO engine_events (at, instance_id, event_type, entity, token_id, node_id, from_state, to_state, reason, payload,
                           commit_sequence, ordinal, thread_version, row_version, caused_by, actor, stated_reason,
                           engine_version, format)
SELECT e.at + k.ahead, k.id, e.event_type, e.entity, (k.prefix || right(e.token_id::text, 8))::uuid, e.node_id,
       e.from_state, e.to_state, e.reason, e.payload, k.base + p.place, e.ordinal, e.thread_version, e.row_version, NULL,
       e.actor, e.stated_reason, e.engine_version, e.format
FROM engine_events e JOIN tokentrail_pattern p ON p.sequence = e.commit_sequence CROSS JOIN tokentrail_copies k
WHERE e.instance_id = %(instance)s::uuid;

-- name: generate_state_commands
-- The history of their variables.
INSERT INTO runtime_state_command (at, instance_id, variable_id, op, scope, name, value, token_id, node_id, reason,
                                   payload, commit_sequence, ordinal, thread_version, row_version, caused_by, actor,
                                   stated_reason, engine_version, format)
SELECT e.at + k.ahead, k.id, md5(k.prefix || e.variable_id::text)::uuid, e.op, e.scope, e.name, e.value,
       (k.prefix || right(e.token_id::text, 8))::uuid, e.node_id, e.reason, e.payload, k.base + p.place, e.ordinal,
       e.thread_version, e.row_version, NULL, e.actor, e.stated_reason, e.engine_version, e.format
FROM runtime_state_command e JOIN tokentrail_pattern p ON p.sequence = e.commit_sequence CROSS JOIN tokentrail_copies k
WHERE e.instance_id = %(instance)s::uuid;

-- name: generate_threads
-- The rows that say that there are such instances. Past the rules, which want versions to begin with 1.
INSERT INTO runtime_thread_version (thread_id, version, last_at, counters)
SELECT k.id, v.version, v.last_at + k.ahead, v.counters FROM runtime_thread_version v CROSS JOIN tokentrail_copies k
WHERE v.thread_id = %(instance)s::uuid;

-- name: generate_over
-- What was only needed for copying.
DROP TABLE tokentrail_pattern;

-- name: history_partitions
-- Partitions of history that hold rows: only these are analysed.
SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
WHERE p.relname IN ('runtime_commit', 'token_events', 'external_task_events', 'timer_events', 'work_events',
                    'engine_events', 'runtime_state_command')
  AND pg_relation_size(c.oid) > 0
ORDER BY c.relname;

-- name: start_of_pattern
-- When the instance that is copied began.
SELECT min(at) FROM runtime_commit WHERE thread_id = %(instance)s::uuid AND version = 1;
