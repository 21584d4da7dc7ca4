"""Files are opened and replaced so that pipes, swapped links and failures do no harm."""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from hdsp_agent.tools import PathPolicy, ToolFailed, _file_access
from hdsp_agent.tools._file_access import open_file, raise_failure, read_whole, replace, stamp_of


@pytest.fixture
def paths(workspace: Path) -> PathPolicy:
    return PathPolicy(workspace)


@pytest.mark.parametrize(
    ("kind", "why"), [("folder", "is a directory"), ("pipe", "a named pipe"), ("link", "symbolic link")]
)
def test_only_files_are_opened(paths: PathPolicy, workspace: Path, kind: str, why: str) -> None:
    place = paths.resolve("a.txt")
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


def test_a_file_reached_through_a_folder_that_became_a_link_is_not_opened(paths: PathPolicy, workspace: Path) -> None:
    (workspace / "a").mkdir()
    (workspace / "a" / "x.txt").write_text("mine", "utf-8")
    place = paths.resolve("a/x.txt")
    (workspace / "a").rename(workspace / "b")
    (workspace / "a").symlink_to("b")
    with pytest.raises(ToolFailed, match="moved or replaced"):
        open_file(place)
    with pytest.raises(ToolFailed):
        replace(place, b"new")
    assert (workspace / "b" / "x.txt").read_text("utf-8") == "mine"


def test_a_file_is_read_whole_up_to_the_limit_and_not_beyond(paths: PathPolicy, workspace: Path) -> None:
    (workspace / "a.txt").write_bytes(b"x" * 10)
    data, stamp = read_whole(paths.resolve("a.txt"), most=10)
    assert data == b"x" * 10 and stamp == stamp_of(os.stat(workspace / "a.txt")) and stamp[1] == 10
    with pytest.raises(ToolFailed, match="10 bytes"):
        read_whole(paths.resolve("a.txt"), most=9)
    assert read_whole(paths.resolve("a.txt"), most=10, stop=lambda: True)[0] == b""


def test_a_large_file_is_read_in_all_its_pieces(paths: PathPolicy, workspace: Path) -> None:
    content = os.urandom((1 << 20) + 7)
    (workspace / "a.bin").write_bytes(content)
    assert read_whole(paths.resolve("a.bin"), most=len(content))[0] == content


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_replaced_file_keeps_its_mode(paths: PathPolicy, workspace: Path, mode: int) -> None:
    file = workspace / "a.sh"
    file.write_text("old", "utf-8")
    file.chmod(mode)
    stamp = replace(paths.resolve("a.sh"), b"new")
    assert file.read_bytes() == b"new" and stat.S_IMODE(file.stat().st_mode) == mode
    assert stamp == stamp_of(file.stat())
    assert [path.name for path in workspace.iterdir()] == ["a.sh"]


def test_a_new_file_is_made_with_its_folders_and_under_the_umask(paths: PathPolicy, workspace: Path) -> None:
    before = os.umask(0o027)
    try:
        replace(paths.resolve("deep/er/a.txt"), b"new")
    finally:
        os.umask(before)
    made = workspace / "deep" / "er" / "a.txt"
    assert made.read_bytes() == b"new" and stat.S_IMODE(made.stat().st_mode) == 0o640


def test_what_fails_leaves_nothing_behind(paths: PathPolicy, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workspace / "a.txt").write_text("old", "utf-8")
    place = paths.resolve("a.txt")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    for call in ("replace", "fsync"):
        with monkeypatch.context() as patched:
            patched.setattr(os, call, full)
            with pytest.raises(ToolFailed, match="No space left"):
                replace(place, b"new")
        assert [path.name for path in workspace.iterdir()] == ["a.txt"]
        assert (workspace / "a.txt").read_text("utf-8") == "old"


def test_a_missing_file_is_said_to_be_missing(paths: PathPolicy) -> None:
    with pytest.raises(ToolFailed, match="does not exist"):
        open_file(paths.resolve("nowhere.txt"))


def test_a_file_that_nobody_may_write_stays(
    paths: PathPolicy, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "a.txt").write_text("old", "utf-8")
    allowed = os.access
    # Root may write everywhere, so the answer of the system is what is replaced.
    monkeypatch.setattr(os, "access", lambda path, mode, **more: mode != os.W_OK and allowed(path, mode, **more))
    with pytest.raises(ToolFailed, match="read-only"):
        replace(paths.resolve("a.txt"), b"new")
    assert (workspace / "a.txt").read_text("utf-8") == "old"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_file_of_somebody_else_is_written_where_it_is_and_stays_theirs(paths: PathPolicy, workspace: Path) -> None:
    file = workspace / "theirs.txt"
    file.write_text("old and longer", "utf-8")
    os.chown(file, 12345, 12346)
    before = file.stat()
    stamp = replace(paths.resolve("theirs.txt"), b"new")
    after = file.stat()
    assert file.read_bytes() == b"new" and stamp == stamp_of(after)
    assert (after.st_ino, after.st_uid, after.st_gid) == (before.st_ino, 12345, 12346)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a file to any group")
def test_a_replaced_file_keeps_its_group(paths: PathPolicy, workspace: Path) -> None:
    file = workspace / "a.txt"
    file.write_text("old", "utf-8")
    os.chown(file, -1, 12346)
    inode = file.stat().st_ino
    replace(paths.resolve("a.txt"), b"new")
    assert (file.stat().st_uid, file.stat().st_gid) == (os.geteuid(), 12346) and file.stat().st_ino != inode


def test_a_folder_that_may_not_be_changed_has_its_files_written_where_they_are(
    paths: PathPolicy, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    file = workspace / "a.txt"
    file.write_text("old and longer", "utf-8")
    inode = file.stat().st_ino
    place, missing = paths.resolve("a.txt"), paths.resolve("b.txt")
    monkeypatch.setattr(os, "replace", forbidden)
    assert replace(place, b"new") == stamp_of(file.stat())
    assert file.read_bytes() == b"new" and file.stat().st_ino == inode
    with pytest.raises(ToolFailed, match="permission denied"):
        replace(missing, b"new")
    assert [path.name for path in workspace.iterdir()] == ["a.txt"]
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(ToolFailed, match="No space left"):
        replace(place, b"other")


def test_files_are_opened_so_that_no_link_is_followed_and_nothing_is_waited_for(
    paths: PathPolicy, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int, int]] = []
    really = os.open

    def spying(path: str | os.PathLike[str], flags: int, mode: int = 0o777, **more: int) -> int:
        opened.append((str(path), flags, mode))
        return really(path, flags, mode, **more)

    name = "n" * 120
    (workspace / name).write_text("old", "utf-8")
    place = paths.resolve(name)
    monkeypatch.setattr(os, "open", spying)
    open_file(place).close()
    assert [flags for path, flags, _ in opened if path == str(place.path)] == [os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK]  # fmt: skip
    opened.clear()
    replace(place, b"new")
    if sys.platform == "linux":
        assert opened[0][:2] == (str(workspace), os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
    made = opened[-1]
    assert re.fullmatch(r"\.n{100}\.[0-9a-f]{12}\.tmp", made[0].rpartition("/")[2])
    assert made[1:] == (os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    opened.clear()
    replace(paths.resolve("new.txt"), b"new")
    assert opened[-1][1:] == (os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)


def test_descriptors_are_closed_also_where_a_file_is_refused(paths: PathPolicy, workspace: Path) -> None:
    (workspace / "a").mkdir()
    (workspace / "a" / "x.txt").write_text("mine", "utf-8")
    place = paths.resolve("a/x.txt")
    (workspace / "a").rename(workspace / "b")
    (workspace / "a").symlink_to("b")
    for _ in range(5):
        with pytest.raises(ToolFailed):
            open_file(place)
        with pytest.raises(ToolFailed):
            replace(place, b"new")
    held = []
    for name in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        with suppress(FileNotFoundError):  # closed since it was listed
            held.append(os.readlink(f"/proc/self/fd/{name}"))
    assert [path for path in held if path.startswith(str(workspace))] == []


def test_what_is_no_file_is_not_opened_and_not_read_if_it_became_so_just_now(
    paths: PathPolicy, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = workspace / "a.txt"
    place = paths.resolve("a.txt")
    opened: list[str] = []
    really = os.open

    def swapping(path: str | os.PathLike[str], flags: int) -> int:
        opened.append(str(path))
        file.unlink()
        os.mkfifo(file)
        return really(path, flags)

    monkeypatch.setattr(os, "open", swapping)
    os.mkfifo(file)
    with pytest.raises(ToolFailed, match="a named pipe"):
        open_file(place)
    assert opened == []
    file.unlink()
    file.write_text("mine", "utf-8")
    with pytest.raises(ToolFailed, match="a named pipe"):
        open_file(place)
    assert opened == [str(file)]


def test_no_more_is_read_than_was_asked_for_and_it_can_be_stopped_at_each_megabyte(
    paths: PathPolicy, workspace: Path
) -> None:
    file = workspace / "a.bin"
    file.write_bytes(b"x" * 10)

    def growing() -> bool:
        with file.open("ab") as more:
            more.write(b"y" * 10)
        return False

    assert read_whole(paths.resolve("a.bin"), most=10, stop=growing)[0] == b"x" * 10
    file.write_bytes(b"x" * ((1 << 20) + 7))
    answers = iter([False, True])
    assert len(read_whole(paths.resolve("a.bin"), most=1 << 21, stop=lambda: next(answers))[0]) == 1 << 20


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_file_of_somebody_else_that_may_not_be_written_stays(
    paths: PathPolicy, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = workspace / "theirs.txt"
    file.write_text("old", "utf-8")
    os.chown(file, 12345, 12346)
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode, **more: mode != os.W_OK and allowed(path, mode, **more))
    with pytest.raises(ToolFailed, match="cannot be written: permission denied"):
        replace(paths.resolve("theirs.txt"), b"new")
    assert file.read_text("utf-8") == "old"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device"), "a cannot be read: No space left on device."),
        (OSError("odd"), "a cannot be read: odd."),
        (PermissionError(13, "Permission denied"), "a cannot be read: permission denied."),
    ],
)
def test_a_failure_is_told_in_the_words_of_the_system(error: OSError, said: str) -> None:
    with pytest.raises(ToolFailed) as raised:
        raise_failure(error, "a", "read")
    assert str(raised.value) == said


def test_what_is_written_goes_into_the_folder_that_was_opened(
    paths: PathPolicy, workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder, elsewhere = workspace / "folder", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()

    def swapped(count: int) -> str:
        folder.rename(workspace / "moved")
        folder.symlink_to(elsewhere)
        return "0" * count

    place = paths.resolve("folder/a.txt")
    monkeypatch.setattr(secrets, "token_hex", swapped)
    replace(place, b"words")
    assert (workspace / "moved" / "a.txt").read_bytes() == b"words"
    assert list(elsewhere.iterdir()) == []


def test_a_file_that_became_a_link_is_not_written_where_it_is(workspace: Path) -> None:
    (workspace / "kept.txt").write_text("kept")
    (workspace / "link.txt").symlink_to("kept.txt")
    with pytest.raises(ToolFailed, match=r"link\.txt cannot be written"):
        _file_access._in_place(workspace / "link.txt", b"other", "link.txt")
    assert (workspace / "kept.txt").read_text() == "kept"
