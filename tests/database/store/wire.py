"""A wire between client and server that counts round trips: how often the client speaks after the server has."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from urllib.parse import quote


class Wire:
    """Listens on a Unix socket of its own and passes everything on to the server's. Counts the turns of the client."""

    def __init__(self, server: Path, folder: Path) -> None:
        self.turns = 0
        self._server = server
        self._path = folder / ".s.PGSQL.5432"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        self._listener.listen()
        self._sockets: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def address(self, role: str, database: str) -> str:
        """The address of a database behind the wire."""
        return f"postgresql://{role}@{quote(str(self._path.parent), safe='')}/{database}"

    def close(self) -> None:
        """Hang up."""
        for one in self._sockets:
            one.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self._server / ".s.PGSQL.5432"))
            self._sockets += [client, server]
            line = _Line()
            for source, target, speaker in ((client, server, "client"), (server, client, "server")):
                threading.Thread(target=self._pass_on, args=(source, target, speaker, line), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, speaker: str, line: _Line) -> None:
        try:
            while said := source.recv(1 << 20):
                if speaker == "client" and line.last != "client":
                    self.turns += 1
                line.last = speaker
                target.sendall(said)
        except OSError:
            return


class _Line:
    """Who spoke last on one connection."""

    last = "server"
