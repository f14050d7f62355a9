"""Work over several processes: `--jobs N`. Each has a database connection of its own."""

from __future__ import annotations

import argparse
import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor

# Pieces that wait for a free process: what is to be done is not piled up in memory.
AHEAD = 3


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """--jobs N."""
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="work with N processes (default: 1)")


def positive(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1")
    return int(text)


def spread[Piece, Done](work: Callable[[Piece], Done], pieces: Iterable[Piece], jobs: int) -> Iterator[Done]:
    """`work` of every piece, in the order of the pieces. With jobs > 1 both must be picklable."""
    if jobs == 1:
        yield from map(work, pieces)
        return
    # A forked process would inherit this one's connection to the database.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(_database(),)) as pool:
        waiting: deque[Future[Done]] = deque()
        for piece in pieces:
            waiting.append(pool.submit(work, piece))
            if len(waiting) > jobs * AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _database() -> str | None:
    """The name of the database in use: a test's is not the one that settings name."""
    from django.db import connection

    name = connection.settings_dict.get("NAME")
    return None if name is None else str(name)


def _begin(database: str | None) -> None:
    import django

    django.setup()
    from django.db import connection

    if database is not None:
        connection.settings_dict["NAME"] = database
