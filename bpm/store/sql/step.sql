-- name: load
-- The first round trip of a step: BEGIN stands before it in the same pipeline.
SELECT bpm_load($1::uuid, $2::jsonb)::text;

-- name: answer
-- What `decide` found missing, all keys in one round trip.
SELECT bpm_answer($1::uuid, $2::jsonb)::text;

-- name: flush
-- The whole commit as one document; COMMIT stands behind it in the same pipeline.
SELECT bpm_flush($1::jsonb)::text;

-- name: settle
-- A step that was decided beforehand: all of its transaction.
SELECT bpm_settle($1::uuid, $2::bigint, $3::timestamptz, $4::timestamptz, $5::uuid, $6::integer, $7::text, $8::jsonb);

-- name: outside_commit
-- A commit of the nil thread: what happens outside of instances. Its version is its sequence, so nothing is waited for.
INSERT INTO runtime_commit (sequence, at, thread_id, run_id, version, command, arguments, actor, stated_reason, key,
                            events, counters, engine_version, format)
SELECT s, bpm_now(), '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', s,
       %(command)s::text, %(arguments)s::jsonb, %(actor)s::text, %(reason)s::text, %(key)s::text, 0, '{}',
       %(engine)s::text, %(format)s::smallint
FROM (SELECT nextval('runtime_commit_sequence') AS s) n
RETURNING sequence, at;
