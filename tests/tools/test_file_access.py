"""Files are opened and replaced so that pipes, swapped links and failures do no harm."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from hdsp_agent.tools import PathPolice, ToolFailed
from hdsp_agent.tools._file_access import open_file, read_whole, replace, stamp_of


@pytest.fixture
def police(workspace: Path) -> PathPolice:
    return PathPolice(workspace)


@pytest.mark.parametrize(
    ("kind", "why"), [("folder", "is a directory"), ("pipe", "a named pipe"), ("link", "symbolic link")]
)
def test_only_files_are_opened(police: PathPolice, workspace: Path, kind: str, why: str) -> None:
    place = police.resolve("a.txt")
    if kind == "folder":
        (workspace / "a.txt").mkdir()
    elif kind == "pipe":
        os.mkfifo(workspace / "a.txt")
    else:
        # It became one after it was looked at.
        (workspace / "b.txt").write_text("b", "utf-8")
        (workspace / "a.txt").symlink_to("b.txt")
    with pytest.raises(ToolFailed, match=why):
        open_file(place)
    with pytest.raises(ToolFailed, match=why):
        replace(place, b"new")


def test_a_file_reached_through_a_folder_that_became_a_link_is_not_opened(police: PathPolice, workspace: Path) -> None:
    (workspace / "a").mkdir()
    (workspace / "a" / "x.txt").write_text("mine", "utf-8")
    place = police.resolve("a/x.txt")
    (workspace / "a").rename(workspace / "b")
    (workspace / "a").symlink_to("b")
    with pytest.raises(ToolFailed, match="moved or replaced"):
        open_file(place)
    with pytest.raises(ToolFailed):
        replace(place, b"new")
    assert (workspace / "b" / "x.txt").read_text("utf-8") == "mine"


def test_a_file_is_read_whole_up_to_the_limit_and_not_beyond(police: PathPolice, workspace: Path) -> None:
    (workspace / "a.txt").write_bytes(b"x" * 10)
    data, stamp = read_whole(police.resolve("a.txt"), most=10)
    assert data == b"x" * 10 and stamp == stamp_of(os.stat(workspace / "a.txt")) and stamp[1] == 10
    with pytest.raises(ToolFailed, match="10 bytes"):
        read_whole(police.resolve("a.txt"), most=9)
    assert read_whole(police.resolve("a.txt"), most=10, stop=lambda: True)[0] == b""


def test_a_large_file_is_read_in_all_its_pieces(police: PathPolice, workspace: Path) -> None:
    content = os.urandom((1 << 20) + 7)
    (workspace / "a.bin").write_bytes(content)
    assert read_whole(police.resolve("a.bin"), most=len(content))[0] == content


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_replaced_file_keeps_its_mode(police: PathPolice, workspace: Path, mode: int) -> None:
    file = workspace / "a.sh"
    file.write_text("old", "utf-8")
    file.chmod(mode)
    stamp = replace(police.resolve("a.sh"), b"new")
    assert file.read_bytes() == b"new" and stat.S_IMODE(file.stat().st_mode) == mode
    assert stamp == stamp_of(file.stat())
    assert [path.name for path in workspace.iterdir()] == ["a.sh"]


def test_a_new_file_is_made_with_its_folders_and_under_the_umask(police: PathPolice, workspace: Path) -> None:
    before = os.umask(0o027)
    try:
        replace(police.resolve("deep/er/a.txt"), b"new")
    finally:
        os.umask(before)
    made = workspace / "deep" / "er" / "a.txt"
    assert made.read_bytes() == b"new" and stat.S_IMODE(made.stat().st_mode) == 0o640


def test_what_fails_leaves_nothing_behind(police: PathPolice, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workspace / "a.txt").write_text("old", "utf-8")
    place = police.resolve("a.txt")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    for call in ("replace", "fsync"):
        with monkeypatch.context() as patched:
            patched.setattr(os, call, full)
            with pytest.raises(ToolFailed, match="No space left"):
                replace(place, b"new")
        assert [path.name for path in workspace.iterdir()] == ["a.txt"]
        assert (workspace / "a.txt").read_text("utf-8") == "old"


def test_a_missing_file_is_said_to_be_missing(police: PathPolice) -> None:
    with pytest.raises(ToolFailed, match="does not exist"):
        open_file(police.resolve("nowhere.txt"))


def test_a_file_that_nobody_may_write_stays(
    police: PathPolice, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "a.txt").write_text("old", "utf-8")
    allowed = os.access
    # Root may write everywhere, so the answer of the system is what is replaced.
    monkeypatch.setattr(os, "access", lambda path, mode, **more: mode != os.W_OK and allowed(path, mode, **more))
    with pytest.raises(ToolFailed, match="read-only"):
        replace(police.resolve("a.txt"), b"new")
    assert (workspace / "a.txt").read_text("utf-8") == "old"
