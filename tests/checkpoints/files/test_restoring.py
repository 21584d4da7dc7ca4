"""Going back, and back again: byte for byte, and never at the cost of what the person made."""

from __future__ import annotations

import os
import resource
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileLimits, OperationRecord
from hdsp_agent.checkpoints.files import file_system_sync
from hdsp_agent.checkpoints.files.file_system_sync import FileSystemSync
from hdsp_agent.checkpoints.files.operation_log import OperationLog
from hdsp_agent.errors import Conflict, HdspAgentError, InvalidInput, NotAllowed, NotFound, StorageUnavailable

from ._helpers.workspace_fixtures import assert_sound, git, picture, the_store, write


def usual(root: Path) -> None:
    """A workspace with something of everything."""
    write(
        root,
        {
            "README.md": "text\r\nwith CRLF\r\n", ".gitattributes": "* text=auto eol=lf ident\n", "id.txt": "$Id$\n",
            ".gitignore": "*.csv\nout/\n.env\n", "data.csv": "a,b\n", ".env": "SECRET=1\n", "out/fig.png": b"\x89PNG\x00\xff",
            "분석.ipynb": '{"cells": []}', "cafe\u0301.txt": "NFD", "café2.txt": "NFC", "new\nline": "n", 'quo"ted\t': "q",
            "-rf": "dash", "deep/a/b/c/d.txt": "d", "become_folder": "file", "become_file/x": "x", "become_link/y": "y",
            "repo/.git/HEAD": "ref: refs/heads/main\n", "repo/code.py": "1\n", "bin/tool": "#!/bin/sh\n", "ro": "read-only",
        },
    )  # fmt: skip
    with open(os.fsencode(root) + b"/inv\xe9\xffalid", "wb") as file:
        file.write(b"\x00\x01")
    (root / "empty" / "inside").mkdir(parents=True)
    (root / "inner_link").symlink_to("deep/a")
    (root / "outer_link").symlink_to("/etc/hostname")
    (root / "broken_link").symlink_to("nowhere")
    (root / "bin" / "tool").chmod(0o755)
    (root / ".env").chmod(0o600)
    (root / "ro").chmod(0o444)
    (root / "deep" / "a").chmod(0o750)
    os.utime(root / "data.csv", ns=(10**18, 10**18 + 123456789))


def wreck(root: Path) -> None:
    """Everything an agent can do to it."""
    for name in ("data.csv", ".env", "-rf", "new\nline"):
        (root / name).unlink()
    shutil.rmtree(root / "out")
    shutil.rmtree(root / "deep")
    shutil.rmtree(root / "empty")
    write(root, {"README.md": "gone\n", "id.txt": "$Id: 123 $\n", "분석.ipynb": '{"cells": [1]}', "added/more/x": "x"})
    (root / "become_folder").unlink()
    write(root, {"become_folder/in/side": "1"})
    shutil.rmtree(root / "become_file")
    (root / "become_file").write_text("now a file")
    shutil.rmtree(root / "become_link")
    (root / "become_link").symlink_to("/tmp")
    (root / "inner_link").unlink()
    (root / "inner_link").symlink_to("..")
    (root / "outer_link").unlink()
    write(root, {"outer_link": "no link any more"})
    (root / "bin" / "tool").chmod(0o600)
    os.unlink(os.fsencode(root) + b"/inv\xe9\xffalid")
    (root / "ro").chmod(0o644)
    (root / "ro").write_text("written")
    (root / "cafe\u0301.txt").rename(root / "cafe\u0301_renamed.txt")


async def test_everything_comes_back_byte_for_byte_and_the_undo_takes_that_back(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path
) -> None:
    usual(workspace)
    before = picture(workspace)
    first = await checkpoints.save("before")
    wreck(workspace)
    after = picture(workspace)
    await checkpoints.save("after", changes_by="agent")

    done = await checkpoints.restore(first.id)
    assert picture(workspace) == before
    assert (done.status, done.kept, done.target) == ("done", 0, first.id)
    assert done.checkpoint is not None
    assert (done.checkpoint.tree, done.checkpoint.side) == (first.tree, first.side)
    undone = await checkpoints.undo()
    assert picture(workspace) == after
    assert undone.undo_of == done.id
    await checkpoints.undo(undone.id)
    assert picture(workspace) == before
    assert_sound(store_dir)


async def test_another_server_restores_what_this_one_saved(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path
) -> None:
    usual(workspace)
    before = picture(workspace)
    first = await checkpoints.save("before")
    wreck(workspace)
    await checkpoints.save("after", changes_by="agent")
    await AsyncFileCheckpoints(workspace, store_dir).restore(first.commit[:8])
    assert picture(workspace) == before


async def test_the_persons_edits_new_files_and_deletions_since_are_kept(
    checkpoints: AsyncFileCheckpoints, workspace: Path
) -> None:
    write(workspace, {"agents.py": "1", "persons.py": "1", "both.py": "1", "deleted.py": "1", "old/gone.py": "1"})
    first = await checkpoints.save("before")
    write(workspace, {"agents.py": "2", "both.py": "2", "agents_new.py": "2"})
    await checkpoints.save("after", changes_by="agent")
    write(workspace, {"persons.py": "mine", "both.py": "mine", "mine/new.py": "mine"})
    (workspace / "deleted.py").unlink()
    shutil.rmtree(workspace / "old")

    plan = await checkpoints.plan_restore(first.id)
    assert {change.path: change.action for change in plan.changes if change.kind == "file"} == {
        "agents.py": "overwrite", "agents_new.py": "delete",
    }  # fmt: skip
    assert {change.path: change.action for change in plan.conflicts} == {
        "persons.py": "overwrite", "both.py": "overwrite", "mine/new.py": "delete", "deleted.py": "create",
        "old/gone.py": "create",
    }  # fmt: skip
    done = await checkpoints.restore(first.id)
    assert done.kept == 5
    assert (workspace / "agents.py").read_text() == "1"
    assert not (workspace / "agents_new.py").exists()
    assert [(workspace / name).read_text() for name in ("persons.py", "both.py", "mine/new.py")] == ["mine"] * 3
    assert not (workspace / "deleted.py").exists()

    await checkpoints.restore(first.id, overwrite=["both.py", "deleted.py"])
    assert (workspace / "both.py").read_text() == "1"
    assert (workspace / "deleted.py").exists()
    assert (workspace / "persons.py").read_text() == "mine"
    await checkpoints.restore(first.id, overwrite_conflicts=True)
    assert (workspace / "persons.py").read_text() == "1"
    assert not (workspace / "mine").exists()
    assert (workspace / "old" / "gone.py").read_text() == "1"


async def test_what_the_person_changed_between_two_steps_of_the_agent_is_kept_too(
    checkpoints: AsyncFileCheckpoints, workspace: Path
) -> None:
    write(workspace, {"a": "1", "b": "1"})
    first = await checkpoints.save("before edit a")
    write(workspace, {"a": "2"})
    await checkpoints.save("after edit a", changes_by="agent")
    write(workspace, {"b": "mine"})
    await checkpoints.save("before edit a again")
    write(workspace, {"a": "3"})
    await checkpoints.save("after edit a again", changes_by="agent")
    done = await checkpoints.restore(first.id)
    assert ((workspace / "a").read_text(), (workspace / "b").read_text(), done.kept) == ("1", "mine", 1)


async def test_what_was_never_captured_is_never_deleted_or_overwritten(workspace: Path, store_dir: Path) -> None:
    checkpoints = AsyncFileCheckpoints(
        workspace, store_dir, FileLimits(file_bytes=1000, touched_file_bytes=4000, cloned_bytes=0)
    )
    write(
        workspace,
        {"grew": b"s" * 10, "grew_little": "1", "shrank": b"l" * 2000, "stays": b"L" * 2000, "x": "1", "dir/file": "1"},
    )
    first = await checkpoints.save("before")
    write(
        workspace,
        {"grew": b"G" * 5000, "grew_little": b"G" * 3000, "shrank": "short", "x": "2", "new_large": b"n" * 3000},
    )
    (workspace / "dir" / "file").unlink()
    (workspace / "dir").rmdir()
    write(workspace, {"dir/node_modules/pkg.js": "1"})
    os.mkfifo(workspace / "pipe")
    await checkpoints.save("after", changes_by="agent")
    plan = await checkpoints.plan_restore(first.id)
    assert {left.path: left.reason for left in plan.left} == {
        "grew": "too_large", "shrank": "too_large", "new_large": "too_large", "pipe": "special",
    }  # fmt: skip
    await checkpoints.restore(first.id, overwrite_conflicts=True)
    assert (workspace / "x").read_text() == "1"
    assert (workspace / "grew").read_bytes() == b"G" * 5000
    assert (workspace / "shrank").read_text() == "short"
    assert (workspace / "stays").read_bytes() == b"L" * 2000
    assert (workspace / "new_large").exists()
    assert (workspace / "dir" / "node_modules" / "pkg.js").exists()
    # Too large for every save, but not for the one before a restore that overwrites it.
    assert (workspace / "grew_little").read_text() == "1"
    await checkpoints.undo()
    assert (workspace / "grew_little").read_bytes() == b"G" * 3000


async def test_a_folder_with_something_uncaptured_makes_no_room_for_a_file(
    checkpoints: AsyncFileCheckpoints, workspace: Path
) -> None:
    write(workspace, {"place": "file", "other": "1"})
    first = await checkpoints.save("before")
    (workspace / "place").unlink()
    write(workspace, {"place/.git/HEAD": "x", "place/code.py": "1", "other": "2"})
    await checkpoints.save("after", changes_by="agent")
    plan = await checkpoints.plan_restore(first.id)
    assert [(left.path, left.reason) for left in plan.left] == [("place", "occupied")]
    await checkpoints.restore(first.id)
    assert (workspace / "place" / ".git" / "HEAD").exists()
    assert (workspace / "other").read_text() == "1"


async def test_only_what_was_chosen_is_restored(checkpoints: AsyncFileCheckpoints, workspace: Path) -> None:
    write(workspace, {"a.py": "1", "b.py": "1", "dir/c.py": "1", "dir/d.py": "1", "gone/e.py": "1"})
    first = await checkpoints.save("before")
    write(workspace, {"a.py": "2", "b.py": "2", "dir/c.py": "2", "dir/d.py": "2"})
    shutil.rmtree(workspace / "gone")
    await checkpoints.save("after", changes_by="agent")
    await checkpoints.restore(first.id, only=["dir", str(workspace / "gone" / "e.py")], leave=["dir/d.py"])
    values = [(workspace / name).read_text() for name in ("a.py", "b.py", "dir/c.py", "dir/d.py", "gone/e.py")]
    assert values == ["2", "2", "1", "2", "1"]
    with pytest.raises(InvalidInput, match="not in the workspace"):
        await checkpoints.restore(first.id, only=["../elsewhere"])


async def test_a_plan_changes_nothing_and_restoring_twice_changes_nothing_more(
    checkpoints: AsyncFileCheckpoints, workspace: Path
) -> None:
    usual(workspace)
    first = await checkpoints.save("before")
    wreck(workspace)
    await checkpoints.save("after", changes_by="agent")
    wrecked = picture(workspace)
    plan = await checkpoints.plan_restore(first.id)
    assert plan.changes
    assert picture(workspace) == wrecked
    await checkpoints.restore(first.id)
    again = await checkpoints.restore(first.id)
    assert (again.written, again.deleted) == (0, 0)
    assert (await checkpoints.plan_restore(first.id)).changes == ()


async def test_undo_goes_back_step_by_step(checkpoints: AsyncFileCheckpoints, workspace: Path) -> None:
    states = []
    for number in range(3):
        write(workspace, {"a": str(number)})
        states.append(await checkpoints.save("next", changes_by="agent"))
    await checkpoints.restore(states[0].id)
    await checkpoints.restore(states[1].id)
    assert (workspace / "a").read_text() == "1"
    await checkpoints.undo()
    assert (workspace / "a").read_text() == "0"
    await checkpoints.undo()
    assert (workspace / "a").read_text() == "2"
    with pytest.raises(NotFound, match="no restore"):
        await checkpoints.undo()
    with pytest.raises(NotFound, match="no checkpoint"):
        await checkpoints.restore("feed" * 4)


async def test_an_undo_leaves_alone_what_the_restore_left_alone(
    checkpoints: AsyncFileCheckpoints, workspace: Path
) -> None:
    write(workspace, {"a": "1", "b": "1"})
    first = await checkpoints.save("first")
    write(workspace, {"a": "2", "b": "2"})
    await checkpoints.save("second", changes_by="agent")
    await checkpoints.restore(first.id, leave=["a"])
    write(workspace, {"a": "3"})
    await checkpoints.save("third", changes_by="agent")
    await checkpoints.undo()
    assert ((workspace / "a").read_text(), (workspace / "b").read_text()) == ("3", "2")


async def test_an_edit_after_the_restore_survives_its_undo(checkpoints: AsyncFileCheckpoints, workspace: Path) -> None:
    write(workspace, {"a": "1", "b": "1"})
    first = await checkpoints.save("before")
    write(workspace, {"a": "2", "b": "2"})
    await checkpoints.save("after", changes_by="agent")
    await checkpoints.restore(first.id)
    write(workspace, {"b": "mine"})
    undone = await checkpoints.undo()
    assert ((workspace / "a").read_text(), (workspace / "b").read_text(), undone.kept) == ("2", "mine", 1)


async def test_a_link_put_in_the_place_of_a_folder_leads_no_restore_out_of_the_workspace(
    checkpoints: AsyncFileCheckpoints, workspace: Path, tmp_path: Path
) -> None:
    write(workspace, {"dir/a": "1"})
    write(tmp_path, {"outside/a": "outside"})
    first = await checkpoints.save("before")
    shutil.rmtree(workspace / "dir")
    (workspace / "dir").symlink_to(tmp_path / "outside")
    await checkpoints.save("after", changes_by="agent")
    await checkpoints.restore(first.id)
    assert (tmp_path / "outside" / "a").read_text() == "outside"
    assert not (workspace / "dir").is_symlink()
    assert (workspace / "dir" / "a").read_text() == "1"


# Called when a restore is about to put the first file in place.
Meanwhile = Callable[[Path], None]


def edit(root: Path) -> None:
    """The person saves a file that the restore is about to overwrite."""
    (root / "b").write_text("saved meanwhile")


def create(root: Path) -> None:
    """The person makes a file where the restore is about to."""
    (root / "gone").write_text("made meanwhile")


@pytest.mark.parametrize("meanwhile", [edit, create])
async def test_whoever_is_faster_than_the_restore_wins_and_nothing_is_half_done(
    checkpoints: AsyncFileCheckpoints,
    workspace: Path,
    store_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    meanwhile: Meanwhile,
) -> None:
    write(workspace, {"a": "1", "b": "1", "gone": "1", "dir/c": "1"})
    first = await checkpoints.save("before")
    write(workspace, {"a": "2", "b": "2", "dir/c": "2", "added": "2"})
    (workspace / "gone").unlink()
    await checkpoints.save("after", changes_by="agent")
    real = os.replace

    def replace(source: bytes, target: bytes, **folders: int) -> None:
        if target == b"a" and not seen:
            seen.append(target)
            meanwhile(workspace)
            expected.update(picture(workspace, without=b".hdsp-restore-"))
        real(source, target, **folders)

    seen: list[bytes] = []
    expected: dict[bytes, object] = {}
    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(Conflict, match="Try again"):
        await checkpoints.restore(first.id)
    assert seen
    assert picture(workspace) == expected
    newest = (await checkpoints.operations(1))[0]
    assert (newest.kind, newest.status) == ("restore", "rolled_back")
    await checkpoints.restore(first.id, overwrite_conflicts=True)
    assert (workspace / "b").read_text() == "1"
    assert_sound(store_dir)


async def test_a_damaged_store_is_noticed_before_anything_changes(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path
) -> None:
    write(workspace, {"a": "1" * 1000, "b": "1"})
    first = await checkpoints.save("before")
    (pack,) = (the_store(store_dir) / "objects" / "pack").glob("*.pack")
    blob = bytes.fromhex(git(the_store(store_dir), "rev-parse", f"{first.commit}:a").decode().strip())
    write(workspace, {"a": "2", "b": "2"})
    await checkpoints.save("after", changes_by="agent")
    data = bytearray(pack.read_bytes())
    for place in range(12, len(data) - 20):
        damaged = bytearray(data)
        damaged[place] ^= 0xFF
        pack.write_bytes(damaged)
        # What this one has saved it still remembers; another server has only the disk.
        other = AsyncFileCheckpoints(workspace, store_dir)
        try:
            await other.restore(first.id)
        except StorageUnavailable as error:
            assert "damaged" in str(error)
            assert ((workspace / "a").read_text(), (workspace / "b").read_text()) == ("2", "2")
            break
        await other.undo()
    else:
        raise AssertionError(f"no damage was noticed, not even of {blob.hex()}")
    pack.write_bytes(data)
    await checkpoints.restore(first.id)
    assert (workspace / "a").read_text() == "1" * 1000


@pytest.mark.skipif(os.name == "nt", reason="Permissions of POSIX")
async def test_a_folder_that_may_not_be_written_is_noticed_before_anything_changes(
    checkpoints: AsyncFileCheckpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, {"a": "1", "locked/b": "1"})
    first = await checkpoints.save("before")
    write(workspace, {"a": "2", "locked/b": "2"})
    await checkpoints.save("after", changes_by="agent")
    # Root may write everywhere, so the system's answer is changed and not the folder.
    monkeypatch.setattr(os, "access", lambda path, mode: not os.fsencode(path).endswith(b"locked"))
    with pytest.raises(NotAllowed, match="locked"):
        await checkpoints.restore(first.id)
    assert ((workspace / "a").read_text(), (workspace / "locked" / "b").read_text()) == ("2", "2")
    assert (await checkpoints.interrupted()) is None


async def test_a_folder_that_the_agent_made_read_only_is_opened_for_the_restore(
    checkpoints: AsyncFileCheckpoints, workspace: Path
) -> None:
    write(workspace, {"dir/a": "1"})
    first = await checkpoints.save("before")
    before = picture(workspace)
    write(workspace, {"dir/a": "2"})
    (workspace / "dir").chmod(0o555)
    await checkpoints.save("after", changes_by="agent")
    after = picture(workspace)
    await checkpoints.restore(first.id)
    assert picture(workspace) == before
    await checkpoints.undo()
    assert picture(workspace) == after


async def test_times_come_back_where_the_system_sets_none_without_following_links(
    checkpoints: AsyncFileCheckpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, {"a": "1"})
    (workspace / "link").symlink_to("a")
    first = await checkpoints.save("before")
    time = (workspace / "a").stat().st_mtime_ns
    write(workspace, {"a": "22"})
    (workspace / "link").unlink()
    await checkpoints.save("after", changes_by="agent")
    real = os.utime

    def utime(path: bytes | int, *, ns: tuple[int, int], follow_symlinks: bool = True, dir_fd: int = -1) -> None:
        if not follow_symlinks:
            raise NotImplementedError
        real(path, ns=ns)

    monkeypatch.setattr(os, "utime", utime)
    await checkpoints.restore(first.id)
    assert (workspace / "a").stat().st_mtime_ns == time
    assert os.readlink(workspace / "link") == "a"


async def test_no_call_that_a_disk_refuses_leaves_the_workspace_between_two_states(
    quick_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call that changes something fails once, in turn."""
    workspace, store_dir = quick_folder / "workspace", quick_folder / "home" / "checkpoints"
    workspace.mkdir()
    checkpoints = AsyncFileCheckpoints(workspace, store_dir, FileLimits(file_bytes=10_000))
    usual(workspace)
    write(workspace, {"large": b"1" * 20_000})
    first = await checkpoints.save("before", touching=["large"])
    before = picture(workspace)
    wreck(workspace)
    write(workspace, {"large": b"2" * 20_000})
    await checkpoints.save("after", changes_by="agent")
    wrecked = picture(workspace)
    names = ("open", "write", "fsync", "fdatasync", "rename", "replace", "link", "symlink", "unlink", "mkdir", "rmdir",
             "chmod", "utime", "fchmod")  # fmt: skip
    calls = 0
    refuse_at = 0

    def refusing(name: str, original: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            nonlocal calls
            if name == "open" and not int(str(arguments[1])) & (os.O_WRONLY | os.O_RDWR):
                return original(*arguments, **options)
            calls += 1
            if calls == refuse_at:
                refused.append(name)
                raise OSError(28, "No space left on device")
            return original(*arguments, **options)

        return call

    refused: list[str] = []
    outcomes = set()
    for refuse_at in range(1, 2000):
        calls = 0
        tried = len(refused)
        with monkeypatch.context() as patch:
            for name in names:
                patch.setattr(os, name, refusing(name, getattr(os, name)))
            try:
                await checkpoints.restore(first.id)
                outcome = "done"
            except (HdspAgentError, OSError) as error:
                outcome = type(error).__name__
        outcomes.add(outcome)
        # What could not be cleared away is at the next look.
        assert await checkpoints.interrupted() is None
        there = picture(workspace)
        assert there == (before if outcome == "done" else wrecked), (refuse_at, refused[-1:], outcome)
        if outcome == "done":
            await checkpoints.undo()
        assert picture(workspace) == wrecked
        if len(refused) == tried:
            break
    assert len(refused) > 100
    assert {"done", "StorageUnavailable"} <= outcomes
    # What was stored and then not recorded stays until it is packed anew.
    assert_sound(store_dir, leftovers=True)


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at which descriptors are in use")


@contextmanager
def few_descriptors(more: int) -> Iterator[None]:
    """No more than so many files can be opened."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/proc/self/fd")))
    # The limit is one of numbers: those that are free between others are used up first.
    taken = [os.dup(0)]
    while taken[-1] <= highest:
        taken.append(os.dup(0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (taken[-1] + 1 + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in taken:
            os.close(descriptor)


@on_linux
def test_where_too_many_files_are_open_each_file_is_synced_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_system_sync, "_is_known", lambda folder: True)
    device = tmp_path.stat().st_dev
    with FileSystemSync(os.fsencode(tmp_path)) as usual_one:
        assert usual_one.covers(device)
    with few_descriptors(0), FileSystemSync(os.fsencode(tmp_path)) as none_left:
        assert not none_left.covers(device) and not none_left.run()


@on_linux
async def test_where_too_many_files_are_open_a_restore_is_refused_as_a_whole_or_done(
    checkpoints: AsyncFileCheckpoints, workspace: Path
) -> None:
    names = [f"file{number}" for number in range(20)]
    write(workspace, dict.fromkeys(names, "before"))
    first = await checkpoints.save("before")
    write(workspace, dict.fromkeys(names, "after"))
    await checkpoints.save("after", changes_by="agent")
    after = picture(workspace)
    # What is loaded late needs files, too.
    await checkpoints.restore(first.id)
    await checkpoints.undo()
    refusals: list[str] = []
    for more in range(40):
        try:
            with few_descriptors(more):
                await checkpoints.restore(first.id)
        except StorageUnavailable as error:
            refusals.append(error.message)
            assert picture(workspace) == after
        else:
            break
    assert len(refusals) > 3 and all("raise the limit (ulimit -n)" in refusal for refusal in refusals)
    assert {(workspace / name).read_text() for name in names} == {"before"}


@pytest.mark.parametrize("whole", ["done", "refused", "unknown"])
async def test_what_comes_is_on_the_disk_before_the_log_says_that_the_restore_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: str
) -> None:
    """In one call for all where that is sure, else file by file; also where that one call fails."""
    workspace, names = tmp_path / "workspace", [f"file{number}" for number in range(20)]
    workspace.mkdir()
    checkpoints = AsyncFileCheckpoints(workspace, tmp_path / "home" / "checkpoints")
    write(workspace, dict.fromkeys(names, "before"))
    first = await checkpoints.save("before")
    write(workspace, dict.fromkeys(names, "after"))
    await checkpoints.save("after", changes_by="agent")
    done: list[str] = []
    fsync, append = os.fsync, OperationLog.append

    def syncfs(descriptor: int) -> int:
        assert sum(name.name.startswith(".hdsp-restore-") for name in workspace.iterdir()) == len(names)
        done.append("file system")
        return -1 if whole == "refused" else 0

    def one(descriptor: int) -> None:
        done.append("file")
        fsync(descriptor)

    def appended(log: OperationLog, operation: OperationRecord) -> None:
        done.append(operation.status)
        append(log, operation)

    monkeypatch.setattr(file_system_sync, "_syncfs", lambda: syncfs)
    monkeypatch.setattr(file_system_sync, "_dirty_kilobytes", lambda: 0)
    monkeypatch.setattr(file_system_sync, "_is_known", lambda folder: whole != "unknown")
    monkeypatch.setattr(os, "fsync", one)
    monkeypatch.setattr(OperationLog, "append", appended)
    await checkpoints.restore(first.id)
    before_it_began = done[: done.index("begun")]
    assert before_it_began.count("file system") == (whole != "unknown")
    assert before_it_began.count("file") == (0 if whole == "done" else len(names))
    assert {(workspace / name).read_text() for name in names} == {"before"}
