"""What an auditor does with history: trace, export, seal, verify, archive, retention.

History is never altered here either: an archive is sealed, exported, verified and only then detached.
"""
