"""Programs that run in the environment of the peers, which has nothing of ours: each prints "ready", waits for a line,
and tells as JSON how many operations it did, from when to when.
"""
