"""A store that is damaged: what is asked of the damaged part is refused with the reason, and nothing is lost by that."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hdsp_agent.checkpoints import Checkpoints, Limits
from hdsp_agent.errors import StorageUnavailable

from .scenes import assert_sound, picture, the_store, write


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
    files = Checkpoints(workspace, store_dir)
    write(workspace, {"a": "1" * 1000, "b/c": "1"})
    first = await files.save("first")
    before = picture(workspace)
    (pack,) = (the_store(store_dir) / "objects" / "pack").glob("*.pack")
    write(workspace, {"a": "2", "b/c": "2", "new": "2"})
    after = picture(workspace)
    await files.save("second", changes_by="agent")
    await files.close()
    whole = shutil.copytree(the_store(store_dir), tmp_path / "whole")
    damage(pack.with_suffix(suffix))

    # What this server saved it may still remember; another one has only the disk.
    other = Checkpoints(workspace, store_dir)
    tight = Checkpoints(workspace, store_dir, Limits(checkpoints=1, kept_checkpoints=1, quota_bytes=1))
    for refused in (other.restore(first.id), other.plan_restore(first.id), other.export(first.id, tmp_path / "out")):
        with pytest.raises(StorageUnavailable, match=r"damaged|cannot be understood"):
            await refused
        assert picture(workspace) == after
    assert not (tmp_path / "out").exists()
    try:
        await tight.gc()
    except StorageUnavailable:
        assert len((the_store(store_dir) / "operations.jsonl").read_bytes().splitlines()) >= 2
    assert picture(workspace) == after

    shutil.rmtree(the_store(store_dir))
    shutil.copytree(whole, store_dir / whole.name)
    (store_dir / "whole").rename(store_dir / Path(files.folder).name)
    again = Checkpoints(workspace, store_dir)
    assert await again.interrupted() is None
    await again.restore(first.id)
    assert picture(workspace) == before
    await again.undo()
    assert picture(workspace) == after
    assert_sound(store_dir, leftovers=True)
