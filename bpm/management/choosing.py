"""Which recorded instances a command is about: one, those of a definition, all, or those of an exported file."""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from django.core.management.base import CommandError

# Lines of an exported file that one process replays at a time; an instance is never cut.
LINES_AT_ONCE = 2_000
_INSTANCE = re.compile(r'\{"instance": ?"([^"]*)"')


def add_choice(parser: argparse.ArgumentParser, *, files: bool = True) -> argparse._MutuallyExclusiveGroup:
    """--instance ID | --definition KEY | --all | FILE. Out: their group, for more choices."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--instance", metavar="ID", type=uuid, help="this one")
    which.add_argument("--definition", metavar="KEY", help="all of this definition")
    which.add_argument("--all", action="store_true", help="all that history knows")
    if files:
        which.add_argument("file", nargs="?", metavar="FILE", help="those of an exported file (.jsonl, .gz, .zst)")
    return which


def chosen_pages(options: Mapping[str, Any]) -> Iterable[list[UUID]]:
    """The ids of instances of the database, page by page. CommandError for a definition that there is none of."""
    from bpm.audit.histories import pages

    try:
        return pages(instance=options["instance"], key=options["definition"])
    except KeyError as problem:
        raise CommandError(problem.args[0], returncode=2) from None


def chosen_number(options: Mapping[str, Any]) -> int | None:
    """About how many there will be, for a progress bar; None where only the reading tells."""
    if options["instance"] is not None:
        return 1
    if options["definition"] is not None:
        return None
    from bpm.store.histories import estimate_of_threads

    return estimate_of_threads() or None


@contextlib.contextmanager
def opened(path: str) -> Iterator[IO[str]]:
    """The lines of a file, unpacked where its name says that it is packed. CommandError where it cannot be read."""
    try:
        with contextlib.ExitStack() as stack:
            yield _open(Path(path), stack)
    except OSError as problem:
        raise CommandError(f"cannot read {path}: {problem}", returncode=2) from None


def _open(path: Path, stack: contextlib.ExitStack) -> IO[str]:
    if path.suffix == ".gz":
        return stack.enter_context(gzip.open(path, "rt", encoding="utf-8"))
    if path.suffix == ".zst":
        import zstandard

        raw = stack.enter_context(path.open("rb"))
        return io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True), "utf-8")
    return stack.enter_context(path.open(encoding="utf-8"))


def pieces(lines: Iterable[str]) -> Iterator[list[str]]:
    """A file of histories in pieces of whole instances, each with the definitions that it needs."""
    definitions: list[str] = []
    piece: list[str] = []
    last = ""
    for line in lines:
        found = _INSTANCE.match(line)
        if found is None and line.lstrip().startswith('{"definition"'):
            definitions.append(line)
        if found and found[1] != last:
            if len(piece) >= LINES_AT_ONCE:
                yield [*definitions, *piece]
                piece = []
            last = found[1]
        piece.append(line)
    if piece:
        yield [*definitions, *piece]


def uuid(text: str) -> UUID:
    """The id of an instance."""
    try:
        return UUID(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no id of an instance") from None
