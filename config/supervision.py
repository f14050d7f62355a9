"""Keeps the parts of the site running: starts them in order, starts again what ends, stops them in reverse."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import Protocol

# A process that ends this often within so many seconds is not started again.
GIVE_UP_AFTER = 3
WITHIN = 30.0


def say(text: str) -> None:
    """To the terminal: standard error; standard output is for what a program may want to read."""
    print(text, file=sys.stderr, flush=True)


def indented(text: str) -> str:
    """`text` set off from what is said about it."""
    return "\n".join(f"    {line}" for line in text.splitlines())


class Trouble(Exception):
    """Something the person at the terminal must know and can act upon; its text is what to say."""


class Part(Protocol):
    """A server or process of the site."""

    @property
    def name(self) -> str: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def exit_code(self) -> int | None: ...
    def last_words(self) -> str: ...


@dataclass
class Site:
    """Holds the parts that run, in the order they were started. Leaving it stops them, the last started first."""

    parts: list[Part] = field(default_factory=list)
    ended: dict[str, list[float]] = field(default_factory=dict)

    def start(self, part: Part) -> None:
        """Start a part and keep it."""
        self.parts.append(part)
        part.start()

    def stop(self) -> None:
        """Stop all, each in its turn: a worker still needs the database while it ends."""
        for part in reversed(self.parts):
            part.stop()
        self.parts.clear()

    def look_after(self) -> None:
        """Start again what has ended. Raises Trouble when a part keeps ending."""
        for part in self.parts:
            code = part.exit_code()
            if code is None:
                continue
            now = time.monotonic()
            times = [moment for moment in self.ended.get(part.name, []) if now - moment < WITHIN] + [now]
            self.ended[part.name] = times
            how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
            say(f"{part.name} {how}; its last words:\n{indented(part.last_words())}")
            if len(times) >= GIVE_UP_AFTER:
                raise Trouble(f"{part.name} keeps ending")
            say(f"starting {part.name} again")
            part.start()
