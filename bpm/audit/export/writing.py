"""What a format is: something that takes instances one by one and writes them as they come.

A writer is a context manager over the open file; what it yields is given each instance, and goes through its commits,
telling for each how many events it has written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import IO

from bpm.audit.export.selection import Selection
from bpm.audit.histories import LiveHistory

type AddInstance = Callable[[LiveHistory], Iterator[int]]
type OpenWriter = Callable[[IO[bytes], Selection], AbstractContextManager[Writer]]


class MissingLibrary(RuntimeError):
    """A format needs a library that is not installed; the message says which."""


@dataclass(frozen=True, slots=True)
class Writer:
    """`add` writes one instance."""

    add: AddInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """`cases`: it has each chosen instance whole; else the events that were asked for."""

    suffix: str
    about: str
    open: OpenWriter
    cases: bool = True
