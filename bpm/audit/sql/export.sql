-- name: threads_in_time
-- A page of the instances that did something in a time, by id: the months of that time are read in the order of their
-- index by thread. Of archived ones the archive's list tells.
SELECT id FROM (
    (SELECT DISTINCT c.thread_id AS id FROM runtime_commit c
     WHERE c.thread_id > %(after)s::uuid
       AND c.at >= coalesce(%(since)s::timestamptz, '-infinity') AND c.at < coalesce(%(until)s::timestamptz, 'infinity')
     ORDER BY c.thread_id LIMIT %(limit)s::integer)
    UNION
    (SELECT a.instance_id FROM runtime_archived_instance a
     WHERE a.instance_id > %(after)s::uuid AND NOT a.stayed
       AND coalesce(a.ended_at, 'infinity') >= coalesce(%(since)s::timestamptz, '-infinity')
       AND a.started_at < coalesce(%(until)s::timestamptz, 'infinity')
     ORDER BY a.instance_id LIMIT %(limit)s::integer)
) i ORDER BY id LIMIT %(limit)s::integer;

-- name: instances_chosen
-- Which of these instances an export means, by id. Each condition asks an index of history; an instance whose rows are
-- swept has its last state there, too. Of an archived one the archive's list is asked; who worked on it, only its files
-- tell, so there it is among those that may be meant.
SELECT v.thread_id, a.id IS NOT NULL
FROM runtime_thread_version v LEFT JOIN LATERAL (
    SELECT x.* FROM runtime_archived_instance x WHERE x.instance_id = v.thread_id ORDER BY x.archive_id DESC LIMIT 1
) a ON true
WHERE v.thread_id = ANY(%(threads)s::uuid[])
  AND (%(definitions)s::uuid[] IS NULL OR EXISTS (
      SELECT FROM runtime_commit c
      WHERE c.thread_id = v.thread_id AND c.version = 1 AND c.process_def_id = ANY(%(definitions)s::uuid[])
  ) OR a.process_def_id = ANY(%(definitions)s::uuid[]))
  AND (%(states)s::text[] IS NULL OR coalesce(
      (SELECT p.state FROM process_instances p WHERE p.id = v.thread_id),
      (SELECT e.to_state FROM engine_events e WHERE e.instance_id = v.thread_id AND e.to_state IS NOT NULL
       ORDER BY e.commit_sequence DESC, e.ordinal DESC LIMIT 1),
      a.state
  ) = ANY(%(states)s::text[]))
  AND (%(workers)s::text[] IS NULL AND %(users)s::text[] IS NULL OR EXISTS (
      SELECT FROM external_task_events e
      WHERE e.instance_id = v.thread_id AND e.worker_id = ANY(%(workers)s::text[])
  ) OR EXISTS (
      SELECT FROM runtime_commit c WHERE c.thread_id = v.thread_id AND c.actor = ANY(%(users)s::text[])
  ) OR a.id IS NOT NULL)
ORDER BY v.thread_id;

-- name: sealed_by
-- The first seal that holds a commit of that number, or a later one.
SELECT min(number) FROM runtime_seal WHERE last_sequence >= %(sequence)s::bigint;

-- name: acts
-- Who did what when: a page of the log in its order, what the engine and workers' fetches do left out unless asked for.
SELECT c.sequence, c.at, c.actor, c.command, c.stated_reason, nullif(c.thread_id, '00000000-0000-0000-0000-000000000000'),
       c.arguments::text, d.key, d.version
FROM runtime_commit c LEFT JOIN process_definitions d ON d.id = c.process_def_id
WHERE c.sequence > %(after)s::bigint
  AND (%(since)s::timestamptz IS NULL OR c.at >= %(since)s::timestamptz)
  AND (%(until)s::timestamptz IS NULL OR c.at < %(until)s::timestamptz)
  AND (%(users)s::text[] IS NULL OR c.actor = ANY(%(users)s::text[]))
  AND (%(instances)s::uuid[] IS NULL OR c.thread_id = ANY(%(instances)s::uuid[]))
  AND (%(definitions)s::uuid[] IS NULL OR c.process_def_id = ANY(%(definitions)s::uuid[]))
  AND (%(everything)s::boolean OR c.actor <> 'engine'
       AND c.command NOT IN ('FetchAndLock', 'ExtendLock', 'ReleaseExpired', 'DeliverMessages', 'ExpireMessages'))
ORDER BY c.sequence LIMIT %(limit)s::integer;

-- name: nodes_of_commits
-- Where commits began: the node of the first event of each.
SELECT DISTINCT ON (commit_sequence) commit_sequence, node_id FROM runtime_event
WHERE thread_id = ANY(%(instances)s::uuid[]) AND commit_sequence = ANY(%(sequences)s::bigint[]) AND node_id IS NOT NULL
ORDER BY commit_sequence, ordinal;

-- name: failures
-- Which worker caused which failure: a page of failed, timed out and refused work in the order of the log, with the lock
-- under which it was done and the incident that came of it.
SELECT e.id, e.at, e.event_type, coalesce(e.worker_id, l.worker_id), e.error, e.payload::text, e.instance_id, e.node_id,
       e.task_id, e.commit_sequence, l.at, i.message
FROM external_task_events e
LEFT JOIN LATERAL (
    SELECT x.at, x.worker_id FROM external_task_events x
    WHERE x.task_id = e.task_id AND x.event_type = 'TASK_LOCKED' AND x.row_version < e.row_version
    ORDER BY x.row_version DESC LIMIT 1
) l ON true
LEFT JOIN LATERAL (
    SELECT w.payload ->> 'message' AS message FROM work_events w
    WHERE w.instance_id = e.instance_id AND w.commit_sequence = e.commit_sequence AND w.event_type = 'INCIDENT_OPENED'
    ORDER BY w.ordinal LIMIT 1
) i ON true
WHERE e.event_type IN ('TASK_FAILED', 'TASK_TIMED_OUT', 'TASK_ERROR_THROWN') AND e.id > %(after)s::bigint
  AND (%(since)s::timestamptz IS NULL OR e.at >= %(since)s::timestamptz)
  AND (%(until)s::timestamptz IS NULL OR e.at < %(until)s::timestamptz)
  AND (%(instances)s::uuid[] IS NULL OR e.instance_id = ANY(%(instances)s::uuid[]))
  AND (%(workers)s::text[] IS NULL OR coalesce(e.worker_id, l.worker_id) = ANY(%(workers)s::text[]))
  AND (%(definitions)s::uuid[] IS NULL OR EXISTS (
      SELECT FROM runtime_commit c
      WHERE c.thread_id = e.instance_id AND c.version = 1 AND c.process_def_id = ANY(%(definitions)s::uuid[])
  ))
ORDER BY e.id LIMIT %(limit)s::integer;

-- name: add_export
-- Somebody asks for an export. No row: there is one of that id.
INSERT INTO runtime_export (id, asked_by, reason, format, selection, masking, name, state, done, version, asked_at,
                            seen_at)
VALUES (%(id)s::uuid, %(actor)s::text, %(reason)s::text, %(format)s::text, %(selection)s::jsonb, %(masking)s::jsonb,
        %(name)s::text, 'WAITING', 0, 1, bpm_now(), clock_timestamp())
ON CONFLICT (id) DO NOTHING
RETURNING id;

-- name: is_export
-- Whether the export of that id is just what is asked for.
SELECT id FROM runtime_export
WHERE id = %(id)s::uuid AND reason IS NOT DISTINCT FROM %(reason)s::text AND format = %(format)s::text
  AND selection = %(selection)s::jsonb AND masking = %(masking)s::jsonb AND name = %(name)s::text;

-- name: export_request
-- One request.
SELECT id, asked_by, format, selection::text, name, state, done, manifest::text, error, asked_at FROM runtime_export
WHERE id = %(id)s::uuid;

-- name: export_requests
-- The newest requests.
SELECT id, asked_by, format, selection::text, name, state, done, manifest::text, error, asked_at FROM runtime_export
ORDER BY asked_at DESC LIMIT %(limit)s::integer;

-- name: take_export
-- The oldest request that waits, or whose taker has fallen silent. Several at once take several.
UPDATE runtime_export SET state = 'RUNNING', done = 0, seen_at = clock_timestamp(), version = version + 1
WHERE id = (
    SELECT id FROM runtime_export
    WHERE state = 'WAITING'
       OR state = 'RUNNING' AND seen_at < clock_timestamp() - make_interval(secs => %(silence)s::double precision)
    ORDER BY asked_at LIMIT 1
    FOR UPDATE SKIP LOCKED
)
RETURNING id, asked_by, reason, format, selection::text, masking::text, name, version;

-- name: sign_export
-- A sign of life, or the end; no row where somebody else has taken it.
UPDATE runtime_export
SET state = %(state)s::text, done = %(done)s::bigint, manifest = %(manifest)s::jsonb, error = %(error)s::text,
    seen_at = clock_timestamp(), version = version + 1
WHERE id = %(id)s::uuid AND version = %(version)s::integer AND state = 'RUNNING'
RETURNING version;
