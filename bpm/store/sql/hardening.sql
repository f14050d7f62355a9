-- name: hardening_home
-- What the schema and the database are called.
SELECT n.nspname::text, current_database()::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = to_regclass('runtime_commit');

-- name: hardening_tables
-- Every table and view of the schema but the months of history, which nobody reaches directly, and the rules on it.
SELECT c.relname::text, c.relkind::text,
       ARRAY(SELECT substring(t.tgname FROM '^pgtrigger_tokentrail_(.*)_[0-9a-f]{5}$') FROM pg_trigger t
             WHERE t.tgrelid = c.oid AND t.tgname LIKE 'pgtrigger\_tokentrail\_%')
FROM pg_class c JOIN pg_class home ON home.relnamespace = c.relnamespace AND home.oid = to_regclass('runtime_commit')
WHERE c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
ORDER BY c.relname;

-- name: hardening_functions
-- Functions of ours that run with their owner's rights.
SELECT p.oid::regprocedure::text, p.proname::text
FROM pg_proc p JOIN pg_class home ON home.relnamespace = p.pronamespace AND home.oid = to_regclass('runtime_commit')
WHERE p.prosecdef AND p.proname LIKE 'bpm\_%'
ORDER BY 1;

-- name: hardening_role
-- What the role is beyond what it is granted.
SELECT r.rolsuper, r.rolcreaterole, r.rolcreatedb, r.rolreplication, r.rolbypassrls,
       pg_has_role(r.oid, home.relowner, 'MEMBER'),
       ARRAY(SELECT g.rolname::text FROM pg_roles g
             WHERE g.rolname LIKE 'pg\_%%' AND g.rolname <> 'pg_database_owner' AND pg_has_role(r.oid, g.oid, 'MEMBER')),
       has_parameter_privilege(r.oid, 'session_replication_role', 'SET')
FROM pg_roles r CROSS JOIN pg_class home
WHERE r.rolname = %(role)s::text AND home.oid = to_regclass('runtime_commit');

-- name: hardening_excess
-- What the role may do with tables, months of history and the schema although it was not granted here: it came by
-- another role, by PUBLIC, or by hand.
SELECT c.relname::text, p.privilege
FROM pg_class c JOIN pg_class home ON home.relnamespace = c.relnamespace AND home.oid = to_regclass('runtime_commit')
CROSS JOIN unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) p(privilege)
WHERE c.relkind IN ('r', 'p', 'v') AND has_table_privilege(%(role)s::text, c.oid, p.privilege)
  AND NOT coalesce((%(granted)s::jsonb -> c.relname) ? p.privilege, false)
UNION ALL
SELECT 'the schema', 'CREATE' FROM pg_class home
WHERE home.oid = to_regclass('runtime_commit') AND has_schema_privilege(%(role)s::text, home.relnamespace, 'CREATE')
UNION ALL
SELECT 'the database', p.privilege FROM unnest(ARRAY['CREATE', 'TEMPORARY']) p(privilege)
WHERE has_database_privilege(%(role)s::text, current_database(), p.privilege)
ORDER BY 1, 2;
