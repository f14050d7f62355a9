-- name: lock_definition_key
-- Two deployments of one key at once would give the same version.
SELECT pg_advisory_xact_lock(hashtextextended('process_definitions:' || %(key)s::text, 0));

-- name: next_definition_version
-- The version after the latest one of the key; the key's lock is held.
SELECT coalesce(max(version), 0) + 1 FROM process_definitions WHERE key = %(key)s::text;

-- name: insert_definition
-- A new version; its key's lock is held.
INSERT INTO process_definitions (id, key, name, version, version_tag, graph, graph_hash, source, source_hash, resource,
                                 deployment_id, created_at, created_by, commit_version, commit_at, joins, whole_scopes,
                                 reads, dynamic)
SELECT %(id)s::uuid, %(key)s::text, %(name)s::text,
       %(version)s::integer, %(version_tag)s::text, %(graph)s::jsonb, %(graph_hash)s::text, %(source)s::text,
       %(source_hash)s::text, %(resource)s::text, %(deployment)s::uuid, %(at)s::timestamptz, %(actor)s::text,
       %(sequence)s::bigint, %(at)s::timestamptz, %(joins)s::jsonb, %(whole_scopes)s::jsonb, %(reads)s::jsonb,
       %(dynamic)s::boolean;

-- name: definition
-- One definition, for the cache of a process: it never changes.
SELECT id, key, version, version_tag, name, deployment_id, graph::text, graph_hash, source_hash FROM process_definitions
WHERE id = %(id)s::uuid;

-- name: definition_of_instance
-- What an instance runs now; a migration changes it.
SELECT process_def_id FROM process_instances WHERE id = %(id)s::uuid;

-- name: definition_ids
-- All definitions, for whoever walks over them.
SELECT id FROM process_definitions ORDER BY id;

-- name: find_definition
-- The id of a definition of a key: of a version, of a tag, else the latest.
SELECT id FROM process_definitions
WHERE key = %(key)s::text
  AND (%(version)s::bigint IS NULL OR version = %(version)s::bigint)
  AND (%(version_tag)s::text IS NULL OR version_tag = %(version_tag)s::text)
ORDER BY version DESC LIMIT 1;

-- name: find_definition_deployed_with
-- The id of the definition of a key that was deployed with a process: in the same deployment, or before it and not
-- changed by it (what is deployed as it was keeps its version).
SELECT d.id FROM process_definitions d JOIN process_definitions p ON p.id = %(process)s::uuid
WHERE d.key = %(key)s::text AND (d.deployment_id = p.deployment_id OR d.commit_version < p.commit_version)
ORDER BY d.version DESC LIMIT 1;

-- name: close_subscriptions
-- What waited to start the older versions of a key waits no more; the new version's own follow.
UPDATE start_subscriptions
SET state = 'CLOSED', version = version + 1, commit_version = %(sequence)s::bigint, commit_at = %(at)s::timestamptz
WHERE definition_key = %(key)s::text AND state = 'OPEN';

-- name: open_subscription
-- A start event that waits for a timer, message, signal or condition.
INSERT INTO start_subscriptions (id, process_def_id, definition_key, node_id, kind, name, fire_at, schedule, state,
                                 version, commit_version, commit_at, created_at)
VALUES (%(id)s::uuid, %(definition)s::uuid, %(key)s::text, %(node)s::text, %(kind)s::text, %(name)s::text,
        %(fire_at)s::timestamptz, %(schedule)s::jsonb, 'OPEN', 1, %(sequence)s::bigint, %(at)s::timestamptz,
        %(at)s::timestamptz);

-- name: subscriptions_named
-- Who starts by a message or signal of that name: who waits now, or who waited at that moment;
-- none of a suspended definition.
SELECT id, process_def_id, definition_key, node_id FROM start_subscriptions
WHERE kind = %(kind)s::text AND name = %(name)s::text AND state = 'OPEN'
  AND (%(at)s::timestamptz IS NULL OR created_at <= %(at)s::timestamptz)
  AND NOT EXISTS (SELECT FROM definition_states d
                  WHERE d.process_def_id = start_subscriptions.process_def_id AND d.state = 'SUSPENDED')
UNION ALL
SELECT id, process_def_id, definition_key, node_id FROM start_subscriptions
WHERE kind = %(kind)s::text AND name = %(name)s::text AND state = 'CLOSED'
  AND created_at <= %(at)s::timestamptz AND commit_at > %(at)s::timestamptz
  AND NOT EXISTS (SELECT FROM definition_states d
                  WHERE d.process_def_id = start_subscriptions.process_def_id AND d.state = 'SUSPENDED')
ORDER BY definition_key, node_id;

-- name: due_starts
-- Start timers whose moment has come. Not locked: the one who moves the row on (advance_start) has fired it.
SELECT id, version, process_def_id, definition_key, node_id, fire_at, schedule::text FROM start_subscriptions
WHERE NOT EXISTS (SELECT FROM definition_states d
                  WHERE d.process_def_id = start_subscriptions.process_def_id AND d.state = 'SUSPENDED')
  AND kind = 'TIMER' AND state = 'OPEN' AND fire_at <= bpm_now() ORDER BY fire_at LIMIT %(limit)s::integer;

-- name: advance_start
-- The start timer goes on to its next moment, or is closed; guarded by the version that was read.
UPDATE start_subscriptions
SET fire_at = %(fire_at)s::timestamptz, schedule = %(schedule)s::jsonb, state = CASE WHEN %(fire_at)s::timestamptz IS
NULL THEN 'CLOSED' ELSE 'OPEN' END,
    version = version + 1, commit_version = %(sequence)s::bigint, commit_at = %(at)s::timestamptz
WHERE id = %(id)s::uuid AND version = %(version)s::bigint AND state = 'OPEN'
RETURNING id;

-- name: state_of_definition
-- ACTIVE or SUSPENDED; no row where nothing was ever said of it.
SELECT state FROM definition_states WHERE process_def_id = %(definition)s::uuid;

-- name: set_definition_state
-- One row a definition, in a commit of the nil thread; nothing where it is so already.
INSERT INTO definition_states (process_def_id, state, version, commit_version, commit_at)
VALUES (%(definition)s::uuid, %(state)s::text, 1, %(sequence)s::bigint, %(at)s::timestamptz)
ON CONFLICT (process_def_id) DO UPDATE SET state = EXCLUDED.state, version = definition_states.version + 1,
    commit_version = EXCLUDED.commit_version, commit_at = EXCLUDED.commit_at
WHERE definition_states.state <> EXCLUDED.state
RETURNING process_def_id;
