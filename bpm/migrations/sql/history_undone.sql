DROP TABLE token_events, external_task_events, timer_events, work_events, engine_events, runtime_state_command,
runtime_commit; DROP SEQUENCE runtime_commit_sequence;
