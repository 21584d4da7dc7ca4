"""A disk that is full: the operation ends whole or not at all, with the reason, and goes on when there is room again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileLimits
from hdsp_agent.errors import StorageUnavailable
from tests.persistence.test_crashes import unix

from .._helpers.volumes import small_volume
from ._helpers.workspace_fixtures import Picture, assert_sound, picture, the_store, write
from .test_restoring import usual, wreck

pytestmark = unix
LIMITS = FileLimits(file_bytes=1_000_000, touched_file_bytes=20_000_000)


def fill(folder: Path) -> Path:
    """Use up the disk to the last byte; returns the file that does."""
    filler = folder / "filler"
    with open(filler, "ab", buffering=0) as file:
        for size in (1_000_000, 4096, 1):
            try:
                while True:
                    file.write(b"\xff" * size)
            except OSError:
                continue
    return filler


async def test_a_store_on_a_full_disk_saves_restores_and_collects_nothing_and_says_why(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    with small_volume(tmp_path / "disk", 8) as disk:
        store_dir = disk / "checkpoints"
        files = AsyncFileCheckpoints(workspace, store_dir, LIMITS)
        usual(workspace)
        write(workspace, {"large.bin": os.urandom(1_500_000)})
        before = picture(workspace)
        first = await files.save("before", touching=["large.bin"])
        wreck(workspace)
        write(workspace, {"large.bin": os.urandom(1_400_000)})
        after = picture(workspace)
        await files.save("after", changes_by="agent")
        known = await files.list()
        filler = fill(disk)
        with pytest.raises(StorageUnavailable, match="No space left"):
            await files.restore(first.id)
        assert picture(workspace) == after
        write(workspace, {"README.md": os.urandom(300_000), "large.bin": os.urandom(1_300_000)})
        later = picture(workspace)
        with pytest.raises(StorageUnavailable, match="No space left"):
            await files.save("no room", changes_by="agent")
        tight = AsyncFileCheckpoints(workspace, store_dir, FileLimits(checkpoints=1, kept_checkpoints=1))
        with pytest.raises(StorageUnavailable, match="No space left"):
            await tight.gc()
        assert picture(workspace) == later
        assert await files.list() == known
        assert_sound(store_dir, leftovers=True)
        assert not list((the_store(store_dir) / "lfs" / "tmp").iterdir())

        filler.unlink()
        assert await files.interrupted() is None
        await files.save("room", changes_by="agent")
        await files.restore(first.id)
        assert picture(workspace) == before
        await files.undo()
        assert picture(workspace) == later
        assert_sound(store_dir, leftovers=True)
        await files.close()


async def test_a_workspace_on_a_full_disk_is_left_as_it_is(tmp_path: Path) -> None:
    with small_volume(tmp_path / "disk", 8) as disk:
        workspace = disk / "workspace"
        workspace.mkdir()
        files = AsyncFileCheckpoints(workspace, tmp_path / "checkpoints", LIMITS)
        usual(workspace)
        write(workspace, {"data.csv": b"1,2\n" * 100_000, "large.bin": os.urandom(1_500_000)})
        before = picture(workspace)
        first = await files.save("before", touching=["large.bin"])
        wreck(workspace)
        write(workspace, {"large.bin": "small"})
        after = picture(workspace)
        await files.save("after", changes_by="agent")
        filler = fill(disk)
        with pytest.raises(StorageUnavailable, match=r"has not so many|No space left"):
            await files.restore(first.id)
        assert picture(workspace) == after
        assert await files.interrupted() is None
        filler.unlink()
        await files.restore(first.id)
        assert picture(workspace) == before
        await files.undo()
        assert picture(workspace) == after
        assert_sound(tmp_path / "checkpoints", leftovers=True)
        await files.close()


async def test_no_call_that_a_disk_refuses_loses_what_a_collection_keeps(
    quick_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call that changes something fails once, in turn."""
    workspace, store_dir = quick_folder / "workspace", quick_folder / "home" / "checkpoints"
    workspace.mkdir()
    files = AsyncFileCheckpoints(workspace, store_dir, FileLimits(file_bytes=100_000))
    states: list[tuple[str, Picture]] = []
    for number in range(3):
        write(workspace, {"a": f"{number}", "stays": "1", f"new{number}/b": "b", "large": b"%d" % number * 150_000})
        states.append(((await files.save("kept", touching=["large"], changes_by="agent")).id, picture(workspace)))
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
        dropped = AsyncFileCheckpoints(
            workspace, store_dir, FileLimits(file_bytes=100_000, checkpoints=3, kept_checkpoints=2)
        )
        write(workspace, {"a": f"new {refuse_at}", "large": b"%d" % refuse_at * 100_001})
        states.append(((await files.save("more", touching=["large"], changes_by="agent")).id, picture(workspace)))
        calls = 0
        with monkeypatch.context() as patch:
            for name in ("write", "fsync", "fdatasync", "rename", "replace", "ftruncate", "lseek", "unlink"):
                patch.setattr(os, name, refusing(getattr(os, name)))
            try:
                await dropped.gc()
            except StorageUnavailable:
                assert len(await files.list()) >= 3
        assert picture(workspace) == states[-1][1]
        left = {record.id for record in await files.list()}
        for name, expected in states[-3:]:
            assert name in left
            await files.restore(name, overwrite_conflicts=True)
            assert picture(workspace) == expected
        assert_sound(store_dir, leftovers=True)
        if calls < refuse_at:
            break
    assert 10 < refuse_at < 99
