"""What a checkpoint has, and what saving one costs."""

from __future__ import annotations

import os
import socket
import stat
import time
from pathlib import Path

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileLimits
from hdsp_agent.errors import InvalidInput, NotAllowed
from hdsp_agent.messages import TaskId

from ._helpers.workspace_fixtures import assert_sound, git, the_store, write

TREE = {"notes.md": "hello\n", "data/train.csv": "a,b\n1,2\n", "src/deep/er/x.py": "x = 1\n"}


async def test_stock_git_reads_what_was_saved(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path
) -> None:
    write(workspace, TREE)
    (workspace / "run.sh").write_text("#!/bin/sh\n")
    (workspace / "run.sh").chmod(0o700)
    (workspace / "link").symlink_to("data/train.csv")
    first = await checkpoints.save("first")
    write(workspace, {"notes.md": "hello again\n"})
    second = await checkpoints.save("second", task_id=TaskId("task-1"))

    store = the_store(store_dir)
    listing = git(store, "ls-tree", "-r", first.commit).decode()
    assert {line.split("\t")[1]: line.split(" ")[0] for line in listing.splitlines()} == {
        "data/train.csv": "100644", "link": "120000", "notes.md": "100644", "run.sh": "100755",
        "src/deep/er/x.py": "100644",
    }  # fmt: skip
    assert git(store, "show", f"{second.commit}:notes.md") == b"hello again\n"
    assert git(store, "log", "--format=%s|%b", "checkpoints").decode().split() == ["second|Task:", "task-1", "first|"]
    assert_sound(store_dir)


async def test_an_unchanged_workspace_gets_no_second_checkpoint(
    checkpoints: AsyncFileCheckpoints, workspace: Path
) -> None:
    write(workspace, TREE)
    first = await checkpoints.save("first")
    assert await checkpoints.save("again") == first
    assert len(await checkpoints.list()) == 1


async def test_an_unchanged_workspace_is_found_so_by_another_server_too(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path
) -> None:
    write(workspace, TREE)
    first = await checkpoints.save("first")
    assert (await AsyncFileCheckpoints(workspace, store_dir).save("again")).id == first.id


async def test_a_new_place_in_the_conversation_is_recorded_without_a_new_state(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path
) -> None:
    write(workspace, TREE)
    first = await checkpoints.save("first", task_id=TaskId("t"), message_ts=5)
    packs = sorted((the_store(store_dir) / "objects" / "pack").iterdir())
    second = await checkpoints.save("second", task_id=TaskId("t"), message_ts=6)
    assert (second.commit, second.message_ts) == (first.commit, 6)
    assert second.id != first.id
    assert sorted((the_store(store_dir) / "objects" / "pack").iterdir()) == packs
    assert [record.message_ts for record in await checkpoints.list(task_id=TaskId("t"))] == [6, 5]


async def test_a_change_of_the_same_size_with_its_old_time_is_seen(
    checkpoints: AsyncFileCheckpoints, workspace: Path
) -> None:
    write(workspace, {"a": "aaaa"})
    status = os.stat(workspace / "a")
    first = await checkpoints.save("first")
    (workspace / "a").write_text("bbbb")
    os.utime(workspace / "a", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (await checkpoints.save("second")).tree != first.tree


async def test_changes_within_one_tick_of_the_clock_are_seen(
    checkpoints: AsyncFileCheckpoints, workspace: Path
) -> None:
    trees = set()
    for number in range(50):
        (workspace / "a").write_text(f"{number:04}")
        trees.add((await checkpoints.save("next")).tree)
    assert len(trees) == 50


async def test_modes_times_and_empty_folders_make_a_new_state(
    checkpoints: AsyncFileCheckpoints, workspace: Path
) -> None:
    write(workspace, {"a": "x"})
    sides = [(await checkpoints.save("start")).side]
    (workspace / "a").chmod(0o600)
    sides.append((await checkpoints.save("mode")).side)
    os.utime(workspace / "a", ns=(1, 1))
    sides.append((await checkpoints.save("time")).side)
    (workspace / "empty").mkdir()
    sides.append((await checkpoints.save("folder")).side)
    assert len(set(sides)) == 4


async def test_repositories_caches_and_pipes_are_left_out_with_the_reason(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path
) -> None:
    write(
        workspace,
        {
            "nested/.git/HEAD": "ref: refs/heads/main\n", "nested/code.py": "kept = True\n", "module/.git": "gitdir: ../x\n",
            "node_modules/x/index.js": "", "env/pyvenv.cfg": "", "env/lib.py": "",
            "cache/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n", "cache/x": "",
            "mine/CACHEDIR.TAG": "not the signature", ".env": "KEY=1\n", "out/fig.png": b"\x89PNG", ".gitignore": "out/\n.env\n",
        },
    )  # fmt: skip
    os.mkfifo(workspace / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(workspace)
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
        record = await checkpoints.save("first")
    names = git(the_store(store_dir), "ls-tree", "-r", "--name-only", record.commit).decode().split()
    assert names == [".env", ".gitignore", "mine/CACHEDIR.TAG", "nested/code.py", "out/fig.png"]
    assert record.files == 5
    assert record.skipped == 7


async def test_what_jupyterlab_keeps_for_itself_is_in_no_checkpoint_and_is_no_news(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path
) -> None:
    own = [
        ".jupyter/lab/user-settings/x", ".jupyterlab-layout/hdsp-agent-37a8.jupyterlab-workspace",
        "layouts/mine.jupyterlab-workspace", ".virtual_documents/a.ipynb", ".ipynb_checkpoints/a-checkpoint.ipynb",
        ".jupyter_ystore.db", ".jupyter_ystore.db-wal",
    ]  # fmt: skip
    write(workspace, {"a.ipynb": "{}", "layouts/notes.txt": "1", **dict.fromkeys(own, "before")})
    first = await checkpoints.save("first")
    names = git(the_store(store_dir), "ls-tree", "-r", "--name-only", first.commit).decode().split()
    assert names == ["a.ipynb", "layouts/notes.txt"]
    assert first.skipped == 0
    write(workspace, dict.fromkeys(own, "after"))
    assert (await checkpoints.save("again")).id == first.id
    write(workspace, {"a.ipynb": "[]"})
    await checkpoints.save("after", changes_by="agent")
    await checkpoints.restore(first.id)
    assert (workspace / "a.ipynb").read_text() == "{}"
    assert {(workspace / name).read_text() for name in own} == {"after"}


async def test_an_unreadable_file_is_skipped_and_said_so(
    checkpoints: AsyncFileCheckpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, {"open": "o", "shut": "s"})
    real = os.open

    def refuse(path: object, flags: int, mode: int = 0o777, **more: int) -> int:
        if isinstance(path, bytes) and path.endswith(b"shut"):
            raise PermissionError(13, "no", path)
        return real(path, flags, mode, **more)  # type: ignore[arg-type]  # a path

    monkeypatch.setattr(os, "open", refuse)
    record = await checkpoints.save("first")
    assert (record.files, record.skipped) == (1, 1)


async def test_a_file_that_changes_while_it_is_read_is_not_taken_half(
    checkpoints: AsyncFileCheckpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, {"busy": "0", "calm": "c"})
    real = os.read
    reads = 0

    def grow(descriptor: int, size: int) -> bytes:
        nonlocal reads
        data = real(descriptor, size)
        if data.strip(b"0") == b"" and data:
            reads += 1
            with open(workspace / "busy", "a", encoding="ascii") as file:
                file.write("0")
        return data

    monkeypatch.setattr(os, "read", grow)
    record = await checkpoints.save("first")
    assert (record.files, record.skipped) == (1, 1)
    assert reads > 1


async def test_a_notebook_that_jupyter_is_saving_is_waited_for(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Jupyter copies the file to .~NAME, empties it, fills it again and removes the copy.
    write(workspace, {"a.ipynb": "", ".~a.ipynb": '{"old": true}'})

    def finish(_seconds: float) -> None:
        if _seconds:
            (workspace / "a.ipynb").write_text('{"new": true}')
            (workspace / ".~a.ipynb").unlink(missing_ok=True)

    monkeypatch.setattr("time.sleep", finish)
    record = await checkpoints.save("first")
    assert git(the_store(store_dir), "show", f"{record.commit}:a.ipynb") == b'{"new": true}'
    assert record.files == 1


@pytest.mark.parametrize("half", ["", '{"cells": [], "metadata": {}'])
async def test_a_notebook_that_is_saved_under_a_new_name_is_never_kept_half(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path, monkeypatch: pytest.MonkeyPatch, half: str
) -> None:
    # There is no copy beside it: nothing was there before.
    write(workspace, {"new.ipynb": half, "other.txt": ""})
    monkeypatch.setattr("time.sleep", lambda _: None)
    first = await checkpoints.save("first")
    assert (first.files, first.skipped) == (1, 1)
    monkeypatch.setattr("time.sleep", lambda _: (workspace / "new.ipynb").write_text('{"cells": []}'))
    record = await checkpoints.save("second")
    assert git(the_store(store_dir), "show", f"{record.commit}:new.ipynb") == b'{"cells": []}'


async def test_the_store_is_private_and_outside_of_what_it_keeps(tmp_path: Path) -> None:
    workspace = tmp_path
    store_dir = tmp_path / ".hdsp-agent" / "checkpoints"
    write(workspace, {"a.txt": "a", ".hdsp-agent/config.json": "{}"})
    checkpoints = AsyncFileCheckpoints(workspace, store_dir)
    record = await checkpoints.save("first")
    assert record.files == 1
    assert (await checkpoints.save("second")).id == record.id
    assert stat.S_IMODE(os.stat(the_store(store_dir)).st_mode) == 0o700
    for folder, _, files in os.walk(the_store(store_dir)):
        assert all(stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o600 for name in files)


async def test_what_cannot_be_a_workspace_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"store/w/x": "", "file": ""})
    with pytest.raises(InvalidInput, match="where checkpoints are kept"):
        await AsyncFileCheckpoints(tmp_path / "store" / "w", tmp_path / "store").save("x")
    with pytest.raises(InvalidInput, match="not a folder"):
        await AsyncFileCheckpoints(tmp_path / "file", tmp_path / "store").save("x")


async def test_a_store_of_another_workspace_is_refused(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path
) -> None:
    await checkpoints.save("first")
    about = the_store(store_dir) / "workspace.json"
    about.write_text(about.read_text().replace('"workspace": "', '"workspace": "00'))
    with pytest.raises(InvalidInput, match="not those of"):
        await AsyncFileCheckpoints(workspace, store_dir).save("second")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="not root")
async def test_a_store_that_belongs_to_another_user_is_not_used(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path
) -> None:
    write(workspace, {"a": "1"})
    first = await checkpoints.save("first")
    write(workspace, {"a": "2"})
    os.chown(the_store(store_dir), 65534, 65534)
    with pytest.raises(NotAllowed, match="another user"):
        await AsyncFileCheckpoints(workspace, store_dir).restore(first.id)
    assert (workspace / "a").read_text() == "2"


@pytest.mark.parametrize("levels", [50, 400])
async def test_deep_folders_are_kept_or_left_out_but_never_break_it(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path, levels: int
) -> None:
    here = os.open(workspace, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(os.open("leaf", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    record = await checkpoints.save("first")
    assert (record.files, record.skipped) == ((1, 0) if levels == 50 else (0, 1))
    assert_sound(store_dir)


async def test_the_size_budget_leaves_out_the_largest_and_keeps_what_it_kept(workspace: Path, store_dir: Path) -> None:
    write(workspace, {"small": b"s" * 100, "medium": b"m" * 400, "large": b"l" * 700, "huge": b"h" * 2000})
    checkpoints = AsyncFileCheckpoints(
        workspace, store_dir, FileLimits(total_bytes=1200, file_bytes=1500, cloned_bytes=0)
    )
    first = await checkpoints.save("first")
    store = the_store(store_dir)
    assert git(store, "ls-tree", "--name-only", first.commit).split() == [b"large", b"medium", b"small"]
    write(workspace, {"tiny": b"t", "new": b"n" * 600})
    second = await checkpoints.save("second")
    assert git(store, "ls-tree", "--name-only", second.commit).split() == [b"large", b"medium", b"small"]
    assert (second.files, second.skipped) == (3, 3)


async def test_a_save_reads_again_only_what_changed(
    checkpoints: AsyncFileCheckpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, {f"{number}": f"{number}" for number in range(20)})
    # As if long ago, so that no file may have changed within the same tick of the clock.
    monkeypatch.setattr("time.time_ns", lambda real=time.time_ns: real() + 10**10)
    await checkpoints.save("first")
    opened: list[object] = []
    real = os.open

    def counting(path: object, flags: int, mode: int = 0o777, **more: int) -> int:
        if os.fsencode(path).startswith(os.fsencode(workspace)):  # type: ignore[arg-type]  # a path
            opened.append(path)
        return real(path, flags, mode, **more)  # type: ignore[arg-type]  # a path

    monkeypatch.setattr(os, "open", counting)
    for number in range(3):
        write(workspace, {"7": f"changed {number}"})
        opened.clear()
        await checkpoints.save("next")
        assert opened == [os.fsencode(workspace / "7")]
