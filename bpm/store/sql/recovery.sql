-- name: left_behind
-- Tokens that the engine must advance and that have been ACTIVE for a while (a crash, a lost wake-up), from a place on:
-- so that one which cannot be advanced hides no other.
SELECT t.id, t.instance_id, t.ordinal, t.commit_at,
       t.commit_at <= (SELECT bpm_now()) - make_interval(secs => %(overdue)s::double precision)
FROM tokens t
WHERE t.state = 'ACTIVE' AND t.commit_at <= (SELECT bpm_now()) - make_interval(secs => %(seconds)s::double precision)
  AND (t.commit_at, t.id) > (%(after_at)s::timestamptz, %(after_id)s::uuid)
  AND EXISTS (SELECT FROM process_instances p WHERE p.id = t.instance_id AND p.state = 'RUNNING')
ORDER BY t.commit_at, t.id LIMIT %(limit)s::integer;

-- name: timers_due
-- Timers whose moment has come, oldest first; of suspended instances none, and none whose token has an incident because
-- it could not be fired. Not locked: the step that fires one locks its instance's version row first (a scheduler that
-- locked the timer first would deadlock with a step that cancels it).
SELECT t.id, t.instance_id, t.ordinal, t.token_id, t.node_id, t.fire_at,
       t.fire_at <= (SELECT bpm_now()) - make_interval(secs => %(overdue)s::double precision)
FROM timers t
WHERE t.state = 'SCHEDULED' AND t.fire_at <= (SELECT bpm_now())
  AND EXISTS (SELECT FROM process_instances p WHERE p.id = t.instance_id AND p.state = 'RUNNING')
  AND NOT EXISTS (
      SELECT FROM incidents i
      WHERE i.token_id = t.token_id AND i.node_id = t.node_id AND i.kind = 'blocked' AND i.state = 'OPEN'
  )
ORDER BY t.fire_at, t.id LIMIT %(limit)s::integer;

-- name: note_try
-- Before something overdue is tried, history notes it: whoever tried it before may have died of it. Told: how often it
-- was tried lately, not counting what an operator has looked at since. What was tried often enough is not noted again.
WITH before AS MATERIALIZED (
    SELECT count(*) AS tries FROM engine_events e
    WHERE e.instance_id IS NULL AND e.event_type = 'ENGINE_RECOVERY' AND e.payload ->> 'of' = %(id)s::text
      AND e.at > greatest(%(since)s::timestamptz, (SELECT bpm_now()) - interval '15 minutes', (
          SELECT max(i.commit_at) FROM incidents i
          WHERE i.instance_id = %(instance)s::uuid AND i.token_id = %(token)s::uuid AND i.state = 'RESOLVED'
      ))
), noted AS (
    INSERT INTO engine_events (at, instance_id, entity, event_type, reason, payload, actor, engine_version, format)
    SELECT bpm_now(), NULL, 'engine', 'ENGINE_RECOVERY', 'retry',
           jsonb_build_object('found', jsonb_build_object(%(kind)s::text, 1), 'of', %(id)s::text,
                              'instance', %(instance)s::uuid, 'try', before.tries + 1),
           'engine', %(engine)s::text, %(format)s::smallint
    FROM before WHERE before.tries < %(most)s::integer
)
SELECT tries FROM before;

-- name: waiting_place
-- Where a ticket hangs, and whether nothing is brought there now: what it waits for could not be taken and has an
-- incident, or its instance is suspended.
SELECT w.token_id, w.node_id, EXISTS (
    SELECT FROM incidents i
    WHERE i.token_id = w.token_id AND i.node_id = w.node_id AND i.kind = 'blocked' AND i.state = 'OPEN'
) OR EXISTS (SELECT FROM process_instances p WHERE p.id = w.instance_id AND p.state = 'SUSPENDED')
FROM runtime_wait_ticket w WHERE w.id = %(ticket)s::uuid;

-- name: sweep_messages
-- Messages from outside that were delivered or expired long ago; those of instances go with them.
DELETE FROM runtime_message WHERE id IN (
    SELECT id FROM runtime_message
    WHERE instance_id = '00000000-0000-0000-0000-000000000000' AND state <> 'PENDING'
      AND commit_at <= (SELECT bpm_now()) - make_interval(secs => %(seconds)s::double precision)
    LIMIT %(limit)s::integer
)
RETURNING id;

-- name: timeouts_in_a_row
-- Of each task how many locks ran out since its last event that is none of locking: its own few rows of history, in the
-- months since the oldest of them was made.
WITH asked AS MATERIALIZED (
    SELECT min(created_at) AS since FROM external_tasks WHERE id = ANY(%(tasks)s::uuid[])
)
SELECT e.task_id, count(*) FROM external_task_events e
WHERE e.task_id = ANY(%(tasks)s::uuid[]) AND e.event_type = 'TASK_TIMED_OUT' AND e.at >= (SELECT since FROM asked)
  AND e.row_version > (
      SELECT coalesce(max(o.row_version), 0) FROM external_task_events o
      WHERE o.task_id = e.task_id AND o.at >= (SELECT since FROM asked) AND o.event_type NOT IN ('TASK_LOCKED', 'TASK_EXTENDED', 'TASK_TIMED_OUT')
  )
GROUP BY e.task_id;
