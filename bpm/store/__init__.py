"""PostgreSQL as the only truth: loading what a command touches, and the one flush that writes a commit.

SQL that locks, claims or sweeps lives in named statements in sql/*.sql, each with a line that says why it is so.
"""
