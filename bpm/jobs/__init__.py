"""What Celery runs: ready tasks with their handlers, and the jobs of the schedule.

Every job can run twice, at once or not at all without harm: it asks the database what is due, and Redis carries only
wake-ups that may be lost. A dead broker delays and never blocks a commit: a thread of its own sends them.

- `handlers`  `@external_task("topic")`: what a program does for the tasks of a topic (also importable from `bpm`)
- `running`   a task with its handler: lock, run outside of any transaction, answer, go on with the next of the instance
- `schedule`  the jobs, as one table: due timers, expired locks, tokens and messages left behind, forgotten tasks, ...
- `tasks`     the Celery tasks; `queues` one queue a topic; `announcer` sends wake-ups; `starting` what a program does

A project names its Celery app in the setting BPM_CELERY_APP and discovers the tasks:

    app.autodiscover_tasks(["bpm"], related_name="jobs.tasks")

A worker of the default queue does the jobs and every topic that it has a handler for. Where handlers take long, give
the jobs a worker of their own (`--queues=celery`), so that timers are not late because all others are busy. More than
one beat does no harm. A site without Celery runs `manage.py bpm worker`.
"""
