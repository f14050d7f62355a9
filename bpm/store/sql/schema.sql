-- name: schema_objects
-- What is installed, as PostgreSQL itself says it: one row an object (kind, name, definition), in words that are the
-- same in each version and whatever the schema is called. What lies in other apps' tables is theirs: of a reference to
-- one only that it is there, whatever type its key has.
WITH home AS MATERIALIZED (
    SELECT n.oid, n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = to_regclass('runtime_commit')
), relations AS MATERIALIZED (
    SELECT c.* FROM pg_class c JOIN home h ON h.oid = c.relnamespace WHERE c.relname = ANY (%(relations)s::text[])
), outward AS MATERIALIZED (
    SELECT conrelid, unnest(conkey) AS attnum FROM pg_constraint
    WHERE contype = 'f' AND conrelid IN (SELECT oid FROM relations) AND confrelid NOT IN (SELECT oid FROM relations)
), found AS (
    SELECT CASE relkind WHEN 'v' THEN 'view' ELSE 'table' END AS kind, relname::text AS name,
           concat_ws(', ', CASE relkind WHEN 'r' THEN 'ordinary' WHEN 'p' THEN 'by ' || pg_get_partkeydef(oid)
                                        WHEN 'v' THEN 'body ' || left(encode(sha256(convert_to(regexp_replace(
                                            pg_get_viewdef(oid), '\m[a-z_]+\.(?=[a-z])|\s+', '', 'g'), 'UTF8')), 'hex'), 16)
                                        ELSE 'kind ' || relkind::text END,
                     CASE relpersistence WHEN 'u' THEN 'unlogged' END,
                     CASE WHEN relrowsecurity THEN 'row security' END) AS definition
    FROM relations
    UNION ALL
    SELECT 'column', r.relname || '.' || a.attname,
           CASE WHEN o.attnum IS NOT NULL THEN 'a reference'
                ELSE concat_ws(' ', format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'not null' END,
                               CASE a.attgenerated WHEN 's' THEN 'generated' END,
                               CASE a.attidentity WHEN '' THEN NULL ELSE 'identity ' || a.attidentity::text END,
                               'default ' || pg_get_expr(d.adbin, d.adrelid)) END
    FROM relations r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    LEFT JOIN outward o ON o.conrelid = a.attrelid AND o.attnum = a.attnum
    UNION ALL
    SELECT 'constraint', r.relname || '.' || k.conname,
           pg_get_constraintdef(k.oid) || CASE WHEN k.convalidated THEN '' ELSE ' (not validated)' END
    FROM relations r JOIN pg_constraint k ON k.conrelid = r.oid
    WHERE k.contype IN ('c', 'p', 'u', 'x') OR (k.contype = 'f' AND k.confrelid IN (SELECT oid FROM relations))
    UNION ALL
    SELECT 'index', r.relname || '.' || i.relname,
           pg_get_indexdef(i.oid) || CASE WHEN x.indisvalid AND x.indisready THEN '' ELSE ' (not valid)' END
    FROM relations r JOIN pg_index x ON x.indrelid = r.oid JOIN pg_class i ON i.oid = x.indexrelid
    UNION ALL
    SELECT 'trigger', r.relname || '.' || t.tgname,
           pg_get_triggerdef(t.oid) || CASE t.tgenabled WHEN 'O' THEN '' WHEN 'A' THEN '' WHEN 'D' THEN ' (disabled)'
                                       ELSE ' (for replicas only)' END
    FROM relations r JOIN pg_trigger t ON t.tgrelid = r.oid AND NOT t.tgisinternal
    UNION ALL
    SELECT 'rule', r.relname || '.' || w.rulename, 'rewrites what is asked'
    FROM relations r JOIN pg_rewrite w ON w.ev_class = r.oid WHERE w.rulename <> '_RETURN'
    UNION ALL
    SELECT 'policy', r.relname || '.' || p.polname, 'hides rows'
    FROM relations r JOIN pg_policy p ON p.polrelid = r.oid
    UNION ALL
    SELECT 'sequence', s.relname::text,
           format('%%s by %%s%%s', format_type(q.seqtypid, NULL), q.seqincrement, CASE WHEN q.seqcycle THEN ', cycles' END)
    FROM pg_class s JOIN home h ON h.oid = s.relnamespace JOIN pg_sequence q ON q.seqrelid = s.oid
    WHERE s.relname = ANY (%(sequences)s::text[])
    UNION ALL
    SELECT 'function', p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')',
           concat_ws(', ', l.lanname,
                     CASE p.provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END,
                     CASE WHEN p.prosecdef THEN 'as its owner' END,
                     (SELECT string_agg(replace(s, h.nspname, 'its schema'), ', ' ORDER BY s) FROM unnest(p.proconfig) s),
                     'body ' || left(encode(sha256(convert_to(replace(replace(
                         p.prosrc, quote_ident(h.nspname) || '.', ''), '"' || h.nspname || '".', ''), 'UTF8')), 'hex'), 16))
    FROM pg_proc p JOIN home h ON h.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
    WHERE p.proname LIKE 'bpm\_%%' OR p.proname LIKE 'pgtrigger\_tokentrail\_%%'
       OR p.proname = '_pgtrigger_should_ignore'
)
SELECT f.kind, f.name, replace(f.definition, quote_ident(h.nspname) || '.', '')
FROM found f CROSS JOIN home h ORDER BY f.kind, f.name;

-- name: schema_partitions
-- Every month of history: its bound, and the parent's triggers that it has not (they would let a row pass there).
SELECT parent.relname, child.relname, pg_get_expr(child.relpartbound, child.oid),
       ARRAY(
           SELECT t.tgname::text FROM pg_trigger t
           WHERE t.tgrelid = parent.oid AND NOT t.tgisinternal AND NOT EXISTS (
               SELECT FROM pg_trigger c
               WHERE c.tgrelid = child.oid AND c.tgname = t.tgname AND c.tgtype = t.tgtype AND c.tgfoid = t.tgfoid
                 AND c.tgenabled IN ('O', 'A') AND (c.tgqual IS NULL) = (t.tgqual IS NULL)
           )
           ORDER BY 1
       ),
       parent.relname <> 'runtime_commit' OR EXISTS (
           SELECT FROM pg_index x
           WHERE x.indrelid = child.oid AND x.indisunique AND x.indisvalid AND x.indpred IS NULL
             AND ARRAY(SELECT a.attname::text FROM unnest(x.indkey) WITH ORDINALITY k(attnum, place)
                       JOIN pg_attribute a ON a.attrelid = child.oid AND a.attnum = k.attnum ORDER BY k.place)
                 = ARRAY['thread_id', 'version']
       )
FROM pg_inherits i JOIN pg_class parent ON parent.oid = i.inhparent JOIN pg_class child ON child.oid = i.inhrelid
WHERE parent.oid = ANY (ARRAY(SELECT to_regclass(t) FROM unnest(%(parents)s::text[]) t)::oid[])
ORDER BY parent.relname, child.relname;

-- name: schema_ledger
-- The migrations that were applied, in order; empty where none ever was.
SELECT name FROM django_migrations WHERE app = 'bpm' ORDER BY id;

-- name: schema_home
-- Whether there is anything at all, the time of the only clock, and whether the role that asks could switch rules off.
SELECT to_regclass('runtime_commit') IS NOT NULL, to_regclass('django_migrations') IS NOT NULL,
       current_setting('session_replication_role'), r.rolsuper,
       coalesce((SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_class c WHERE c.oid = to_regclass('runtime_commit')),
                false)
FROM pg_roles r WHERE r.rolname = current_user;
