"""Verify the seals: is history what it was when it was sealed?

Every sealed row is read and hashed anew, and the chain of seals is recomputed. What was changed, removed or inserted
since is named, whoever did it and however: triggers and rights play no part. Definitions are held against what the log
says of their deployment.

    manage.py bpm verify-seals                          the whole chain
    manage.py bpm verify-seals --write-head head.json   and write its head: sign it, keep it elsewhere
    manage.py bpm verify-seals --head head.json         and see that it holds a head that was kept (may be repeated)

Who can write to the database can also make the whole chain anew; only a head that is kept elsewhere shows that. See
docs/audit.md. Exit status: 0 all is as it was sealed, 1 something is not, 2 a head could not be read.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bpm.audit import heads
from bpm.audit.verifying import verify_seals
from bpm.management.progress import Progress


def arguments(parser: argparse.ArgumentParser) -> None:
    """[--head FILE]... [--write-head FILE]."""
    parser.add_argument("--head", action="append", default=[], metavar="FILE", help="a head that was kept elsewhere")
    parser.add_argument("--write-head", metavar="FILE", help="write the chain's head to this file")


def run(command: BaseCommand, options: Mapping[str, Any]) -> int:
    """Verify and report; the exit status."""
    try:
        kept = [heads.read_head(Path(file)) for file in options["head"]]
    except (heads.NoHead, OSError) as problem:
        raise CommandError(str(problem), returncode=2) from None
    with Progress(command.stderr, "rows") as bar:
        found = verify_seals(heads=kept, advance=bar.advance)
        seconds = bar.seconds
    for finding in found.findings:
        command.stdout.write(str(finding))
    command.stdout.write(
        f"{found.seals} seals, {found.rows} rows, {found.definitions} definitions verified in {seconds:.1f} s;"
        f" {len(found.findings)} findings; head {found.head.number} {found.head.hash}"
    )
    if options["write_head"] and not found.findings:
        try:
            Path(options["write_head"]).write_text(heads.head_text(), encoding="utf-8")
        except (heads.NoHead, OSError) as problem:
            raise CommandError(str(problem), returncode=2) from None
    return int(bool(found.findings))
