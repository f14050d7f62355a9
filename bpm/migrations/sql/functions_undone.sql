DROP VIEW runtime_event;
DROP FUNCTION IF EXISTS bpm_sees(uuid, uuid, text[]), bpm_write(jsonb, timestamptz), bpm_moment(timestamptz);
DROP FUNCTION bpm_flush(jsonb), bpm_lost(text, uuid), bpm_sees(uuid, uuid), bpm_answer(uuid, jsonb),
    bpm_load(uuid, jsonb, integer), bpm_entity(text, uuid), bpm_attached(uuid[]), bpm_above(uuid[]),
    bpm_below(uuid, uuid[]), bpm_months_ahead(), bpm_move_clock(interval), bpm_ensure_partitions(timestamptz, integer),
    bpm_add_partition(regclass, timestamptz), bpm_now(timestamptz);
