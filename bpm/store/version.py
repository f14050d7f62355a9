"""Which engine writes: the version that stands in every row of history (a test compares it with pyproject.toml)."""

from __future__ import annotations

ENGINE = "0.1.0"
