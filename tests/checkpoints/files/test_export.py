"""A checkpoint for elsewhere."""

from __future__ import annotations

import asyncio
import os
import re
import stat
import subprocess
import threading
import zipfile
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints, CheckpointRecord
from hdsp_agent.checkpoints.files import file_views
from hdsp_agent.checkpoints.files.checkpoint_store import CheckpointStore
from hdsp_agent.checkpoints.files.export import export_zip
from hdsp_agent.errors import Conflict

from ._helpers.workspace_fixtures import git, picture, write


async def test_a_zip_has_the_files_as_they_were(
    checkpoints: AsyncFileCheckpoints, workspace: Path, tmp_path: Path
) -> None:
    write(workspace, {"a.txt": "one", "데이터/b.csv": "1,2\n", "run.sh": "#!/bin/sh\n"})
    (workspace / "run.sh").chmod(0o750)
    (workspace / "empty").mkdir()
    (workspace / "link").symlink_to("a.txt")
    with open(os.fsencode(workspace) + b"/bad\xff", "wb") as file:
        file.write(b"z")
    os.utime(workspace / "a.txt", (1_600_000_000, 1_600_000_000))
    os.utime(workspace / "run.sh", (5, 5))
    first = await checkpoints.save("first")
    write(workspace, {"a.txt": "two"})
    await checkpoints.save("second")
    target = tmp_path / "out.zip"
    await checkpoints.export(first.id, target)
    with zipfile.ZipFile(target) as archive:
        assert archive.testzip() is None
        assert set(archive.namelist()) == {"bad%FF", "a.txt", "link", "run.sh", "empty/", "데이터/b.csv"}
        assert archive.read("a.txt") == b"one"
        assert archive.getinfo("a.txt").date_time == (2020, 9, 13, 12, 26, 40)
        assert archive.getinfo("run.sh").date_time[0] == 1980
        assert stat.S_IMODE(archive.getinfo("run.sh").external_attr >> 16) == 0o750
        assert stat.S_ISLNK(archive.getinfo("link").external_attr >> 16)
        assert archive.read("link") == b"a.txt"
    with pytest.raises(Conflict, match="there already"):
        await checkpoints.export(first.id, target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "out.zip", "workspace"]


async def test_nobody_waits_for_an_export(
    checkpoints: AsyncFileCheckpoints, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, {"a.txt": "one"})
    first = await checkpoints.save("first")
    going_on, begun, real = threading.Event(), asyncio.Event(), export_zip
    loop = asyncio.get_running_loop()

    def slow(store: CheckpointStore, record: CheckpointRecord, target: Path) -> None:
        loop.call_soon_threadsafe(begun.set)
        assert going_on.wait(60)
        real(store, record, target)

    monkeypatch.setattr(file_views, "export_zip", slow)
    export = asyncio.create_task(checkpoints.export(first.id, tmp_path / "out.zip"))
    try:
        await begun.wait()
        write(workspace, {"a.txt": "two"})
        await asyncio.wait_for(checkpoints.save("second"), 30)
    finally:
        going_on.set()
        await export
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert archive.read("a.txt") == b"one"


async def test_a_repository_can_be_cloned_with_its_history(
    checkpoints: AsyncFileCheckpoints, workspace: Path, tmp_path: Path
) -> None:
    write(workspace, {"a.txt": "one", "dir/b": "1"})
    await checkpoints.save("first")
    write(workspace, {"a.txt": "two"})
    second = await checkpoints.save("second")
    write(workspace, {"a.txt": "three"})
    await checkpoints.save("third")
    target = tmp_path / "out.git"
    await checkpoints.export(second.id, target, "git")
    assert git(target, "fsck", "--full", "--strict") == b""
    assert git(target, "log", "--format=%s").decode().split() == ["second", "first"]
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(target), str(clone)], check=True, capture_output=True)
    assert {path: state[3] for path, state in picture(clone, without=b".git").items() if state[0] == "file"} == {
        b"a.txt": b"two", b"dir/b": b"1",
    }  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
async def test_no_name_in_a_zip_leads_elsewhere_on_any_system(
    checkpoints: AsyncFileCheckpoints, workspace: Path, tmp_path: Path
) -> None:
    names = [
        "..\\..\\up.txt", "C:\\Windows\\x.dll", "C:x", "\\\\host\\share", "sub\\..\\..\\y", "con", "Aux.txt", "nul .md", "x.txt:stream",
        "dots...", "blank ", "new\nline", "LPT1.tar.gz", "..%5Cup.txt", "dir\\in/..\\in", "com3/inner",
    ]  # fmt: skip
    write(workspace, dict.fromkeys(names, "1"))
    first = await checkpoints.save("first")
    target = tmp_path / "out.zip"
    await checkpoints.export(first.id, target)
    with zipfile.ZipFile(target) as archive:
        found = archive.namelist()
        assert len(set(found)) == len(found) == len(names)
        for name in found:
            assert is_everywhere_below(name), name
        archive.extractall(tmp_path / "out")
    assert sum(path.is_file() for path in (tmp_path / "out").rglob("*")) == len(names)


def is_everywhere_below(name: str) -> bool:
    """Whether Windows and POSIX both put it below the folder that they unpack into, as a file."""
    parts = name.split("/")
    return (
        not PurePosixPath(name).is_absolute()
        and PureWindowsPath(name).parts == tuple(parts)
        and not PureWindowsPath(name).is_reserved()
        and not any(
            part in ("", ".", "..") or part.endswith((".", " ")) or re.search("[\0-\x1f:]", part) for part in parts
        )
    )
