"""script/up: everything of the site on one machine, until Ctrl-C.

Order: the servers (unless DATABASE_URL and REDIS_URL name others), the schema, accounts and examples (config.accounts,
config.demo), then web, worker and beat. A process that ends by itself is reported with its last words and started
again; one that keeps ending stops everything (config.supervision). A lock on the data folder keeps a second script/up
out, and goes with the process however it ends; what a killed one left running is ended by its warden.

With --check the same on a data folder of its own, one order to its end, its trace on standard output (config.check).
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg

from config.accounts import make_missing_accounts, told
from config.check import run_order
from config.demo import deploy_examples, start_demos
from config.local import local_folder, socket_folder
from config.postgres import OLDEST_SUPPORTED, Postgres, server_version
from config.processes import Process, Warden
from config.supervision import Site, Trouble, indented, say
from config.valkey import Valkey, free_port

FIRST_PORT = 8000
FIRST_REDIS_PORT = 6390
READY = 45.0


@contextlib.contextmanager
def only_one(local: Path) -> Iterator[None]:
    """Hold the lock of the data folder. Raises Trouble, saying where the other one is, when it is held."""
    local.mkdir(parents=True, exist_ok=True)
    path = local / "up.lock"
    with path.open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise Trouble(f"script/up runs already: {lock.read().strip() or 'it is just starting'}") from None
        lock.truncate(0)
        lock.write(f"process {os.getpid()}\n")
        lock.flush()
        yield


def note_address(local: Path, address: str) -> None:
    """Let a second script/up and other terminals know where this one is."""
    with (local / "up.lock").open("a") as lock:
        lock.write(f"{address}\n")


def start_servers(site: Site, local: Path, warden: Warden) -> None:
    """Start the servers that the environment does not name, and put the addresses of all into it."""
    if not os.environ.get("DATABASE_URL"):
        say("starting PostgreSQL")
        postgres = Postgres(local / "postgres", socket_folder(local), warden)
        site.start(postgres)
        postgres.create_database("tokentrail")
        os.environ["DATABASE_URL"] = postgres.url("tokentrail")
    # All runs on this machine, so web and worker reach the same folder.
    os.environ.setdefault("EXPORT_TO", str(local / "exports"))
    if not os.environ.get("REDIS_URL"):
        say("starting the Redis-compatible server")
        valkey = Valkey(local / "valkey", free_port(FIRST_REDIS_PORT), warden)
        site.start(valkey)
        os.environ["REDIS_URL"] = valkey.url
    try:
        version = server_version(os.environ["DATABASE_URL"])
    except psycopg.OperationalError as error:
        raise Trouble(f"cannot use the database of DATABASE_URL: {error}") from None
    if version < OLDEST_SUPPORTED:
        raise Trouble(f"DATABASE_URL is a PostgreSQL {version}; {OLDEST_SUPPORTED} or newer is needed")
    services = {"database": os.environ["DATABASE_URL"], "redis": os.environ["REDIS_URL"]}
    path = local / "services.json"
    path.write_text(json.dumps(services))
    path.chmod(0o600)


def prepare() -> dict[str, str]:
    """Migrate, make the demo accounts, deploy the examples. Out: the passwords of accounts made now."""
    import django
    from django.core.management import call_command
    from django.db import connections

    say("migrating the database")
    django.setup()
    call_command("migrate", interactive=False, verbosity=0)
    passwords = make_missing_accounts()
    say("deploying the examples")
    deploy_examples()
    connections.close_all()
    return passwords


def welcome(address: str, local: Path, passwords: dict[str, str]) -> str:
    """What a person needs to know once everything runs."""
    lines = ["", f"The cockpit: {address}", *told(passwords)]
    return "\n".join([*lines, f"Logs: {local / 'log'}", "Ctrl-C stops everything."])


def site_processes(local: Path, warden: Warden, host: str, port: int) -> list[Process]:
    """Web, worker and beat, not yet started."""
    logs = local / "log"
    env = {**os.environ, "TOKENTRAIL_LOG": os.environ.get("TOKENTRAIL_LOG", "json")}
    web = ["uvicorn", "config.asgi:application", "--host", host, "--port", str(port), "--lifespan", "off"]
    web += ["--no-server-header", "--timeout-graceful-shutdown", "5"]
    worker = ["celery", "-A", "config", "worker", "--loglevel=INFO", "--concurrency=2"]
    worker += ["--without-gossip", "--without-mingle", "--hostname=worker@localhost"]
    beat = ["celery", "-A", "config", "beat", "--loglevel=INFO", "--pidfile="]
    return [
        Process(name, [sys.executable, "-m", *command], logs / f"{name}.log", warden, env=env)
        for name, command in (("web", web), ("worker", worker), ("beat", beat))
    ]


def accepts(host: str, port: int) -> bool:
    """Whether somebody listens there."""
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def worker_answers() -> bool:
    """Whether a worker answers a ping through the broker."""
    from config.celery import app

    return bool(app.control.ping(timeout=0.5))


def wait_until(ready: Callable[[], bool], process: Process) -> None:
    """Wait for a process that has just been started. Raises Trouble with its last words."""
    deadline = time.monotonic() + READY
    while not ready():
        if process.exit_code() is not None or time.monotonic() > deadline:
            raise Trouble(f"{process.name} did not start:\n{indented(process.last_words())}")
        time.sleep(0.1)


def start_site(site: Site, local: Path, warden: Warden, host: str, port: int) -> str:
    """Start web, worker and beat and wait until they answer. Out: the cockpit's address."""
    say("starting web, worker and beat")
    processes = site_processes(local, warden, host, port)
    for process in processes:
        site.start(process)
    web, worker, _ = processes
    wait_until(lambda: accepts(host, port), web)
    wait_until(worker_answers, worker)
    address = f"http://{host}:{port}/"
    note_address(local, address)
    return address


@contextlib.contextmanager
def running(local: Path, host: str, port: int) -> Iterator[tuple[Site, str]]:
    """Start everything; give the site and what to say about it; stop everything, however this is left."""
    site = Site()
    with only_one(local), Warden() as warden:
        try:
            start_servers(site, local, warden)
            passwords = prepare()
            address = start_site(site, local, warden, host, free_port(port, host))
            yield site, welcome(address, local, passwords)
        finally:
            say("stopping")
            site.stop()
            (local / "services.json").unlink(missing_ok=True)


def stay_up(local: Path, host: str, port: int) -> None:
    """Run the site until a signal ends this. Raises KeyboardInterrupt then, Trouble when a part keeps ending."""
    with running(local, host, port) as (site, words):
        start_demos()
        say(words)
        while True:
            site.look_after()
            time.sleep(0.5)


def check(local: Path, host: str, port: int) -> None:
    """Run one order to its end on data of its own, and print its trace. Raises Trouble when it does not get there."""
    shutil.rmtree(local, ignore_errors=True)
    with running(local, host, port) as (site, _):
        trace = run_order(site.look_after)
    print(json.dumps(trace, ensure_ascii=False, indent=2))


def stop_at_signals() -> None:
    """Let Ctrl-C, SIGTERM and a closed terminal all end the program once, in order; a second one changes nothing."""
    told: list[int] = []

    def stop(number: int, _: object) -> None:
        told.append(number)
        if len(told) == 1:
            raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


def main() -> int:
    """Read the command line and run. Out: the exit code."""
    parser = argparse.ArgumentParser(prog="script/up", description="Run all of Tokentrail on this machine.")
    parser.add_argument("--host", default="127.0.0.1", help="address of the web server")
    parser.add_argument("--port", type=int, default=FIRST_PORT, help="its port; the next free one if it is taken")
    parser.add_argument("--check", action="store_true", help="run one order to its end, print its trace, stop")
    arguments = parser.parse_args()
    local = local_folder() / "check" if arguments.check else local_folder()
    os.environ["TOKENTRAIL_LOCAL"] = str(local)
    if arguments.check:
        os.environ["EXAMPLES"] = "1"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    stop_at_signals()
    try:
        (check if arguments.check else stay_up)(local, arguments.host, arguments.port)
    except KeyboardInterrupt:
        return 130 if arguments.check else 0
    except Trouble as trouble:
        say(str(trouble))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
