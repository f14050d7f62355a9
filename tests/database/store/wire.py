"""A wire between client and server that counts round trips: how often the client asks for everything so far (Sync, or a
simple Query) and so waits for the server. Whatever it sends before that travels with it."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from urllib.parse import quote

WAITS = frozenset(b"SQ")
# Codes of the untyped messages that open a connection: requests for encryption are answered before the real start.
ENCRYPTION = frozenset({80877103, 80877104})


class Wire:
    """Listens on a Unix socket of its own and passes everything on to the server's."""

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
            threading.Thread(target=self._pass_on, args=(client, server, _Counter(self)), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(server, client, None), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, counter: _Counter | None) -> None:
        try:
            while said := source.recv(1 << 20):
                if counter is not None:
                    counter.read(said)
                target.sendall(said)
        except OSError:
            return


class _Counter:
    """Reads the messages of one client: type, length, content; the first ones have no type."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._rest = b""
        self._opened = False

    def read(self, said: bytes) -> None:
        self._rest += said
        while True:
            typed = int(self._opened)
            if len(self._rest) < typed + 4:
                return
            length = int.from_bytes(self._rest[typed : typed + 4]) + typed
            if len(self._rest) < length:
                return
            message, self._rest = self._rest[:length], self._rest[length:]
            if not self._opened:
                self._opened = int.from_bytes(message[4:8]) not in ENCRYPTION
            elif message[0] in WAITS:
                self._wire.turns += 1
