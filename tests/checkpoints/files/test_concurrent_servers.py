"""Several servers with one workspace, and a disk that refuses."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hdsp_agent._private_files import locked
from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileLimits
from hdsp_agent.errors import StorageUnavailable

from ..._helpers.forked_python import forked_python
from ._helpers.workspace_fixtures import assert_sound, picture, the_store, write

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
async def test_processes_share_a_store_without_harming_each_other(quick_folder: Path) -> None:
    workspace, store_dir = quick_folder / "workspace", quick_folder / "home" / "checkpoints"
    write(workspace, {"shared.txt": "1"})
    running = [
        subprocess.Popen(
            [forked_python(), "-m", "tests.checkpoints.files._helpers.busy_server", str(workspace), str(store_dir), name],
            cwd=ROOT, stderr=subprocess.PIPE,
        )
        for name in ("one", "two", "three")
    ]  # fmt: skip
    for process in running:
        _, complaint = process.communicate(timeout=280)
        assert process.returncode == 0, complaint.decode()[-2000:]
    checkpoints = AsyncFileCheckpoints(workspace, store_dir)
    assert await checkpoints.interrupted() is None
    numbers = [done.seq for done in await checkpoints.operations()]
    assert numbers == sorted(set(numbers), reverse=True)
    assert_sound(store_dir, leftovers=True)
    for record in await checkpoints.list():
        await checkpoints.restore(record.id, overwrite_conflicts=True)


async def test_a_store_that_another_server_holds_is_waited_for_and_then_said_so(
    workspace: Path, store_dir: Path
) -> None:
    checkpoints = AsyncFileCheckpoints(workspace, store_dir, FileLimits(lock_seconds=0.2))
    await checkpoints.save("first")
    with (
        locked(the_store(store_dir) / "store", 1),
        pytest.raises(StorageUnavailable, match=r"another process has held .* Try again"),
    ):
        await checkpoints.save("second")
    await checkpoints.save("third")


async def test_a_save_that_the_disk_refuses_is_no_save_and_the_next_one_is_whole(
    workspace: Path, store_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call that changes something fails once, in turn."""
    checkpoints = AsyncFileCheckpoints(workspace, store_dir, FileLimits(file_bytes=10_000))
    write(workspace, {"a": "0", "dir/b": "0"})
    await checkpoints.save("first", touching=["large"])
    calls = refuse_at = 0

    def refusing(original: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            nonlocal calls
            calls += 1
            if calls == refuse_at:
                raise OSError(28, "No space left on device")
            return original(*arguments, **options)

        return call

    for refuse_at in range(1, 100):
        write(workspace, {"a": f"{refuse_at}", "dir/b": f"{refuse_at}", f"new{refuse_at}/c": "c"})
        write(workspace, {"large": f"{refuse_at}" * 20_000})
        there = picture(workspace)
        known = await checkpoints.list()
        calls = 0
        with monkeypatch.context() as patch:
            for name in ("write", "fsync", "fdatasync", "rename", "replace", "ftruncate", "lseek"):
                patch.setattr(os, name, refusing(getattr(os, name)))
            try:
                await checkpoints.save("refused")
            except StorageUnavailable:
                assert await checkpoints.list() == known
        assert picture(workspace) == there
        saved = await checkpoints.save("again")
        write(workspace, {"a": "other", "large": "small"})
        await checkpoints.save("other", changes_by="agent")
        await checkpoints.restore(saved.id)
        assert picture(workspace) == there
        if calls < refuse_at:
            break
    assert refuse_at > 10
    await checkpoints.close()
    assert_sound(store_dir, leftovers=True)
