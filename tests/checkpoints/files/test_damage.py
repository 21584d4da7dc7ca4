"""A store that is damaged: what is asked of the damaged part is refused with the reason, and nothing is lost by that."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileLimits
from hdsp_agent.checkpoints.files import garbage_collection
from hdsp_agent.checkpoints.files.records import Changed
from hdsp_agent.errors import StorageUnavailable

from ._helpers.workspace_fixtures import assert_sound, picture, the_store, write


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _spoil(path: Path) -> None:
    data = bytearray(path.read_bytes())
    # Not only where it ends: its head, its middle and its checksum.
    for place in range(8, len(data), 16):
        data[place] ^= 0xFF
    path.write_bytes(data)


def _remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("damage", [_cut, _empty, _spoil, _remove])
@pytest.mark.parametrize("suffix", [".pack", ".idx"])
async def test_a_damaged_pack_changes_nothing_and_is_as_good_as_new_when_mended(
    workspace: Path, store_dir: Path, tmp_path: Path, damage: Callable[[Path], None], suffix: str
) -> None:
    files = AsyncFileCheckpoints(workspace, store_dir)
    write(workspace, {"a": "1" * 1000, "b/c": "1"})
    first = await files.save("first")
    before = picture(workspace)
    (pack,) = (the_store(store_dir) / "objects" / "pack").glob("*.pack")
    write(workspace, {"a": "2", "b/c": "2", "new": "2"})
    after = picture(workspace)
    second = await files.save("second", changes_by="agent")
    await files.close()
    whole = shutil.copytree(the_store(store_dir), tmp_path / "whole")
    damage(pack.with_suffix(suffix))

    # What this server saved it may still remember; another one has only the disk.
    other = AsyncFileCheckpoints(workspace, store_dir)
    tight = AsyncFileCheckpoints(workspace, store_dir, FileLimits(checkpoints=1, kept_checkpoints=1, quota_bytes=1))
    for refused in (other.restore(first.id), other.plan_restore(first.id), other.export(first.id, tmp_path / "out")):
        with pytest.raises(StorageUnavailable, match=r"damaged|cannot be read"):
            await refused
        assert picture(workspace) == after
    assert not (tmp_path / "out").exists()
    log = the_store(store_dir) / "operations.jsonl"
    packs, lines = {path.name for path in pack.parent.iterdir()}, log.read_bytes()
    try:
        await tight.gc()
    except StorageUnavailable:
        assert log.read_bytes() == lines and {path.name for path in pack.parent.iterdir()} == packs
    else:
        assert [record.id for record in await tight.list()] == [second.id]
    assert picture(workspace) == after
    # Either way what is not damaged can still be gone back to.
    write(workspace, {"a": "3", "new": "3"})
    await AsyncFileCheckpoints(workspace, store_dir).restore(second.id, overwrite_conflicts=True)
    assert picture(workspace) == after

    shutil.rmtree(the_store(store_dir))
    shutil.copytree(whole, store_dir / whole.name)
    (store_dir / "whole").rename(store_dir / Path(files.folder).name)
    again = AsyncFileCheckpoints(workspace, store_dir)
    assert await again.interrupted() is None
    await again.restore(first.id)
    assert picture(workspace) == before
    await again.undo()
    assert picture(workspace) == after
    assert_sound(store_dir, leftovers=True)


@pytest.mark.parametrize("damage", [_cut, _empty, _spoil, _remove])
@pytest.mark.parametrize("suffix", [".pack", ".idx"])
@pytest.mark.parametrize("limits", [FileLimits(), FileLimits(touched_only=True)], ids=["all", "touched"])
@pytest.mark.parametrize("changed", [False, True])
async def test_what_is_saved_after_the_newest_pack_was_damaged_is_whole(
    workspace: Path, store_dir: Path, damage: Callable[[Path], None], suffix: str, limits: FileLimits, *, changed: bool
) -> None:
    files = AsyncFileCheckpoints(workspace, store_dir, limits)
    names = ["a", "b/c", "b/same", "d/e"]
    write(workspace, dict.fromkeys(names, "1" * 1000))
    await files.save("first", touching=names)
    first_packs = set((the_store(store_dir) / "objects" / "pack").glob("*.pack"))
    write(workspace, {"a": "2" * 1000, "b/c": "2" * 1000})
    head = await files.save("second", changes_by="agent")
    await files.close()
    (pack,) = set((the_store(store_dir) / "objects" / "pack").glob("*.pack")) - first_packs
    damage(pack.with_suffix(suffix))

    other = AsyncFileCheckpoints(workspace, store_dir, limits)
    if changed:
        write(workspace, {"a": "3"})
    next_one = await other.save("next", touching=names)
    # What changed cannot be said where the newest is unreadable; kept is all the same.
    assert next_one.changed == (None if changed else Changed()) and next_one.id != head.id
    before = picture(workspace)
    write(workspace, {"a": "4"})
    after = picture(workspace)
    saved = await other.save("last", changes_by="agent")
    assert saved.changed == Changed(files=1)
    await other.close()
    later = AsyncFileCheckpoints(workspace, store_dir, limits)
    await later.restore(next_one.id, overwrite_conflicts=True)
    assert picture(workspace) == before
    await later.restore(saved.id, overwrite_conflicts=True)
    assert picture(workspace) == after
    await later.close()


async def test_a_damaged_pack_is_not_dropped_when_small_ones_are_put_together(
    workspace: Path, store_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = AsyncFileCheckpoints(workspace, store_dir)
    states = []
    for number in range(4):
        write(workspace, {f"file {number}": f"{number}" * 1000, "b/same": "1" * 1000})
        states.append((await files.save("next", changes_by="agent"), picture(workspace)))
    await files.close()
    first, *_ = sorted(
        (the_store(store_dir) / "objects" / "pack").glob("*.pack"), key=lambda path: path.stat().st_mtime
    )
    whole = first.read_bytes()
    # The last object, which no tree stands behind, and the end.
    first.write_bytes(whole[:-21])
    monkeypatch.setattr(garbage_collection, "_MANY_PACKS", 1)
    later = AsyncFileCheckpoints(workspace, store_dir)
    await later.gc()
    assert first.exists()
    first.write_bytes(whole)
    again = AsyncFileCheckpoints(workspace, store_dir)
    for record, there in states:
        await again.restore(record.id, overwrite_conflicts=True)
        assert picture(workspace) == there
