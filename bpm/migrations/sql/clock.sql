-- The only clock: machines disagree about time, one database does not. Later than p_after, so that the commits of a
-- thread are strictly ordered in time; moved by the offset that a test database alone may hold.
CREATE FUNCTION bpm_now(p_after timestamptz DEFAULT NULL) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN greatest(
        clock_timestamp() + coalesce((SELECT ahead FROM runtime_clock_offset), interval '0'),
        p_after + interval '1 microsecond'
    );
END
$$;

-- Move the clock (NULL: back to the real time) and make the months that lie there.
CREATE FUNCTION bpm_move_clock(p_ahead interval) RETURNS timestamptz
LANGUAGE plpgsql AS $$
BEGIN
    IF p_ahead IS NULL THEN
        DELETE FROM runtime_clock_offset;
    ELSE
        INSERT INTO runtime_clock_offset (id, ahead) VALUES (true, p_ahead)
        ON CONFLICT (id) DO UPDATE SET ahead = excluded.ahead;
    END IF;
    PERFORM bpm_ensure_partitions(NULL, 1);
    RETURN bpm_now();
END
$$;
