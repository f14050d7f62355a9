-- All history of a thread in commit order: ORDER BY commit_sequence, ordinal. With at >= the start of the instance only
-- the months that can matter are read. Every branch has the very same types, or PostgreSQL would sort all of an instance
-- for one page instead of merging the branches' indexes.
CREATE VIEW runtime_event AS
SELECT 'token.' || id AS id, 'token_events' AS source, at, instance_id AS thread_id, commit_sequence, ordinal,
       thread_version, row_version, event_type, 'token'::varchar AS entity, token_id AS entity_id, token_id, node_id,
       from_state, to_state, reason, NULL::varchar AS worker_id, NULL::text AS error, NULL::bigint AS scope,
       NULL::varchar AS name, NULL::jsonb AS value, payload, caused_by, actor, stated_reason, xid, engine_version,
       format
FROM token_events
UNION ALL
SELECT 'task.' || id, 'external_task_events', at, instance_id, commit_sequence, ordinal, thread_version,
       row_version, event_type, 'task', task_id, token_id, node_id, from_state, to_state, reason,
       worker_id, error, NULL, NULL, NULL,
       payload, caused_by, actor, stated_reason, xid, engine_version, format
FROM external_task_events
UNION ALL
SELECT 'timer.' || id, 'timer_events', at, instance_id, commit_sequence, ordinal, thread_version,
       row_version, event_type, 'timer', timer_id, token_id, node_id, from_state, to_state, reason,
       NULL, NULL, NULL, NULL, NULL,
       payload, caused_by, actor, stated_reason, xid, engine_version, format
FROM timer_events
UNION ALL
SELECT 'work.' || id, 'work_events', at, instance_id, commit_sequence, ordinal, thread_version,
       row_version, event_type, entity, entity_id, token_id, node_id, from_state, to_state, reason,
       NULL, NULL, NULL, NULL, NULL,
       payload, caused_by, actor, stated_reason, xid, engine_version, format
FROM work_events
UNION ALL
SELECT 'engine.' || id, 'engine_events', at, instance_id, commit_sequence, ordinal, thread_version,
       row_version, event_type, entity, instance_id, token_id, node_id, from_state, to_state, reason,
       NULL, NULL, NULL, NULL, NULL,
       payload, caused_by, actor, stated_reason, xid, engine_version, format
FROM engine_events
UNION ALL
SELECT 'state.' || id, 'runtime_state_command', at, instance_id, commit_sequence, ordinal, thread_version,
       row_version, ('VARIABLE_' || op)::varchar, 'variable', variable_id, token_id, node_id, NULL, NULL, reason,
       NULL, NULL, scope, name, value,
       payload, caused_by, actor, stated_reason, xid, engine_version, format
FROM runtime_state_command;
