"""Processes that script/up and the tests start: each with its log, its own process group, and a warden behind it.

A Process never outlives the program that started it: a Warden ends it even after kill -9.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from config.local import ROOT


class Warden:
    """Holds the pipe to `config.warden`; when this process ends, the pipe does, and what was watched is ended."""

    def __init__(self) -> None:
        self._program = subprocess.Popen(
            [sys.executable, "-m", "config.warden"],
            stdin=subprocess.PIPE,
            cwd=ROOT,
            text=True,
            start_new_session=True,
        )

    def watch(self, pid: int, number: signal.Signals) -> None:
        """From now on `pid` gets the signal `number` when this process dies."""
        self._say(f"watch {pid} {int(number)}")

    def forget(self, pid: int) -> None:
        """`pid` has ended and is reaped; its number may become somebody else's."""
        self._say(f"forget {pid}")

    def close(self) -> None:
        """End the warden, and with it whatever is still watched."""
        if self._program.stdin and not self._program.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self._program.stdin.close()
        self._program.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _say(self, line: str) -> None:
        if self._program.stdin and not self._program.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                print(line, file=self._program.stdin, flush=True)


class Process:
    """One program that can be started, asked whether it lives, and stopped. Its output goes to its log."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        warden: Warden,
        *,
        env: Mapping[str, str] | None = None,
        stop_with: signal.Signals = signal.SIGTERM,
        user: str | None = None,
        folder: Path = ROOT,
    ) -> None:
        self.name = name
        self.log = log
        self._command = list(command)
        self._warden = warden
        self._env = dict(env) if env is not None else None
        self._stop_with = stop_with
        self._user = user
        self._folder = folder
        self._program: subprocess.Popen[bytes] | None = None
        self._watched = False

    @property
    def pid(self) -> int:
        """The process's id. Raises RuntimeError when it was never started."""
        if self._program is None:
            raise RuntimeError(f"{self.name} was never started")
        return self._program.pid

    def start(self) -> None:
        """Start it, appending to its log, its id beside it. Its group is its own: a Ctrl-C at the terminal is ours."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        identity = {"user": self._user, "group": self._user, "extra_groups": []} if self._user else {}
        with self.log.open("ab") as log:
            self._program = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                env=self._env,
                start_new_session=True,
                **identity,  # type: ignore[call-overload]
            )
        self._watched = True
        self.log.with_suffix(".pid").write_text(f"{self._program.pid}\n")
        self._warden.watch(self._program.pid, self._stop_with)

    def exit_code(self) -> int | None:
        """None while it runs, else its exit code: negative, the signal that ended it. 0 when never started."""
        if self._program is None:
            return 0
        code = self._program.poll()
        if code is not None and self._watched:
            self._watched = False
            self._warden.forget(self._program.pid)
        return code

    def stop(self, grace: float = 10.0) -> None:
        """Ask it to end, and kill its group when it has not after `grace` seconds."""
        if self._program is None or self.exit_code() is not None:
            return
        self._program.send_signal(self._stop_with)
        try:
            self._program.wait(grace)
        except subprocess.TimeoutExpired:
            self.kill()
        self.exit_code()

    def kill(self) -> None:
        """kill -9 to it and everything it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        if self._program is not None:
            self._program.wait()
        self.exit_code()

    def last_words(self, lines: int = 15) -> str:
        """The end of its log."""
        try:
            text = self.log.read_text(errors="replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-lines:])
