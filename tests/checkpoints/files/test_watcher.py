"""Saves that go by what the system says has changed find the same as walks do."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileLimits
from hdsp_agent.checkpoints.files import watcher
from hdsp_agent.checkpoints.files import workspace as workspace_module
from hdsp_agent.checkpoints.files.workspace_walk import WorkspaceWalk

from ._helpers.workspace_fixtures import assert_sound, picture, write

pytest.importorskip("watchfiles")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Only Linux tells in order")


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Of each look at the workspace, whether it was a whole walk."""
    # A busy machine takes its time to tell, and who is not told in time walks.
    monkeypatch.setattr(watcher, "_FENCE_SECONDS", 60.0)
    seen: list[str] = []
    everything, again = WorkspaceWalk.everything, WorkspaceWalk.again

    def noted_everything(self: WorkspaceWalk, *arguments: object) -> object:
        seen.append("all")
        return everything(self, *arguments)  # type: ignore[arg-type]  # passed on

    def noted_again(self: WorkspaceWalk, *arguments: object) -> object:
        seen.append("hints")
        return again(self, *arguments)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(WorkspaceWalk, "everything", noted_everything)
    monkeypatch.setattr(WorkspaceWalk, "again", noted_again)
    return seen


def change(root: Path, step: int) -> None:
    """Everything that can be done to a workspace, a little of it each time."""
    match step:
        case 0:
            write(root, {"a.txt": "2", "deep/b.txt": "2"})
        case 1:
            (root / "deep" / "b.txt").unlink()
            write(root, {"new/folder/c.txt": "1"})
        case 2:
            write(root, {"new/folder/c.txt": "2", "new/folder/d.txt": "1"})
        case 3:
            (root / "new").rename(root / "moved")
        case 4:
            shutil.rmtree(root / "deep")
            (root / "deep").write_text("a file now")
        case 5:
            (root / "a.txt").chmod(0o600)
            (root / "link").symlink_to("a.txt")
        case 6:
            (root / "moved" / "folder").chmod(0o700)
            write(root, {"env/pyvenv.cfg": "", "env/lib.py": "1", "moved/.git/HEAD": "x"})
        case 7:
            os.replace(root / "a.txt", root / "한글 \u1112.txt")
        case 8:
            write(root, {"sub/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n"})
        case 9:
            shutil.rmtree(root / "again")
            write(root, {"again/in/x": "1"})
        case _:
            write(root, {"a.txt": f"{step}", "again/in/x": f"{step}", "again/y": f"{step}"})


async def test_hints_lead_to_the_same_checkpoints_as_walks(workspace: Path, tmp_path: Path, walks: list[str]) -> None:
    write(workspace, {"a.txt": "1", "deep/b.txt": "1", "deep/er/c.txt": "1", "sub/x": "1", "again/in/x": "1"})
    store_dir = tmp_path / "home" / "checkpoints"
    files = AsyncFileCheckpoints(workspace, store_dir)
    await files.save("first")
    await files.save("from here on it is told")
    assert walks == ["all", "all"]
    for step in range(12):
        change(workspace, step)
        record = await files.save(f"{step}")
        walked = await AsyncFileCheckpoints(workspace, tmp_path / f"walked{step}", FileLimits(watch=False)).save("look")
        assert (record.tree, record.side, record.files) == (walked.tree, walked.side, walked.files), step
    assert walks[2:].count("hints") >= 8
    await files.close()
    assert_sound(store_dir)


async def test_where_a_name_is_no_text_every_save_walks(workspace: Path, store_dir: Path, walks: list[str]) -> None:
    write(workspace, {"a.txt": "1"})
    files = AsyncFileCheckpoints(workspace, store_dir)
    await files.save("first")
    await files.save("second")
    with open(os.fsencode(workspace) + b"/inv\xe9lid", "wb") as file:
        file.write(b"1")
    assert (await files.save("third")).files == 2
    write(workspace, {"b.txt": "1"})
    assert (await files.save("fourth")).files == 3
    assert walks == ["all"] * 4
    await files.close()


async def test_a_restore_looks_at_everything_and_comes_back_byte_for_byte(
    workspace: Path, store_dir: Path, walks: list[str]
) -> None:
    write(workspace, {"a.txt": "1", "deep/b.txt": "1"})
    files = AsyncFileCheckpoints(workspace, store_dir)
    before = picture(workspace)
    first = await files.save("first")
    await files.save("second")
    write(workspace, {"a.txt": "2", "new/c.txt": "1"})
    await files.save("after", changes_by="agent")
    assert walks == ["all", "all", "hints"]
    await files.restore(first.id)
    assert walks[3:] == ["all", "hints"]
    assert picture(workspace) == before
    await files.close()


async def test_after_a_minute_all_is_looked_at_again_and_what_was_not_told_ends_the_trust(
    workspace: Path, store_dir: Path, walks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, {"a.txt": "1", "deep/b.txt": "1"})
    elsewhere = workspace.parent / "other name"
    os.link(workspace / "a.txt", elsewhere)
    files = AsyncFileCheckpoints(workspace, store_dir)
    await files.save("first")
    monkeypatch.setattr(workspace_module, "_TICK_NS", -(10**15))
    await files.save("second")
    write(workspace, {"deep/b.txt": "2"})
    elsewhere.write_text("changed by another name")
    unseen = await files.save("told of one")
    monkeypatch.setattr(workspace_module, "_TRUST_SECONDS", 0.0)
    seen = await files.save("walked")
    assert seen.tree != unseen.tree
    monkeypatch.setattr(workspace_module, "_TRUST_SECONDS", 60.0)
    await files.save("no trust any more")
    assert walks == ["all", "all", "hints", "all", "all"]
    await files.close()
