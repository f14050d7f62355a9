"""The step that everything goes through, and the verbs built on it.

A verb checks what it was given (`variables`), finds the instance and the ordinal that an id stands for, and makes one
step: `step` locks the instance's version row, loads what the command needs, lets `semantics.decide` decide, and flushes
the events with the rows they explain in one transaction. After the commit `follow` lets the instance go on: its ACTIVE
tokens are advanced, what it told others is delivered, each in a transaction of its own, a bounded number here and the
rest by whoever was registered as announcer (Celery, by `bpm.jobs`). Inside the caller's `transaction.atomic()` all that
waits for the caller's commit.

A verb that refuses raises an EngineError (`code`, `message`), and then nothing has changed.

- `deploying`      deploy
- `starting`       start
- `external_tasks` fetch_and_lock, complete_task, fail_task, throw_task_error, extend_lock, unlock_task, set_retries
- `user_tasks`     claim_task, unclaim_task, complete_user_task, throw_user_task_error
- `messages`       correlate (refused where nobody waits), publish (waits for its receiver), throw_signal
- `timers`         fire_due_timers, fire_timer
- `operators`      retry_incident, cancel_instance, suspend_instance, resume_instance, set_variables
- `relay`          deliver: what instances told each other, to its receivers
- `follow`         what comes after a commit; `announcing` who is told of work that is ready
- `recovery`       what schedulers ask again and again: locks that ran out, tokens left behind, what has ended
"""
