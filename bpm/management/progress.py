"""A progress bar on a terminal; elsewhere nothing, so that logs stay readable."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

WIDTH = 30
EVERY = 0.2


class Progress:
    """with Progress(command.stderr, "instances", total) as bar: bar.advance(5)"""

    def __init__(self, stream: Any, unit: str, total: int | None = None) -> None:
        """`stream`: a text file. `total`: how many there will be, roughly; None where nobody knows."""
        self._stream = stream
        self._unit = unit
        self._total = total
        self._shown = bool(getattr(stream, "isatty", lambda: False)())
        self._began = time.monotonic()
        self._last = 0.0
        self.done = 0

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    def advance(self, number: int = 1) -> None:
        """So many more are done."""
        self.done += number
        now = time.monotonic()
        if self._shown and now - self._last >= EVERY:
            self._last = now
            self._write(f"\r{self._line()}")

    def _line(self) -> str:
        rate = self.done / max(self.seconds, 0.001)
        if not self._total:
            return f"{self.done:,} {self._unit}, {rate:,.0f}/s "
        share = min(1.0, self.done / self._total)
        bar = "█" * int(share * WIDTH)
        return f"{bar:░<{WIDTH}} {share:4.0%}  {self.done:,} {self._unit}, {rate:,.0f}/s "

    def _write(self, text: str) -> None:
        # Django's OutputWrapper ends each write with a line break unless told otherwise.
        raw = getattr(self._stream, "_out", self._stream)
        raw.write(text)
        raw.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._write("\r\x1b[K")
