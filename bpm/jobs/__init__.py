"""What Celery runs: dispatch of ready work, due timers, expired locks, recovery, partitions, seals.

Every job can run twice, at once or not at all without harm: it asks the database what is due, and Redis carries only
wake-ups that may be lost.
"""
