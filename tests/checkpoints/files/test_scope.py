"""Where not everything can be kept: home folders, huge trees, network file systems."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints, FileLimits
from hdsp_agent.checkpoints.files import scope

from ._helpers.workspace_fixtures import assert_sound, git, picture, the_store, write


async def test_in_a_home_folder_only_what_the_agent_touches_is_kept(
    checkpoints: AsyncFileCheckpoints, workspace: Path, store_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(workspace))
    write(workspace, {"a.py": "1", "other.txt": "o", "gone.py": "1", "deep/x/y.py": "1", "folder/one": "1"})
    first = await checkpoints.save(
        "before", touching=["a.py", str(workspace / "new" / "file.py"), "gone.py", "deep/x/y.py", "folder"]
    )
    assert (first.scope, first.scope_reason, first.files) == ("touched", "home", 4)
    names = git(the_store(store_dir), "ls-tree", "-r", "--name-only", first.commit).decode().split()
    assert names == ["a.py", "deep/x/y.py", "folder/one", "gone.py"]
    before = picture(workspace)
    write(workspace, {"a.py": "2", "new/file.py": "2", "deep/x/y.py": "2", "folder/two": "2"})
    (workspace / "gone.py").unlink()
    await checkpoints.save("after", changes_by="agent")
    write(workspace, {"unknown.txt": "the person's", "other.txt": "edited"})
    before[b"unknown.txt"] = picture(workspace)[b"unknown.txt"]
    before[b"other.txt"] = picture(workspace)[b"other.txt"]
    await checkpoints.restore(first.id)
    assert picture(workspace) == before
    await checkpoints.undo()
    assert (workspace / "new" / "file.py").read_text() == "2"
    assert not (workspace / "gone.py").exists()
    assert_sound(store_dir)


async def test_touched_files_are_remembered_by_the_next_server(workspace: Path, store_dir: Path) -> None:
    limits = FileLimits(touched_only=True)
    write(workspace, {"a.py": "1", "b.py": "1"})
    first = await AsyncFileCheckpoints(workspace, store_dir, limits).save("before", touching=["a.py", "made/new.py"])
    write(workspace, {"a.py": "2", "made/new.py": "2", "b.py": "2"})
    later = AsyncFileCheckpoints(workspace, store_dir, limits)
    await later.save("after", changes_by="agent")
    await later.restore(first.id)
    assert ((workspace / "a.py").read_text(), (workspace / "b.py").read_text()) == ("1", "2")
    assert not (workspace / "made").exists()


@pytest.mark.parametrize(
    ("limits", "reason"), [(FileLimits(files=20), "files"), (FileLimits(walk_seconds=0.0), "seconds")]
)
async def test_a_workspace_over_its_budget_is_said_to_be_so(
    workspace: Path, store_dir: Path, limits: FileLimits, reason: str
) -> None:
    write(workspace, {f"{number}.txt": "x" for number in range(30)})
    record = await AsyncFileCheckpoints(workspace, store_dir, limits).save("first", touching=["3.txt"])
    assert (record.scope, record.scope_reason, record.files) == ("touched", reason, 1)


async def test_a_workspace_that_grows_too_large_can_still_go_back(workspace: Path, store_dir: Path) -> None:
    checkpoints = AsyncFileCheckpoints(workspace, store_dir, FileLimits(files=20))
    write(workspace, {"a.py": "1", "b/c.py": "1"})
    first = await checkpoints.save("small")
    write(workspace, {"a.py": "2", "b/c.py": "2", **{f"many/{number}": "x" for number in range(50)}})
    after = await checkpoints.save("large", changes_by="agent")
    assert (after.scope, after.files) == ("touched", 0)
    plan = await checkpoints.plan_restore(first.id)
    # Nobody saw who changed them, so they count as the person's.
    assert {change.path for change in plan.conflicts} == {"a.py", "b/c.py"}
    await checkpoints.restore(first.id, overwrite_conflicts=True)
    assert ((workspace / "a.py").read_text(), (workspace / "b" / "c.py").read_text()) == ("1", "1")
    assert len(os.listdir(workspace / "many")) == 50
    await checkpoints.undo()
    assert ((workspace / "a.py").read_text(), (workspace / "b" / "c.py").read_text()) == ("2", "2")


async def test_what_is_behind_a_link_or_in_a_repository_is_not_followed(
    workspace: Path, store_dir: Path, tmp_path: Path
) -> None:
    write(tmp_path, {"outside/secret": "s"})
    write(workspace, {".git/config": "[core]", "real/x": "1", "file": "1"})
    (workspace / "inner").symlink_to("real")
    checkpoints = AsyncFileCheckpoints(workspace, store_dir, FileLimits(touched_only=True))
    record = await checkpoints.save("first", touching=[".git/config", "inner/x", "file/below"])
    # A path through a link is the path it leads to; one below a file is that file.
    names = git(the_store(store_dir), "ls-tree", "-r", "--name-only", record.commit).decode().split()
    assert names == ["file", "real/x"]
    assert record.skipped == 1


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("36 35 98:0 / {root} rw,noatime - nfs4 server:/x rw", "network"),
        ("36 35 98:0 / {root}/deeper rw - nfs4 server:/x rw", None),
        ("36 35 98:0 / / rw - ext4 /dev/sda rw", None),
        ("36 35 98:0 / {root} rw shared:1 - fuse.sshfs x rw", "network"),
    ],
)
def test_network_file_systems_are_known_by_their_mounts(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str, kind: str | None
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text("1 0 98:0 / / rw - ext4 /dev/sda rw\n" + line.format(root=workspace) + "\n")
    monkeypatch.setattr(scope, "_MOUNTS", mounts)
    assert scope.reason_for_touched_only(workspace, FileLimits()) == kind


async def test_folders_the_operator_excludes_stay_out_of_it(workspace: Path, store_dir: Path) -> None:
    write(workspace, {"a": "1", "big/b": "1"})
    checkpoints = AsyncFileCheckpoints(workspace, store_dir, FileLimits(excluded=(workspace / "big",)))
    first = await checkpoints.save("first")
    assert (first.files, first.skipped) == (1, 1)
    write(workspace, {"a": "2", "big/b": "2"})
    await checkpoints.save("after", changes_by="agent")
    await checkpoints.restore(first.id)
    assert ((workspace / "a").read_text(), (workspace / "big" / "b").read_text()) == ("1", "2")
