-- What instances are found by: a single value of a variable as jsonb, which PostgreSQL compares by type and then by
-- value. A date, time or duration counts as its text. Lists, objects and what is longer than 200 characters are NULL:
-- an index holds no long value. Plain SQL of one expression, so that it is written into the index without a call.
CREATE OR REPLACE FUNCTION bpm_searchable(value jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE jsonb_typeof(value)
        WHEN 'array' THEN NULL
        WHEN 'object' THEN
            CASE WHEN value ->> '$type' IN ('date', 'time', 'dateTime', 'duration')
                    AND jsonb_typeof(value -> 'value') = 'string' AND length(value ->> 'value') <= 200
                    AND value - '$type' - 'value' = '{}'
                THEN value -> 'value' END
        WHEN 'null' THEN value
        ELSE CASE WHEN length(value #>> '{}') <= 200 THEN value END
    END
$$;
