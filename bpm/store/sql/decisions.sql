-- name: lock_decision_key
-- Two deployments of one key at once would give the same version.
SELECT pg_advisory_xact_lock(hashtextextended('decision_definitions:' || %(key)s::text, 0));

-- name: next_decision_version
-- The version after the latest one of the key; the key's lock is held.
SELECT coalesce(max(version), 0) + 1 FROM decision_definitions WHERE key = %(key)s::text;

-- name: insert_decision
-- A new version; its key's lock is held.
INSERT INTO decision_definitions (id, key, name, version, version_tag, decisions, decisions_hash, source, source_hash,
                                  resource, deployment_id, created_at, created_by, commit_version, commit_at)
SELECT %(id)s::uuid, %(key)s::text, %(name)s::text,
       %(version)s::integer, %(version_tag)s::text, %(decisions)s::jsonb, %(decisions_hash)s::text, %(source)s::text,
       %(source_hash)s::text, %(resource)s::text, %(deployment)s::uuid, %(at)s::timestamptz, %(actor)s::text,
       %(sequence)s::bigint, %(at)s::timestamptz;

-- name: decision
-- One definition, for the cache of a process: it never changes.
SELECT id, key, version, version_tag, name, deployment_id, decisions::text, decisions_hash, source_hash
FROM decision_definitions
WHERE id = %(id)s::uuid;

-- name: find_decision
-- The id of a definition of a key: of a version, of a tag, else the latest.
SELECT id FROM decision_definitions
WHERE key = %(key)s::text
  AND (%(version)s::bigint IS NULL OR version = %(version)s::bigint)
  AND (%(version_tag)s::text IS NULL OR version_tag = %(version_tag)s::text)
ORDER BY version DESC LIMIT 1;

-- name: find_decision_deployed_with
-- The id of the definition of a key that was deployed with a process: in the same deployment, or before it and not
-- changed by it (what is deployed as it was keeps its version).
SELECT d.id FROM decision_definitions d JOIN process_definitions p ON p.id = %(process)s::uuid
WHERE d.key = %(key)s::text AND (d.deployment_id = p.deployment_id OR d.commit_version < p.commit_version)
ORDER BY d.version DESC LIMIT 1;

-- name: decision_ids
-- All definitions of decisions, for whoever walks over them.
SELECT id FROM decision_definitions ORDER BY id;
