-- What a step reads is looked up by index, a handful of rows whatever the arguments are, so one plan does for all of
-- them. Left to itself PostgreSQL takes an array of unknown length for ten ids, finds a plan for the very one that it is
-- given cheaper, and plans anew each time: half of a load.
ALTER FUNCTION bpm_load(uuid, jsonb, integer) SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION bpm_resume(uuid, jsonb) SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION bpm_answer(uuid, jsonb) SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION bpm_flush(jsonb) SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION bpm_above(uuid[]) SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION bpm_below(uuid, uuid[]) SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION bpm_attached(uuid[]) SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION bpm_sees(uuid, uuid) SET plan_cache_mode = force_generic_plan;
