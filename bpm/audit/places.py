"""Where exports and archives lie: a folder of this machine, or any URL that fsspec understands (s3://..., sftp://...).

A file is written under another name and gets its own when it is whole, so that what is there can be read. Only an
ordinary file is ever replaced: a device, a pipe, a link or a folder of that name stays what it is.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, cast


class PlaceError(Exception):
    """A place that cannot be used; the message says why."""


class Place(Protocol):
    """A folder of files."""

    @property
    def address(self) -> str:
        """The folder or URL, as it was named."""
        ...

    def require(self) -> None:
        """Raises PlaceError where it is known beforehand that nothing can be written there."""
        ...

    def writing(self, name: str) -> contextlib.AbstractContextManager[IO[bytes]]:
        """A new file; it is there when the block ends well, and not at all when it does not."""
        ...

    def reading(self, name: str) -> contextlib.AbstractContextManager[IO[bytes]]:
        """A file to read, which can be positioned. FileNotFoundError where there is none."""
        ...

    def exists(self, name: str) -> bool:
        """Whether the file is there."""
        ...


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of this machine; it is made when something is written."""

    address: str

    def require(self) -> None:
        """It can be used as it is."""

    @property
    def _path(self) -> Path:
        return Path(self.address)

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        path = self._path / name
        unfinished = path.with_name(f"{path.name}.unfinished")
        for one in (path, unfinished):
            _require_ordinary(one)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with unfinished.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise

    @contextlib.contextmanager
    def reading(self, name: str) -> Iterator[IO[bytes]]:
        with (self._path / name).open("rb") as file:
            yield file

    def exists(self, name: str) -> bool:
        return (self._path / name).is_file()


def _require_ordinary(path: Path) -> None:
    """Raises PlaceError where something is there that a file must not take the place of, a link included."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as problem:
        raise PlaceError(f"{path} cannot be written: {problem.strerror}") from None
    if not stat.S_ISREG(mode):
        raise PlaceError(f"{path} is {KINDS.get(stat.S_IFMT(mode), 'no ordinary file')}; only a file is replaced")


KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True, slots=True)
class Remote:
    """A folder behind a URL. Object stores show a file when it is whole; elsewhere it is moved to its name."""

    address: str

    def require(self) -> None:
        """Raises PlaceError where a library for it is missing."""
        self._files()

    def _files(self) -> tuple[Any, str]:
        try:
            import fsspec
        except ImportError:
            raise PlaceError(f"{self.address} needs fsspec: install tokentrail[archive]") from None
        try:
            return cast(tuple[Any, str], fsspec.core.url_to_fs(self.address))
        except (ImportError, ValueError) as problem:
            raise PlaceError(f"{self.address} cannot be reached: {problem}") from None

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        files, root = self._files()
        path = f"{root.rstrip('/')}/{name}"
        files.makedirs(path.rpartition("/")[0], exist_ok=True)
        try:
            with files.open(f"{path}.unfinished", "wb") as file:
                yield file
            files.mv(f"{path}.unfinished", path)
        except BaseException:
            with contextlib.suppress(OSError):
                files.rm(f"{path}.unfinished")
            raise

    @contextlib.contextmanager
    def reading(self, name: str) -> Iterator[IO[bytes]]:
        files, root = self._files()
        with files.open(f"{root.rstrip('/')}/{name}", "rb") as file:
            yield file

    def exists(self, name: str) -> bool:
        files, root = self._files()
        return bool(files.exists(f"{root.rstrip('/')}/{name}"))


# Addresses are kept in history and shown to whoever sees it; a password in one would be, too, for ever.
_PASSWORD = re.compile(r"://[^/@]*:[^/@]*@")
# A URL whose slashes were left out is no folder of that name.
_ALMOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(/|$)")


def place(address: str) -> Place:
    """The folder of that path or URL. Raises PlaceError for what is neither."""
    if _PASSWORD.search(address):
        raise PlaceError("a password in a URL would stand in history: give it to fsspec (FSSPEC_<PROTOCOL>_PASSWORD)")
    if "://" in address:
        return Remote(address)
    if _ALMOST.match(address):
        raise PlaceError(f"{address} is no URL: its scheme is followed by ://")
    return Folder(address)


def file_at(address: str) -> tuple[Place, str]:
    """(folder, name) of a file that is to be written. Raises PlaceError where no file is named, or the folder cannot be
    used as it is known beforehand.
    """
    scheme, mark, path = address.rpartition("://") if "://" in address else ("", "", address)
    folder, slash, name = path.rpartition("/")
    root = "/" if slash and not mark else ""
    found = place(f"{scheme}{mark}{folder}" if mark else folder or root or ".")
    found.require()
    if not name or (mark and not slash):
        raise PlaceError(f"{address} names no file" + (f": {scheme}://FOLDER/FILE" if mark else ""))
    return found, name


class Digesting:
    """Passes what is written on to a file, and knows its SHA-256 and size."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.size = 0

    def write(self, data: Any) -> int:
        """Write and digest."""
        self._digest.update(data)
        self.size += len(data)
        self._file.write(data)
        return len(data)

    def tell(self) -> int:
        """How much was written."""
        return self.size

    def flush(self) -> None:
        """Pass it on."""
        self._file.flush()

    @property
    def closed(self) -> bool:
        """It is closed by whoever opened the file."""
        return False

    @property
    def hash(self) -> str:
        """SHA-256 of all that was written."""
        return self._digest.hexdigest()


def hash_of_file(at: Place, name: str) -> str:
    """SHA-256 of a file as it can be read now."""
    with at.reading(name) as file:
        return hashlib.file_digest(cast(Any, file), "sha256").hexdigest()
