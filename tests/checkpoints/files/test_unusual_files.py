"""What real file systems and real users hold ready. What must be true: byte for byte after the restore and after its undo."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from jupyter_server.services.contents.fileio import atomic_writing

from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileLimits
from tests.persistence.test_crashes import unix

from ._helpers.workspace_fixtures import assert_sound, git, the_store, write

ROOT = Path(__file__).parents[3]
NOBODY = "65534"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may reach."""
    folder = Path(tempfile.mkdtemp(prefix="hdsp-nasty-"))
    folder.chmod(0o755)
    yield folder
    for path, folders, _ in os.walk(folder):
        for inside in (os.path.join(path, name) for name in folders):
            if not os.path.islink(inside):
                os.chmod(inside, 0o700)
    shutil.rmtree(folder)


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


@unix
@pytest.mark.parametrize(
    "user", ["-", pytest.param(NOBODY, marks=pytest.mark.skipif(not is_root(), reason="not root"))]
)
def test_the_worst_workspace_goes_there_and_back_for_every_user_without_git(open_folder: Path, user: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.checkpoints.files._helpers.unusual_files", str(open_folder), user],
        cwd=ROOT, capture_output=True, text=True, timeout=250, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert_sound(open_folder / "real" / "home" / "checkpoints", leftovers=True)


@unix
async def test_a_home_folder_full_of_files_costs_no_more_than_what_is_touched(
    quick_folder: Path, store_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = quick_folder / "workspace"
    for folder in range(100):
        inside = workspace / f"d{folder}"
        inside.mkdir(parents=True)
        for number in range(10):
            (inside / f"{number}").touch()
    write(workspace, {"a.py": "1"})
    listed: list[bytes] = []
    scandir = os.scandir

    def counted(path: bytes) -> AbstractContextManager[Iterator[os.DirEntry[bytes]]]:
        if isinstance(path, bytes):  # only what walks workspaces does so
            listed.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", counted)
    monkeypatch.setenv("HOME", str(workspace))
    files = AsyncFileCheckpoints(workspace, store_dir)
    first = await files.save("before", touching=["a.py", "new.py"])
    write(workspace, {"a.py": "2", "new.py": "2"})
    await files.save("after", changes_by="agent")
    await files.restore(first.id)
    inner = os.fsencode(workspace / "d")
    assert not [path for path in listed if path.startswith(inner)]
    assert ((workspace / "a.py").read_text(), (workspace / "new.py").exists()) == ("1", False)
    await files.undo()
    assert ((workspace / "a.py").read_text(), (workspace / "new.py").read_text()) == ("2", "2")
    assert (first.scope, first.scope_reason) == ("touched", "home")

    monkeypatch.setenv("HOME", str(tmp_path))
    # As any other folder it is walked until the budget is used up, and then no more.
    other = AsyncFileCheckpoints(workspace, tmp_path / "other", FileLimits(files=200, walk_seconds=60))
    second = await other.save("before", touching=["a.py"])
    assert (second.scope, second.scope_reason, second.files) == ("touched", "files", 1)
    assert 20 <= len([path for path in listed if path.startswith(inner)]) <= 22


async def test_a_file_of_500_megabytes_that_is_not_cloned_is_left_alone_and_said_so(
    workspace: Path, store_dir: Path
) -> None:
    checkpoints = AsyncFileCheckpoints(workspace, store_dir, FileLimits(cloned_bytes=0))
    write(workspace, {"a.py": "1"})
    large = workspace / "large.bin"
    with open(large, "wb") as file:
        file.truncate(500_000_000)
    first = await checkpoints.save("before", touching=["large.bin"])
    assert (first.files, first.skipped) == (1, 1)
    write(workspace, {"a.py": "2"})
    with open(large, "r+b") as file:
        file.write(b"changed")
    await checkpoints.save("after", changes_by="agent")
    plan = await checkpoints.plan_restore(first.id)
    assert [change.path for change in plan.changes] == ["a.py"]
    await checkpoints.restore(first.id)
    assert (workspace / "a.py").read_text() == "1"
    with open(large, "rb") as file:
        assert file.read(7) == b"changed"
    large.unlink()
    await checkpoints.save("deleted", changes_by="agent")
    left = (await checkpoints.plan_restore(first.id)).left
    assert [(change.path, change.reason) for change in left] == [("large.bin", "too_large")]


@pytest.mark.slow
async def test_a_large_file_comes_back_where_the_settings_have_room_for_it(quick_folder: Path) -> None:
    (quick_folder / "workspace").mkdir()
    large = quick_folder / "workspace" / "large.bin"
    limits = FileLimits(file_bytes=60_000_000, total_bytes=400_000_000)
    files = AsyncFileCheckpoints(large.parent, quick_folder / "store", limits)
    with open(large, "wb") as file:
        file.truncate(50_000_000)
        file.seek(25_000_000)
        file.write(os.urandom(1_000_000))

    def digest() -> str:
        found = hashlib.blake2b()
        with open(large, "rb") as file:
            while block := file.read(1_000_000):
                found.update(block)
        return found.hexdigest()

    before = digest()
    first = await files.save("before")
    with open(large, "r+b") as again:
        again.write(b"x")
    after = digest()
    await files.save("after", changes_by="agent")
    await files.restore(first.id)
    assert digest() == before
    await files.undo()
    assert digest() == after


@unix
async def test_of_a_notebook_that_jupyter_saves_all_the_time_no_torn_version_is_kept(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path
) -> None:
    path = workspace / "busy.ipynb"
    stop = threading.Event()
    versions = 0

    def save_again_and_again() -> None:
        nonlocal versions
        while not stop.is_set():
            versions += 1
            content = json.dumps({"version": versions, "fill": "x" * 300_000, "end": versions})
            with atomic_writing(str(path), text=True, encoding="utf-8") as file:
                for start in range(0, len(content), 50_000):
                    file.write(content[start : start + 50_000])
                    file.flush()
            time.sleep(0.005)

    writer = threading.Thread(target=save_again_and_again)
    writer.start()
    records = []
    try:
        for _ in range(25):
            records.append(await checkpoints.save("now"))
            await checkpoints.save("place", message_ts=len(records))
    finally:
        stop.set()
        writer.join()
    kept = 0
    for commit in {record.commit for record in records if record.files}:
        found = json.loads(git(the_store(store_dir), "show", f"{commit}:busy.ipynb"))
        assert found["version"] == found["end"]
        kept += 1
    assert versions > 3
    assert kept >= 1
    assert [path.name for path in workspace.iterdir()] == ["busy.ipynb"]
