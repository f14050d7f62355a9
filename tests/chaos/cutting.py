"""A TCP proxy before PostgreSQL that hangs up in the middle of COMMIT, when the client's next one is to be cut.

A client says so in passing: a statement that is the text CUT with a mode arms its connection.

- before  COMMIT never reaches the server: what was flushed is undone
- after   COMMIT is done, and the answer is lost on its way
- during  COMMIT is passed on and the line is cut at once: it may have been done or not

A step of one statement has no COMMIT: the server does it at the Sync behind the statement.

- between  the server has carried out the statement and is not told of the Sync: it is undone
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from dataclasses import dataclass, field
from pathlib import Path

# What the server says when it is done: to COMMIT, and to a statement that is a transaction by itself.
DONE = (b"COMMIT\x00", b"SELECT 1\x00")
CUT = "SELECT 'cut the next COMMIT: {}'"
MODES = ("before", "after", "during")
BETWEEN = "between"
# Send what there is, without committing it.
FLUSH = b"H\x00\x00\x00\x04"
# What lets the server carry out what it was told: Sync ends a pipeline, a simple Query is one by itself.
CARRIED_OUT = (b"S", b"Q")
# Close without a goodbye, as a cable does.
AT_ONCE = struct.pack("ii", 1, 0)


class Cutter:
    """Listens on a port of the loopback and passes everything on to the server's Unix socket."""

    def __init__(self, sockets: Path) -> None:
        self.cuts = 0
        self._server = sockets / ".s.PGSQL.5432"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lines: list[Line] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, database: str) -> str:
        """The address of a database behind the proxy."""
        port = self._listener.getsockname()[1]
        return f"postgresql://postgres@127.0.0.1:{port}/{database}?sslmode=disable&gssencmode=disable"

    def close(self) -> None:
        """Hang up."""
        self._listener.close()
        for line in self._lines:
            line.hang_up()

    def noted(self) -> None:
        """A line was cut."""
        self.cuts += 1

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self._server))
            line = Line(self, client, server)
            self._lines.append(line)
            threading.Thread(target=line.to_server, daemon=True).start()
            threading.Thread(target=line.to_client, daemon=True).start()


@dataclass
class Line:
    """One connection. `commits`: the names of prepared statements that are COMMIT; `mode`: what it is armed with."""

    cutter: Cutter
    client: socket.socket
    server: socket.socket
    mode: str | None = None
    committing: bool = False
    commits: set[bytes] = field(default_factory=set)

    def to_server(self) -> None:
        """Pass on what the client says, message by message."""
        opened, rest = False, b""
        with contextlib.suppress(OSError):
            while said := self.client.recv(1 << 16):
                rest += said
                passed, last = b"", b""
                while (message := whole(rest, typed=opened)) is not None:
                    rest = rest[len(message) :]
                    if opened and self.is_commit(message) and self.mode is not None:
                        if self.mode == "before":
                            return self.cut()
                        self.committing = True
                    opened, last = True, message[:1]
                    passed += FLUSH if self.committing and self.mode == BETWEEN and last == b"S" else message
                self.server.sendall(passed)
                if self.committing and self.mode == "during" and last in CARRIED_OUT:
                    return self.cut()
        self.hang_up()
        return None

    def to_client(self) -> None:
        """Pass on what the server says; nothing any more when it has been given a COMMIT whose answer is to be lost."""
        rest = b""
        with contextlib.suppress(OSError):
            while said := self.server.recv(1 << 16):
                if not self.committing:
                    self.client.sendall(said)
                    continue
                # What is cut during COMMIT is cut by who passed it on; the answer must not be quicker than that.
                rest += said
                if self.mode in ("after", BETWEEN) and any(done in rest for done in DONE):
                    return self.cut()
        self.hang_up()
        return None

    def is_commit(self, message: bytes) -> bool:
        """Whether this message is, or executes, a COMMIT. One that arms the line does so."""
        kind, said = message[:1], message[5:]
        if kind in b"PQ":
            name, _, text = (b"", b"", said) if kind == b"Q" else said.partition(b"\x00")
            statement = text.partition(b"\x00")[0].decode(errors="replace")
            for mode in (*MODES, BETWEEN):
                if statement == CUT.format(mode):
                    self.mode = mode
            ends = statement == "COMMIT" or "bpm_settle(" in statement
            (self.commits.add if ends else self.commits.discard)(name)
            return ends and kind == b"Q"
        if kind == b"B":
            return said.split(b"\x00")[1] in self.commits
        return False

    def cut(self) -> None:
        """Hang up on both as a broken cable does."""
        self.cutter.noted()
        for one in (self.client, self.server):
            with contextlib.suppress(OSError):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        self.hang_up()

    def hang_up(self) -> None:
        """Close both ends."""
        for one in (self.client, self.server):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def whole(said: bytes, *, typed: bool) -> bytes | None:
    """The first message, if it is there to its end. The first one of a connection has no type."""
    begin = int(typed)
    if len(said) < begin + 4:
        return None
    length = int.from_bytes(said[begin : begin + 4]) + begin
    return said[:length] if len(said) >= length else None
