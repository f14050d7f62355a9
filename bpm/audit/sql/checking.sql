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
