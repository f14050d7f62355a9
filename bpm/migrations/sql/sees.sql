-- The variables that a token sees, inner scopes hiding outer ones: what a worker is given. p_names NULL: all of them;
-- else those of these names that there are, and only they are read, each by the index, however many others there are
-- and however large: LATERAL with a limit, or a plan may walk over all variables of the instance, those of every
-- element of its loops.
CREATE OR REPLACE FUNCTION bpm_sees(p_instance uuid, p_token uuid, p_names text[]) RETURNS jsonb
LANGUAGE sql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
    WITH RECURSIVE scopes AS (
        SELECT t.scope_id, t.local_scope, 1 AS depth FROM tokens t WHERE t.id = p_token
        UNION ALL
        SELECT t.scope_id, t.local_scope, s.depth + 1 FROM scopes s JOIN tokens t ON t.id = s.scope_id
    ), places AS (
        SELECT local_scope, depth FROM scopes WHERE local_scope > 0 UNION ALL SELECT 0, 1000000
    ), seen AS (
        SELECT DISTINCT ON (f.name) f.name, f.value
        FROM (
            SELECT v.name, v.value, s.depth FROM places s CROSS JOIN LATERAL (
                SELECT name, value FROM variables
                WHERE instance_id = p_instance AND scope = s.local_scope AND present
                OFFSET 0
            ) v
            WHERE p_names IS NULL
            UNION ALL
            SELECT v.name, v.value, s.depth FROM places s CROSS JOIN unnest(p_names) AS n(name) CROSS JOIN LATERAL (
                SELECT name, value FROM variables
                WHERE instance_id = p_instance AND scope = s.local_scope AND name = n.name AND present
                LIMIT 1
            ) v
        ) f
        ORDER BY f.name, f.depth
    )
    SELECT coalesce(jsonb_object_agg(name, value), '{}') FROM seen
$$;
