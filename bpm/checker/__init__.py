"""The model checker: explores every behaviour of a definition with the same decide and evolve that run it.

States are canonical and hashed, so that interleavings which lead to the same state are explored once. What it reports
is a path of commands a person can replay: a deadlock, a token that can never end, an element that can never be
reached.
"""
