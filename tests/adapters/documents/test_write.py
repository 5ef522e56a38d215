"""Files are whole or not there."""

import os
import stat
import threading

import pytest

from interlock.adapters.documents.write import write_atomically


def test_writes_and_leaves_nothing_beside(tmp_path):
    write_atomically(tmp_path / "a.json", "{}\n")

    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "{}\n"


def test_bytes_are_written_as_they_are(tmp_path):
    write_atomically(tmp_path / "a.png", b"\x89PNG\r\n\x00")

    assert (tmp_path / "a.png").read_bytes() == b"\x89PNG\r\n\x00"


def test_failure_keeps_the_old_file_and_leaves_nothing_beside(tmp_path, monkeypatch):
    target = tmp_path / "a.json"
    target.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(target, "new")

    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_new_file_has_the_users_permissions_and_an_old_one_keeps_its_own(tmp_path):
    fresh, old = tmp_path / "fresh", tmp_path / "old"
    old.touch()
    old.chmod(0o640)
    before = os.umask(0o027)
    try:
        write_atomically(fresh, "x")
        write_atomically(old, "x")
    finally:
        os.umask(before)

    assert stat.S_IMODE(fresh.stat().st_mode) == 0o640
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


def test_follows_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", "x")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "x"


def test_writes_into_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write_atomically(pipe, "x")
    reader.join(timeout=10)

    assert got == ["x"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
