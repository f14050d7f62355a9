-- name: tickets_that_fit
-- Who waits for a message, the oldest ticket first; where an instance is named, only there. A ticket with a correlation
-- key is found by one of the message's keys (NULL: it has none, and any ticket will do); one without by process
-- variables, as Camunda 7 does. Who could not take such a message, and has an incident for that, waits for an operator.
SELECT w.instance_id, w.ordinal
FROM runtime_wait_ticket w JOIN process_instances p ON p.id = w.instance_id
WHERE w.state = 'OPEN' AND w.kind = 'MESSAGE' AND w.name = %(name)s AND p.state = 'RUNNING'
  AND NOT EXISTS (
      SELECT FROM incidents i
      WHERE i.token_id = w.token_id AND i.node_id = w.node_id AND i.kind = 'blocked' AND i.state = 'OPEN'
  )
  AND (%(business_key)s::varchar IS NULL OR p.business_key = %(business_key)s)
  AND (%(instance)s::uuid IS NULL OR w.instance_id = %(instance)s::uuid)
  AND CASE
      WHEN w.correlation IS NULL OR %(keys)s::varchar[] IS NULL THEN NOT EXISTS (
          SELECT FROM jsonb_each(%(variables)s::jsonb) asked
          WHERE NOT EXISTS (
              SELECT FROM variables v
              WHERE v.instance_id = w.instance_id AND v.scope = 0 AND v.name = asked.key AND v.present
                AND v.value = asked.value
          )
      )
      ELSE w.correlation = ANY (%(keys)s::varchar[])
  END
ORDER BY w.created_at, w.id LIMIT %(limit)s;

-- name: audience
-- Who has not heard a signal yet: the tickets that were open at its throw and still are (its thrower has heard it), and
-- whether each can hear it now. A suspended instance hears it when it is resumed, and nobody hears it before an earlier
-- one of the same sender that is still on its way there. Those that can, first.
SELECT w.instance_id, w.ordinal, p.state = 'RUNNING' AND NOT EXISTS (
    SELECT FROM runtime_message e
    WHERE e.box = 'OUT' AND e.state = 'PENDING' AND e.kind = 'SIGNAL' AND e.name = m.name AND e.sender = m.sender
      AND (e.sender_version, e.sender_ordinal) < (m.sender_version, m.sender_ordinal)
      AND w.created_at <= e.created_at
      AND NOT EXISTS (
          SELECT FROM runtime_message h
          WHERE h.box = 'IN' AND h.many AND h.instance_id = w.instance_id AND h.ticket = w.ordinal
            AND (h.sender, h.sender_version, h.sender_ordinal) = (e.sender, e.sender_version, e.sender_ordinal)
      )
) AS hears
FROM runtime_message m
JOIN runtime_wait_ticket w ON w.kind = 'SIGNAL' AND w.name = m.name AND w.state = 'OPEN'
JOIN process_instances p ON p.id = w.instance_id
WHERE m.id = %(id)s::uuid AND w.created_at <= m.created_at AND w.instance_id <> m.sender
  AND p.state IN ('RUNNING', 'SUSPENDED')
  AND NOT EXISTS (
      SELECT FROM runtime_message h
      WHERE h.box = 'IN' AND h.many AND h.instance_id = w.instance_id AND h.ticket = w.ordinal
        AND (h.sender, h.sender_version, h.sender_ordinal) = (m.sender, m.sender_version, m.sender_ordinal)
  )
ORDER BY hears DESC, w.created_at, w.id LIMIT %(limit)s;

-- name: delivery_facts
-- What a delivery asks before it: the commit that sent the message; whether an earlier one of the same sender, name and
-- keys still waits (first in, first out); what the sender runs; whether a ticket of the sender is open, and whether the
-- message that this one takes back has been delivered; whether it waits for long; who has taken it, where whoever
-- brought it ended before the sender's row was closed.
SELECT
    (SELECT c.sequence FROM runtime_commit c
     WHERE c.at = m.created_at AND c.thread_id = m.sender AND c.version = m.sender_version),
    EXISTS (
        SELECT FROM runtime_message e
        WHERE e.box = 'OUT' AND e.state = 'PENDING' AND e.kind = m.kind AND e.name = m.name AND e.sender = m.sender
          AND (e.correlation, e.business_key) IS NOT DISTINCT FROM (m.correlation, m.business_key)
          AND (e.sender_version, e.sender_ordinal) < (m.sender_version, m.sender_ordinal)
          AND (e.expires_at IS NULL OR e.expires_at > (SELECT bpm_now()))
    ),
    (SELECT p.process_def_id FROM process_instances p WHERE p.id = m.sender),
    (SELECT t.state = 'OPEN' FROM runtime_wait_ticket t WHERE t.id = %(ticket)s::uuid),
    EXISTS (
        SELECT FROM runtime_message e
        WHERE e.box = 'OUT' AND e.state = 'PENDING' AND e.kind = 'CALL' AND e.sender = m.sender AND e.target = m.target
    ),
    m.state,
    m.created_at <= (SELECT bpm_now()) - make_interval(secs => %(overdue)s::double precision),
    (SELECT r.instance_id FROM runtime_message r
     WHERE r.box = 'IN' AND NOT r.many AND r.sender = m.sender AND r.sender_version = m.sender_version
       AND r.sender_ordinal = m.sender_ordinal)
FROM runtime_message m WHERE m.id = %(id)s::uuid;

-- name: forgotten_tasks
-- Tasks that are ready and that nobody took: those whose wake-up was lost (after a while), and those whose pause after a
-- failure is over. Counted to a limit, by topic, from the index of ready tasks.
SELECT asked.topic, (
    SELECT count(*) FROM (
        SELECT FROM external_tasks t
        WHERE t.topic = asked.topic AND t.state = 'READY'
          AND coalesce(t.retry_at, t.commit_at + make_interval(secs => %(seconds)s)) <= (SELECT bpm_now())
        LIMIT %(limit)s
    ) ready
)
FROM unnest(%(topics)s::varchar[]) asked(topic);

-- name: quiet_tick
-- A scheduler that did nothing says once a minute that it is alive, however many there are.
INSERT INTO engine_events (at, instance_id, entity, event_type, reason, payload, actor, engine_version, format)
SELECT n.at, NULL, 'engine', 'ENGINE_TICK', 'none', %(payload)s::jsonb, 'engine', %(engine)s, %(format)s
FROM (SELECT bpm_now() AS at) n
WHERE NOT EXISTS (
    SELECT FROM engine_events e
    WHERE e.instance_id IS NULL AND e.event_type = 'ENGINE_TICK' AND e.at > n.at - interval '1 minute'
);

-- name: last_engine_version
-- Which version of the engine ran last, as history has it.
SELECT payload ->> 'version' FROM engine_events
WHERE instance_id IS NULL AND event_type = 'ENGINE_VERSION' ORDER BY at DESC LIMIT 1;

-- name: task_lock
-- Who holds a task, for the reason of a refusal.
SELECT t.state, t.lock_owner, t.lock_expire_at, p.ended_at IS NULL
FROM external_tasks t JOIN process_instances p ON p.id = t.instance_id WHERE t.id = %(id)s::uuid;
