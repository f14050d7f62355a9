"""SQL of migrations that Django has no operation for: partitioned tables, server functions, the view of all history."""

from __future__ import annotations

from importlib.resources import files


def statements(name: str) -> str:
    """The text of one file of this folder, without its suffix."""
    return files(__name__).joinpath(f"{name}.sql").read_text()

# Around what is built by the side of running programs (CONCURRENTLY): it waits for transactions that are older than it
# is, however long those take.
UNHURRIED = ["SET lock_timeout = 0", "SET statement_timeout = 0"]
AS_BEFORE = ["RESET lock_timeout", "RESET statement_timeout"]
