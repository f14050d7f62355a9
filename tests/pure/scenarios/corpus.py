"""Where the corpus of public models lies: beside the checkout, or where TOKENTRAIL_CORPUS says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

PLACE = Path(os.environ.get("TOKENTRAIL_CORPUS") or Path(__file__).resolve().parents[4] / "shared" / "corpus")


def corpus(source: str) -> Path:
    """The folder of one source of the corpus; the test is skipped where the corpus is absent."""
    folder = PLACE / source
    if not folder.is_dir():
        pytest.skip(f"the corpus is not there: {folder}")
    return folder
