"""The same done to several, one after the other, each in a transaction of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from django.core.management.base import BaseCommand

from bpm import engine


def one_by_one(command: BaseCommand, names: Iterable[str], act: Callable[[str], str]) -> int:
    """Do it to each and say what `act` says of it; what is refused is an error line, and the next one's turn comes.

    Out: the exit status, 0 where nothing was refused.
    """
    refused = 0
    for name in names:
        try:
            command.stdout.write(f"{name}: {act(name)}")
        except engine.EngineError as no:
            command.stderr.write(f"{name}: {no.code}: {no.message}")
            refused += 1
    return int(refused > 0)
