-- What runs with its owner's rights finds its names in the owner's schema alone.
DO $do$
BEGIN
    EXECUTE format(
        'ALTER FUNCTION bpm_ensure_partitions(timestamptz, integer) SET search_path = %I, pg_catalog, pg_temp',
        current_schema()
    );
END
$do$;
