"""Ends what its parent started when the parent dies, however it dies: also by kill -9.

    python -m config.warden < a pipe whose other end only the parent holds

The parent writes a line `watch PID SIGNAL` for each process it starts and `forget PID` when it has reaped one. When the
pipe ends, each process still watched gets its signal, and after GRACE seconds its whole group gets SIGKILL. Standard
library only, so that it is there at once.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

GRACE = 10.0


def is_running(pid: int) -> bool:
    """Whether a process of this id exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def end_all(watched: dict[int, int], grace: float = GRACE) -> None:
    """Signal every watched process, the youngest first, and kill the groups of those still there after `grace`."""
    for pid, number in reversed(watched.items()):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
    deadline = time.monotonic() + grace
    while time.monotonic() < deadline and any(is_running(pid) for pid in watched):
        time.sleep(0.1)
    for pid in watched:
        if is_running(pid):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)


def main() -> None:
    """Read what to watch until the parent is gone, then end it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    watched: dict[int, int] = {}
    for line in sys.stdin:
        match line.split():
            case ["watch", pid, chosen]:
                watched[int(pid)] = int(chosen)
            case ["forget", pid]:
                watched.pop(int(pid), None)
    end_all(watched)


if __name__ == "__main__":
    main()
