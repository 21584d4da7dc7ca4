"""The copy that a notebook runs in: what stands beside its folder is copied or linked to by its own size alone."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from hdsp_agent.errors import Unavailable
from hdsp_agent.verify import _workspace_copy
from hdsp_agent.verify._workspace_copy import copied


def filled(folder: Path, count: int = 1, size: int = 1) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"{number}.txt").write_text("7" * size, encoding="utf-8")
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return filled(tmp_path / "home" / "work")


async def linked_to(work: Path, into: Path) -> list[str]:
    """The names beside the folder that are the person's own in its copy."""
    async with copied(work, into) as copy:
        beside = [path for path in copy.parent.iterdir() if path != copy]
        assert {path.name for path in beside} == {path.name for path in work.parent.iterdir() if path != work}
        return sorted(path.name for path in beside if path.is_symlink())


async def test_what_is_large_leaves_room_for_what_is_small(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_workspace_copy, "_MOST_BYTES_BESIDE", 1000)
    monkeypatch.setattr(_workspace_copy, "_MOST_FILES_BESIDE", 20)
    home = work.parent
    for name in ("many", "more", "node_modules", "results", "venv"):
        filled(home / name, 30 if name.startswith("m") else 1)
    filled(home / "large", 1, 2000)
    for number in range(30):
        (home / f"large{number}.bin").write_bytes(b"7" * 2000)
    linked = await linked_to(work, tmp_path)
    assert [name for name in linked if not name.endswith(".bin")] == ["large", "many", "more", "node_modules", "venv"]


async def test_not_much_is_looked_at(work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_workspace_copy, "_MOST_FILES_BESIDE", 20)
    monkeypatch.setattr(_workspace_copy, "_MOST_LOOKED_AT", 30)
    looked = looked_into(monkeypatch)
    for name in ("many", "more", "new", "old"):
        filled(work.parent / name, 30 if name.startswith("m") else 1)
    assert await linked_to(work, tmp_path) == ["many", "more", "new", "old"]
    assert looked == ["work", "home", "many", "more"]


async def test_in_folders_of_the_system_nothing_beside_is_looked_into(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(work.parent / "ann")
    assert await linked_to(work, tmp_path) == []
    looked = looked_into(monkeypatch)
    monkeypatch.setattr(os, "getuid", lambda: work.stat().st_uid + 1)
    assert await linked_to(work, tmp_path) == ["ann"]
    assert looked == ["work", "home"]
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert not _workspace_copy._is_own(Path("/"))


async def test_a_folder_with_a_mount_in_it_stays_where_it_is(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("plain/inner", "shared/inner/mounted"):
        filled(work.parent / path)
    looked = looked_into(monkeypatch)
    monkeypatch.setattr(os.path, "ismount", lambda path: str(path).endswith("mounted"))
    assert await linked_to(work, tmp_path) == ["shared"]
    assert "mounted" not in looked


async def test_half_a_copy_is_none(work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(work.parent / "small", 3)
    (work.parent / "beside.txt").write_text("7", encoding="utf-8")
    copy2 = shutil.copy2

    def copy(source: str | Path, target: Path) -> None:
        if "home/work" not in str(source):
            target.write_text("", encoding="utf-8")
            raise OSError(errno.ENOSPC, "No space left on device")
        copy2(source, target)

    monkeypatch.setattr(shutil, "copy2", copy)
    assert await linked_to(work, tmp_path) == ["beside.txt", "small"]
    monkeypatch.setattr(shutil, "copy2", lambda source, target: copy("", target))
    with pytest.raises(Unavailable, match="cannot be copied: No space left"):
        async with copied(work, tmp_path):
            pass


def looked_into(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of folders whose entries are asked for from now on."""
    looked: list[str] = []
    scandir = os.scandir

    def look(place: Path) -> object:
        if isinstance(place, Path):
            # Deleting asks too, by other means.
            looked.append(place.name)
        return scandir(place)

    monkeypatch.setattr(os, "scandir", look)
    return looked
