"""Large files: cloned where the file system can, copied where the agent names them, left alone and said so otherwise."""

from __future__ import annotations

import hashlib
import os
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileLimits
from hdsp_agent.checkpoints.files import large_files as large_module
from hdsp_agent.checkpoints.files.reflinks import clone
from hdsp_agent.errors import StorageUnavailable
from tests._helpers.timing import bytes_moved
from tests.persistence.test_crashes import unix

from .._helpers.volumes import cloning_volume, small_volume
from ._helpers.workspace_fixtures import assert_sound, git, picture, the_store, write

pytestmark = unix
LIMITS = FileLimits(file_bytes=100_000, touched_file_bytes=2_000_000, cloned_bytes=5_000_000, total_bytes=1_000_000)


@pytest.fixture(scope="module")
def volume(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disk whose files can be cloned."""
    with cloning_volume(tmp_path_factory.mktemp("cloning")) as folder:
        yield folder


@pytest.fixture
def cloning(volume: Path) -> Iterator[Path]:
    """An empty workspace on it; beside it is room for a store."""
    folder = volume / f"{time.time_ns()}" / "workspace"
    folder.mkdir(parents=True)
    yield folder


def kept(store_dir: Path) -> dict[str, int]:
    """The large contents of the only store, and how many bytes each has."""
    folder = the_store(store_dir) / "lfs"
    assert not (folder / "tmp").exists() or not list((folder / "tmp").iterdir())
    return {path.name: path.stat().st_size for path in (folder / "objects").glob("??/??/*")}


def free_bytes(folder: Path) -> int:
    os.sync()
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


async def test_a_large_file_is_cloned_there_and_back_and_takes_no_space(cloning: Path) -> None:
    store_dir = cloning.parent / "checkpoints"
    files = AsyncFileCheckpoints(cloning, store_dir)
    large = cloning / "data" / "large.bin"
    write(cloning, {"a.py": "1", "data/large.bin": b"".join(os.urandom(1_000_000) for _ in range(80))})
    large.chmod(0o640)
    os.utime(large, ns=(10**18, 10**18 + 123))
    before, free = picture(cloning), free_bytes(cloning)
    first = await files.save("before")
    assert (first.files, first.skipped, first.bytes) == (2, 0, 80_000_001)
    assert free - free_bytes(cloning) < 4_000_000
    with open(large, "r+b") as file:
        file.write(b"changed in place")
    large.chmod(0o600)
    after = picture(cloning)
    await files.save("after", changes_by="agent")

    await files.restore(first.id)
    assert picture(cloning) == before
    await files.undo()
    assert picture(cloning) == after
    large.unlink()
    await files.save("deleted", changes_by="agent")
    await files.restore(first.id)
    assert picture(cloning) == before
    assert free - free_bytes(cloning) < 8_000_000
    assert sorted(kept(store_dir).values()) == [80_000_000, 80_000_000]
    assert_sound(store_dir)
    await files.close()


async def test_a_large_file_is_read_once_and_written_nowhere_when_it_is_kept(cloning: Path) -> None:
    store_dir = cloning.parent / "checkpoints"
    files = AsyncFileCheckpoints(cloning, store_dir)
    large = cloning / "large.bin"
    with open(large, "wb") as file:
        file.truncate(100_000_000)
        file.seek(50_000_000)
        file.write(os.urandom(1_000_000))
    first = await files.save("before")
    with open(large, "ab") as again:
        again.write(b"one more")
    read, written = bytes_moved()
    await files.save("after", changes_by="agent")
    now_read, now_written = bytes_moved()
    assert now_read - read < 150_000_000 and now_written - written < 10_000_000
    assert (await files.plan_restore(first.id)).left == ()
    await files.restore(first.id)
    assert large.stat().st_size == 100_000_000
    await files.undo()
    assert large.stat().st_size == 100_000_008
    await files.close()


async def test_what_was_packed_when_the_limit_was_higher_is_neither_changed_nor_in_the_way(cloning: Path) -> None:
    store_dir = cloning.parent / "checkpoints"
    write(cloning, {"a.py": "1", "data.csv": b"1" * 300_000, "other.csv": b"1" * 300_000})
    before = picture(cloning)
    first = await AsyncFileCheckpoints(cloning, store_dir, FileLimits(file_bytes=1_000_000)).save("before")
    assert kept(store_dir) == {}
    write(cloning, {"a.py": "2", "other.csv": b"2" * 300_000})
    after = picture(cloning)
    files = AsyncFileCheckpoints(cloning, store_dir, LIMITS)
    second = await files.save("after", changes_by="agent")
    assert second.changed is not None and second.changed.files == 2
    assert sorted(kept(store_dir).values()) == [300_000, 300_000]
    plan = await files.plan_restore(first.id)
    assert ([change.path for change in plan.changes], plan.conflicts, plan.left) == (["a.py", "other.csv"], (), ())
    await files.restore(first.id)
    assert picture(cloning) == before
    await files.undo()
    assert picture(cloning) == after
    await files.close()


async def test_what_changes_while_it_is_cloned_is_cloned_again_or_left_out(
    cloning: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = AsyncFileCheckpoints(cloning, cloning.parent / "checkpoints", LIMITS)
    large = cloning / "large.bin"
    write(cloning, {"large.bin": b"0" * 300_000})
    await files.save("before")
    real, times = clone, [1, 0]

    def busy(source: int, target: int) -> str:
        times[1] += 1
        done = real(source, target)
        if times[1] <= times[0]:
            with open(large, "ab") as file:
                file.write(b"x")
        return done

    monkeypatch.setattr(large_module, "clone", busy)
    write(cloning, {"large.bin": b"1" * 300_000})
    once = await files.save("once")
    assert (once.files, once.skipped) == (1, 0)
    assert await files.content(once.id, "large.bin") == b"1" * 300_000 + b"x"
    times[:] = [99, 0]
    write(cloning, {"large.bin": b"2" * 300_000})
    always = await files.save("always")
    assert (always.files, always.skipped) == (0, 1)
    plan = await files.plan_restore(once.id, overwrite_conflicts=True)
    assert [(left.path, left.reason) for left in plan.left] == [("large.bin", "changing")]


async def test_beyond_the_budget_the_largest_are_left_alone_and_what_was_kept_stays(cloning: Path) -> None:
    store_dir = cloning.parent / "checkpoints"
    files = AsyncFileCheckpoints(cloning, store_dir, LIMITS)
    write(cloning, {"a": b"a" * 3_000_000, "b": b"b" * 2_500_000, "c": b"c" * 1_000_000, "small": b"s" * 50_000})
    record = await files.save("first")
    names = git(the_store(store_dir), "ls-tree", "-r", "--name-only", record.commit).decode().split()
    assert (names, record.skipped) == (["b", "c", "small"], 1)
    write(cloning, {"0": b"0" * 2_000_000})
    record = await files.save("second")
    names = git(the_store(store_dir), "ls-tree", "-r", "--name-only", record.commit).decode().split()
    assert (names, record.skipped) == (["b", "c", "small"], 2)


async def test_where_nothing_can_be_cloned_a_large_file_is_left_alone_unless_the_agent_names_it(
    workspace: Path, store_dir: Path
) -> None:
    files = AsyncFileCheckpoints(workspace, store_dir, LIMITS)
    write(workspace, {"other.bin": b"o" * 300_000, "named.bin": b"n" * 300_000, "huge.bin": b"h" * 3_000_000, "a": "1"})
    with open(workspace / "a", "rb") as source, open(store_dir.parent.parent / "b", "wb") as target:
        if clone(source.fileno(), target.fileno()) == "cloned":
            pytest.skip("files can be cloned here")
    before = picture(workspace)
    first = await files.save("before", touching=["named.bin", "huge.bin"])
    assert (first.files, first.skipped) == (2, 2)
    assert list(kept(store_dir).values()) == [300_000]
    write(workspace, {"named.bin": b"N" * 300_001, "other.bin": b"O" * 300_000})
    (workspace / "named.bin").chmod(0o600)
    after = picture(workspace)
    await files.save("after", changes_by="agent")
    await files.restore(first.id)
    assert picture(workspace) == {**before, b"other.bin": after[b"other.bin"]}
    await files.undo()
    assert picture(workspace) == after
    assert_sound(store_dir)


async def test_from_one_disk_to_another_nothing_is_cloned(tmp_path: Path) -> None:
    with small_volume(tmp_path / "memory", 20) as workspace:
        write(workspace, {"named.bin": b"n" * 300_000})
        store_dir = tmp_path / "checkpoints"
        with open(workspace / "named.bin", "rb") as source, open(tmp_path / "target", "wb") as target:
            assert clone(source.fileno(), target.fileno()) == "never"
        files = AsyncFileCheckpoints(workspace, store_dir, LIMITS)
        before = picture(workspace)
        first = await files.save("before", touching=["named.bin"])
        (workspace / "named.bin").unlink()
        await files.save("after", changes_by="agent")
        await files.restore(first.id)
        assert picture(workspace) == before
        assert list(kept(store_dir).values()) == [300_000]
        await files.close()


async def test_a_large_file_is_compared_and_looked_at_as_any_other(workspace: Path, store_dir: Path) -> None:
    files = AsyncFileCheckpoints(workspace, store_dir, LIMITS)
    lines = [f"line {number}" for number in range(30_000)]
    write(workspace, {"log.txt": "\n".join(lines)})
    first = await files.save("before", touching=["log.txt"])
    lines[15_000] = "another"
    write(workspace, {"log.txt": "\n".join(lines)})
    second = await files.save("after", changes_by="agent")
    (change,) = (await files.diff(first.id, second.id)).files
    assert (change.path, change.change, change.kind, len(change.hunks)) == ("log.txt", "modified", "text", 1)
    assert (await files.content(second.id, "log.txt")).decode().split("\n") == lines
    os.rename(workspace / "log.txt", workspace / "moved.txt")
    third = await files.save("moved", touching=["moved.txt"], changes_by="agent")
    (change,) = (await files.diff(second.id, third.id)).files
    assert (change.path, change.change) == ("moved.txt", "renamed")


async def test_a_file_that_reads_like_a_pointer_is_no_large_file(workspace: Path, store_dir: Path) -> None:
    files = AsyncFileCheckpoints(workspace, store_dir, LIMITS)
    write(workspace, {"data": b"d" * 300_000})
    first = await files.save("large", touching=["data"])
    before = picture(workspace)
    pointer = git(the_store(store_dir), "show", f"{first.commit}:data")
    digest = hashlib.sha256(b"d" * 300_000).hexdigest()
    assert pointer.decode().split() == [
        "version", "https://git-lfs.github.com/spec/v1", "oid", f"sha256:{digest}", "size", "300000",
    ]  # fmt: skip
    write(workspace, {"data": pointer})
    after = picture(workspace)
    await files.save("pointer", changes_by="agent")
    await files.restore(first.id)
    assert picture(workspace) == before
    await files.undo()
    assert picture(workspace) == after


async def test_quota_counts_large_files_and_what_no_checkpoint_needs_is_removed(
    workspace: Path, store_dir: Path
) -> None:
    limits = FileLimits(file_bytes=100_000, quota_bytes=1_000_000, kept_checkpoints=2)
    files = AsyncFileCheckpoints(workspace, store_dir, limits)
    for number in range(6):
        write(workspace, {"data": b"%d" % number * 300_000})
        await files.save(f"{number}", touching=["data"], changes_by="agent")
    assert (await files.statistics()).wants_gc
    stray = the_store(store_dir) / "lfs" / "objects" / "ab" / "cd" / ("abcd" + "0" * 60)
    stray.parent.mkdir(parents=True)
    stray.write_bytes(b"of a save that died")
    after = await files.gc()
    assert (after.states, after.wants_gc) == (3, False)
    assert list(kept(store_dir).values()) == [300_000] * 3
    assert after.bytes > 900_000
    for record in await files.list():
        await files.restore(record.id, overwrite_conflicts=True)
        assert await files.content(record.id, "data") == (workspace / "data").read_bytes()
    assert_sound(store_dir, leftovers=True)
    await files.close()


async def test_another_server_restores_a_large_file_and_clears_what_a_dead_one_left(
    workspace: Path, store_dir: Path
) -> None:
    write(workspace, {"data": b"1" * 300_000})
    first = await AsyncFileCheckpoints(workspace, store_dir, LIMITS).save("before", touching=["data"])
    (the_store(store_dir) / "lfs" / "tmp" / "half").write_bytes(b"half")
    write(workspace, {"data": b"2" * 300_000})
    later = AsyncFileCheckpoints(workspace, store_dir, LIMITS)
    await later.restore(first.id, overwrite_conflicts=True)
    assert (workspace / "data").read_bytes() == b"1" * 300_000
    await later.undo(overwrite_conflicts=True)
    assert (workspace / "data").read_bytes() == b"2" * 300_000
    assert len(kept(store_dir)) == 2


@pytest.mark.parametrize("damage", ["changed", "gone"])
async def test_a_damaged_large_file_is_noticed_before_anything_changes(
    workspace: Path, store_dir: Path, damage: str, tmp_path: Path
) -> None:
    files = AsyncFileCheckpoints(workspace, store_dir, LIMITS)
    write(workspace, {"a": "1", "data": b"1" * 300_000})
    first = await files.save("before", touching=["data"])
    (place,) = (the_store(store_dir) / "lfs" / "objects").glob("??/??/*")
    write(workspace, {"a": "2", "data": b"2" * 300_000})
    after = picture(workspace)
    await files.save("after", changes_by="agent")
    if damage == "gone":
        place.unlink()
    else:
        place.write_bytes(b"1" * 299_999 + b"0")
    with pytest.raises(StorageUnavailable, match="damaged"):
        await files.restore(first.id)
    assert picture(workspace) == after
    assert await files.interrupted() is None
    for kind in ("zip", "git"):
        with pytest.raises(StorageUnavailable, match="damaged"):
            await files.export(first.id, tmp_path / "out", kind)
    assert not (tmp_path / "out").exists()


async def test_an_export_has_the_large_files_too(workspace: Path, store_dir: Path, tmp_path: Path) -> None:
    files = AsyncFileCheckpoints(workspace, store_dir, LIMITS)
    write(workspace, {"a": "1", "dir/data": b"1" * 300_000})
    await files.save("first", touching=["dir/data"])
    write(workspace, {"dir/data": b"2" * 300_000})
    second = await files.save("second", changes_by="agent")
    write(workspace, {"dir/data": b"3" * 300_000})
    await files.save("third", changes_by="agent")
    await files.export(second.id, tmp_path / "out.zip")
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert archive.testzip() is None
        assert archive.read("dir/data") == b"2" * 300_000
        assert archive.getinfo("dir/data").compress_size < 10_000
    target = tmp_path / "out.git"
    await files.export(second.id, target, "git")
    assert git(target, "fsck", "--full", "--strict") == b""
    # Where `git lfs` looks for what a pointer names.
    for number, expected in (("", b"2"), ("~1", b"1")):
        pointer = git(target, "show", f"checkpoints{number}:dir/data").decode()
        name = pointer.split("sha256:")[1].split()[0]
        assert (target / "lfs" / "objects" / name[:2] / name[2:4] / name).read_bytes() == expected * 300_000
    assert len(list((target / "lfs" / "objects").glob("??/??/*"))) == 2
