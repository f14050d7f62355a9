-- name: server_identifier
-- Which server this is: a logical dump restored elsewhere finds other transaction ids.
SELECT system_identifier::text FROM pg_control_system();

-- name: last_seal
-- Where the chain ends.
SELECT number, epoch, xid_until::text::bigint, last_sequence, last_event, hash, sealed_at FROM runtime_seal
ORDER BY number DESC LIMIT 1;

-- name: seals_after
-- A page of the chain, without the rows' names.
SELECT number, epoch, kind, form, xid_from::text::bigint, xid_until::text::bigint, commits, events, state_commands,
       last_sequence, last_event, tables::text, body, hash, sealed_at
FROM runtime_seal WHERE number > %(after)s::bigint ORDER BY number LIMIT %(limit)s::integer;

-- name: seal_leaves
-- The names of the rows of one seal.
SELECT leaves FROM runtime_seal WHERE number = %(number)s::bigint;

-- name: epochs
-- All epochs.
SELECT number, server, before_sequence, before_event, after_sequence, after_event, opened_at FROM runtime_seal_epoch
ORDER BY number;

-- name: open_epoch
-- In a transaction of its own: it must see what others committed while it waited.
SELECT bpm_open_epoch(%(server)s::text);

-- name: sealing_alone
-- One sealer at a time. Of the session: the snapshot must be younger than the lock.
SELECT pg_try_advisory_lock(hashtextextended('tokentrail seals', 0));

-- name: sealing_over
-- The next one may seal.
SELECT pg_advisory_unlock(hashtextextended('tokentrail seals', 0));

-- name: horizon
-- Transactions before xmin are over, whatever became of them; the ones from xmax on have not begun.
SELECT pg_snapshot_xmin(s)::text::bigint, pg_snapshot_xmax(s)::text::bigint FROM pg_current_snapshot() s;

-- name: cut
-- Where a seal of so many commits would end; no row: there are not so many.
SELECT xid::text::bigint FROM runtime_commit
WHERE xid > %(from)s::text::xid8 AND xid < %(until)s::text::xid8 ORDER BY xid
OFFSET %(commits)s::integer - 1 LIMIT 1;

-- name: add_seal
-- The next link. Two sealers at once: the number is there already, and one of them loses.
INSERT INTO runtime_seal (number, epoch, kind, form, xid_from, xid_until, commits, events, state_commands,
                          last_sequence, last_event, tables, leaves, body, hash, sealed_at)
VALUES (%(number)s::bigint, %(epoch)s::integer, %(kind)s::text, %(form)s::smallint, %(xid_from)s::text::xid8,
        %(xid_until)s::text::xid8, %(commits)s::integer, %(events)s::integer, %(state_commands)s::integer,
        %(last_sequence)s::bigint, %(last_event)s::bigint, %(tables)s::jsonb, %(leaves)s::bytea, %(body)s::text,
        %(hash)s::text, %(sealed_at)s::timestamptz);

-- name: unsealed
-- The oldest commit that no seal holds, and how old the oldest transaction is that this role may see.
SELECT (SELECT extract(epoch FROM clock_timestamp() - c.at)::double precision FROM runtime_commit c
        WHERE c.xid >= %(until)s::text::xid8 ORDER BY c.xid LIMIT 1),
       (SELECT extract(epoch FROM max(clock_timestamp() - a.xact_start))::double precision FROM pg_stat_activity a
        WHERE a.backend_xid IS NOT NULL OR a.backend_xmin IS NOT NULL);

-- name: deployments
-- What the commits say that definitions name, but for those that were read already.
SELECT c.sequence, c.arguments::text FROM runtime_commit c
WHERE c.command = 'Deploy' AND c.sequence IN (
    SELECT commit_version FROM process_definitions UNION SELECT commit_version FROM decision_definitions
    EXCEPT SELECT unnest(%(known)s::bigint[])
);

-- name: process_definition_ids
-- All of them, in the order of their versions.
SELECT id FROM process_definitions ORDER BY key, version;

-- name: process_definition
-- One, as JSON.
SELECT json_build_object('key', key, 'version', version, 'name', name, 'version_tag', version_tag, 'model', graph,
                         'model_hash', graph_hash, 'source', source, 'source_hash', source_hash, 'resource', resource,
                         'joins', joins, 'whole_scopes', whole_scopes, 'reads', reads, 'dynamic', dynamic,
                         'sequence', commit_version)::text
FROM process_definitions WHERE id = %(id)s::uuid;

-- name: decision_definition_ids
-- All of them, in the order of their versions.
SELECT id FROM decision_definitions ORDER BY key, version;

-- name: decision_definition
-- One, as JSON.
SELECT json_build_object('key', key, 'version', version, 'name', name, 'version_tag', version_tag, 'model', decisions,
                         'model_hash', decisions_hash, 'source', source, 'source_hash', source_hash,
                         'resource', resource, 'sequence', commit_version)::text
FROM decision_definitions WHERE id = %(id)s::uuid;
