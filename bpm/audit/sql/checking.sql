-- name: violation_noted
-- Whether a violation is in history already: the same instance is met by many samples.
SELECT 1 FROM engine_events
WHERE instance_id IS NULL AND event_type = %(type)s::text
  AND payload @> jsonb_build_object('instance', %(instance)s::text, 'code', %(code)s::text,
                                    'sequence', %(sequence)s::bigint)
LIMIT 1;

-- name: violations_of_late
-- How many violations were noted lately, by the index of the engine's own events.
SELECT count(*) FROM engine_events
WHERE instance_id IS NULL AND event_type = %(type)s::text
  AND at > bpm_now() - make_interval(secs => %(days)s::double precision * 86400);

-- name: threads_at_hand
-- Of these instances: how many commits each has, when it began, and whether some of it lies in archives alone.
SELECT v.thread_id, v.version,
       (SELECT c.at FROM runtime_commit c WHERE c.thread_id = v.thread_id AND c.version = 1 LIMIT 1),
       EXISTS (SELECT FROM runtime_archived_instance a WHERE a.instance_id = v.thread_id AND NOT a.stayed)
FROM runtime_thread_version v WHERE v.thread_id = ANY(%(threads)s::uuid[]);
