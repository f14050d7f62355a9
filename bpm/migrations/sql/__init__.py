"""SQL of migrations that Django has no operation for: partitioned tables, server functions, the view of all history."""

from __future__ import annotations

from importlib.resources import files


def statements(name: str) -> str:
    """The text of one file of this folder, without its suffix."""
    return files(__name__).joinpath(f"{name}.sql").read_text()
