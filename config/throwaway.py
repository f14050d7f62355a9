"""A PostgreSQL server for one command: its data lies in a temporary folder that goes away with it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.local import socket_folder
from config.postgres import THROW_AWAY, Postgres
from config.processes import Warden


@contextmanager
def server() -> Iterator[dict[str, str]]:
    """Start it for as long as the block lasts; yields what Django's settings of a database say of it."""
    folder = Path(tempfile.mkdtemp(prefix="tokentrail-"))
    sockets = socket_folder(folder)
    try:
        with Warden() as warden:
            postgres = Postgres(folder / "postgres", sockets, warden, options=THROW_AWAY)
            postgres.start()
            try:
                yield {
                    "HOST": str(postgres.sockets),
                    "PORT": "",
                    "USER": "postgres",
                    "PASSWORD": "",
                    "NAME": "postgres",
                }
            finally:
                postgres.stop()
    finally:
        for made in (folder, sockets):
            shutil.rmtree(made, ignore_errors=True)
