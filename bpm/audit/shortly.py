"""Verifying the seals while somebody waits for a page: all of them, or nothing is claimed."""

from __future__ import annotations

import time

from bpm.audit.verifying import Verification, verify_seals


class _TooLong(Exception):
    pass


def verify_within(seconds: float) -> Verification | None:
    """What `verify_seals` finds; None where reading all takes longer than that (`bpm verify-seals` takes its time)."""
    until = time.monotonic() + seconds

    def advance(rows: int) -> None:
        if time.monotonic() > until:
            raise _TooLong

    try:
        return verify_seals(advance=advance)
    except _TooLong:
        return None
