"""Where files may be written: only an ordinary file is replaced, and a URL is never taken for a folder."""

from __future__ import annotations

import os
import socket
import stat
import sys

import pytest

from bpm.audit.places import Folder, PlaceError, Remote, file_at, place


def make_socket(path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


MADE = {
    "a pipe": lambda path: os.mkfifo(path),
    "a link": lambda path: path.symlink_to(path.parent / "target"),
    "a folder": lambda path: path.mkdir(),
    "a socket": make_socket,
}


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("suffix", ["", ".unfinished"])
def test_what_is_no_ordinary_file_stays(tmp_path, monkeypatch, kind, suffix):
    monkeypatch.chdir(tmp_path)  # the names of sockets are short
    path = tmp_path.relative_to(tmp_path) / f"x{suffix}"
    MADE[kind](path)
    before = path.lstat()
    with pytest.raises(PlaceError, match=f"x{suffix} is {kind}"), Folder(str(tmp_path)).writing("x"):
        raise AssertionError("nothing is written")
    assert path.lstat() == before
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_an_ordinary_file_is_replaced_when_the_new_one_is_whole(tmp_path):
    (tmp_path / "x").write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), Folder(str(tmp_path)).writing("x") as file:
        file.write(b"new")
        raise ZeroDivisionError
    assert (tmp_path / "x").read_bytes() == b"old"
    with Folder(str(tmp_path)).writing("x") as file:
        file.write(b"new")
        assert (tmp_path / "x").read_bytes() == b"old"
    assert (tmp_path / "x").read_bytes() == b"new"
    assert [one.name for one in tmp_path.iterdir()] == ["x"]


def test_an_export_to_standard_output_is_refused_and_makes_no_file_of_that_name(world, bpm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, said = bpm("export", "--format", "csv", "--to", "-")
    assert status == 1 and "its manifest lies beside it" in said
    assert list(tmp_path.iterdir()) == []


def test_an_export_replaces_no_pipe(world, bpm, tmp_path):
    os.mkfifo(tmp_path / "x.csv")
    status, said = bpm("export", "--format", "csv", "--to", tmp_path / "x.csv")
    assert status == 1 and "x.csv is a pipe; only a file is replaced" in said, said
    assert stat.S_ISFIFO((tmp_path / "x.csv").lstat().st_mode)
    os.mkfifo(tmp_path / "y.csv.manifest.json")
    status, said = bpm("export", "--format", "csv", "--to", tmp_path / "y.csv")
    assert status == 1 and "is a pipe" in said and not (tmp_path / "y.csv").exists()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("s3://x", "s3fs"),
        ("sftp://ada:secret@host/folder/y.csv", "a password in a URL"),
        ("s3://x/y.csv", "s3fs"),
        ("nothing://x/y", "Protocol not known"),
        ("memory://x", "names no file: memory://FOLDER/FILE"),
        ("memory://x/", "names no file"),
        ("folder/", "names no file"),
        ("s3:/x/y.csv", "no URL"),
    ],
)
def test_what_names_no_place_is_refused_before_anything_is_written(bpm, tmp_path, monkeypatch, address, said):
    monkeypatch.chdir(tmp_path)
    status, told = bpm("export", "--format", "csv", "--to", address)
    assert status == 1 and said in told and "secret" not in told, told
    assert list(tmp_path.iterdir()) == []


def test_without_fsspec_a_url_is_refused_with_what_to_install(bpm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    for command in (("export", "--format", "csv", "--to", "s3://x"), ("archive", "2020-01", "--to", "s3://x/y")):
        status, said = bpm(*command)
        assert status == 1 and "install tokentrail[archive]" in said, said
    assert list(tmp_path.iterdir()) == []


def test_files_and_their_folders():
    assert file_at("x.csv") == (Folder("."), "x.csv")
    assert file_at("/x.csv") == (Folder("/"), "x.csv")
    assert file_at("a/b/x.csv") == (Folder("a/b"), "x.csv")
    assert file_at("memory://a/b/x.csv") == (Remote("memory://a/b"), "x.csv")
    assert file_at("file:///srv/x.csv") == (Remote("file:///srv"), "x.csv")
    assert place("C") == Folder("C")
