"""Where local development keeps its data, and the addresses of what runs there.

Everything lies in one git-ignored folder (.local, or TOKENTRAIL_LOCAL). script/up writes the addresses of the servers
it started into services.json, so that manage.py in another terminal talks to the same ones. Nothing here connects.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import tempfile
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent

# A Unix socket's path ends at 104 bytes on macOS and 108 on Linux; the name ".s.PGSQL.5432" needs 14 of them.
SOCKET_FOLDER_LIMIT = 88


def local_folder() -> Path:
    """The folder of local data, absolute. It need not exist."""
    return Path(os.environ.get("TOKENTRAIL_LOCAL") or ROOT / ".local").absolute()


def socket_folder(local: Path) -> Path:
    """Where the database's Unix socket lies: inside `local`, or where that path is too long, under a temp folder."""
    name = hashlib.sha256(os.fsencode(local)).hexdigest()[:12]
    outside = [Path(folder) / f"tokentrail-{name}" for folder in (tempfile.gettempdir(), "/tmp")]  # noqa: S108
    fitting = (path for path in (local / "run", *outside) if len(os.fsencode(path)) <= SOCKET_FOLDER_LIMIT)
    return next(fitting)


def socket_url(folder: Path, database: str) -> str:
    """The address of `database` on the server whose Unix socket lies in `folder`, as libpq and Django read it."""
    return f"postgresql://postgres@{quote(str(folder), safe='')}/{database}"


def default_services() -> dict[str, str]:
    """The addresses of the local servers: those of the running script/up, else where it would put them."""
    local = local_folder()
    services = {"database": socket_url(socket_folder(local), "tokentrail"), "redis": "redis://127.0.0.1:6379/0"}
    with contextlib.suppress(OSError, ValueError):
        services.update(json.loads((local / "services.json").read_text()))
    return services


def secret_key() -> str:
    """A secret of this checkout, made at first use; one for this process alone where the folder cannot be written."""
    path = local_folder() / "secret-key"
    try:
        return path.read_text()
    except OSError:
        key = secrets.token_urlsafe(48)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(key)
    except FileExistsError:
        return path.read_text() or key
    except OSError:
        pass
    return key
