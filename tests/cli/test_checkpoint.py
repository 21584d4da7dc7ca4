"""``hdsp-agent checkpoint`` over real folders."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import cast

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints
from hdsp_agent.checkpoints.files.file_checkpoints import Anchor, Selection
from hdsp_agent.checkpoints.files.records import (
    KeptNotebook,
    KeptVariables,
    OperationRecord,
    RestoredNotebook,
    RestoredParts,
)
from hdsp_agent.checkpoints.timeline import RestoreLock

from ._helpers.homes import PROGRAM, Home, Ran


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "data").mkdir(parents=True)
    (folder / "a.txt").write_text("one\n", encoding="utf-8")
    (folder / "data" / "자료.csv").write_text("x\n1\n", encoding="utf-8")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def run(home: Home, workspace: Path, *arguments: str) -> Ran:
    return home.run("checkpoint", *arguments, "--workspace", str(workspace))


def saved(home: Home, workspace: Path, reason: str) -> str:
    ran = run(home, workspace, "save", "--reason", reason)
    assert ran.code == 0, ran.err
    return ran.out.strip()


def test_a_checkpoint_is_saved_looked_at_restored_and_the_restore_undone(home: Home, workspace: Path) -> None:
    first = saved(home, workspace, "first")
    assert saved(home, workspace, "nothing changed") == first
    (workspace / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    (workspace / "data" / "자료.csv").unlink()
    diff = run(home, workspace, "diff")
    assert diff.code == 3
    assert "modified a.txt" in diff.out and "+two" in diff.out and "removed data/자료.csv" in diff.out
    plan = run(home, workspace, "restore", first, "--dry-run", "--overwrite-all", "--json")
    changes = cast("list[dict[str, str]]", plan.json()["changes"])
    assert {(change["path"], change["action"]) for change in changes} == {
        ("a.txt", "overwrite"), ("data/자료.csv", "create")
    }  # fmt: skip
    assert not (workspace / "data" / "자료.csv").exists()
    kept = run(home, workspace, "restore", first)
    assert kept.code == 3 and "--overwrite-all" in kept.err
    assert (workspace / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n"
    done = run(home, workspace, "restore", first, "--overwrite-all")
    assert done.code == 0, done.err
    assert (workspace / "a.txt").read_text(encoding="utf-8") == "one\n"
    assert (workspace / "data" / "자료.csv").read_text(encoding="utf-8") == "x\n1\n"
    assert run(home, workspace, "undo").code == 0
    assert (workspace / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n"
    assert not (workspace / "data" / "자료.csv").exists()
    kinds = cast("list[dict[str, str]]", run(home, workspace, "list", "--operations", "--json").json()["operations"])
    assert [done["kind"] for done in kinds][:3] == ["undo", "restore", "restore"]
    assert (
        run(home, workspace, "diff", first, "now", "--only", str(workspace / "a.txt"), "--names").out.count("\n") == 1
    )


def test_one_stands_anywhere_in_the_workspace_and_names_paths_from_there(home: Home, workspace: Path) -> None:
    first = saved(home, workspace, "first")
    (workspace / "data" / "자료.csv").write_text("broken", encoding="utf-8")
    (workspace / "a.txt").write_text("broken", encoding="utf-8")
    done = subprocess.run(
        [*PROGRAM, "checkpoint", "restore", first, "--only", "자료.csv", "--overwrite-all", "--json"],
        cwd=workspace / "data", env=home.environment(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["written"] == 1
    assert (workspace / "data" / "자료.csv").read_text(encoding="utf-8") == "x\n1\n"
    assert (workspace / "a.txt").read_text(encoding="utf-8") == "broken"


def test_a_checkpoint_is_exported_and_the_store_tidied(home: Home, workspace: Path, tmp_path: Path) -> None:
    first = saved(home, workspace, "first")
    target = tmp_path / "first.zip"
    assert run(home, workspace, "export", first, "--to", str(target)).out.strip() == str(target)
    with zipfile.ZipFile(target) as archive:
        assert archive.read("a.txt") == b"one\n"
    assert run(home, workspace, "export", first, "--to", str(target)).code == 1
    found = run(home, workspace, "gc", "--json").json()
    assert (found["checkpoints"], found["wantsGc"]) == (1, False)
    assert run(home, workspace, "recover", "keep").out == "No restore was interrupted.\n"


def test_where_there_are_no_checkpoints_it_says_so_and_makes_none(home: Home, workspace: Path) -> None:
    for action in (("list",), ("diff",), ("undo",), ("gc",), ("restore", "beef")):
        ran = run(home, workspace, *action)
        assert ran.code == 2, ran
        assert "checkpoint save" in ran.err
    assert not (home.path / "checkpoints").exists()
    first = saved(home, workspace, "first")
    ran = run(home, workspace, "restore", "f" * 16 if first[0] != "f" else "e" * 16)
    assert ran.code == 2 and "There is no checkpoint" in ran.err


def test_the_settings_say_what_is_kept(home: Home, workspace: Path) -> None:
    home.path.mkdir(exist_ok=True)
    settings = {"version": 1, "globalSettings": {"checkpointMaxFileMegabytes": 1}}
    (home.path / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    (workspace / "large.bin").write_bytes(os.urandom(1_100_000))
    record = run(home, workspace, "save", "--json").json()
    assert (record["files"], record["skipped"]) == (2, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="Names are text there")
def test_names_that_are_no_text_are_shown_and_restored(home: Home, workspace: Path) -> None:
    path = os.path.join(os.fsencode(workspace), b"caf\xe9\nline")
    with open(path, "wb") as file:
        file.write(b"1")
    first = saved(home, workspace, "first")
    os.unlink(path)
    assert "\\xe9" in run(home, workspace, "diff").out
    assert run(home, workspace, "restore", first, "--overwrite-all").code == 0
    with open(path, "rb") as file:
        assert file.read() == b"1"


NOTEBOOK = RestoredParts(
    selected=("files", "notebooks"), notebooks=(RestoredNotebook(path="a.ipynb", before="0" * 64, after="1" * 64),)
)


def restored_in_a_server(home: Home, workspace: Path, parts: RestoredParts, *, ends: bool) -> OperationRecord:
    """What a restore of several parts leaves; one that does not end is cut short."""
    first = saved(home, workspace, "first")
    (workspace / "a.txt").write_text("by the agent\n", encoding="utf-8")

    async def restore() -> OperationRecord:
        store = AsyncFileCheckpoints(workspace, home.path / "checkpoints")
        await store.save("after", changes_by="agent")
        begun = await store.begin(first, Selection(), parts=parts)
        done = await store.end(begun, parts, Anchor()) if ends else begun
        await store.close()
        return done

    return asyncio.run(restore())


@pytest.mark.parametrize("named", [False, True])
def test_a_restore_of_notebooks_too_is_not_taken_back_by_halves(home: Home, workspace: Path, named: bool) -> None:
    done = restored_in_a_server(home, workspace, NOTEBOOK, ends=True)
    ran = run(home, workspace, "undo", *([done.id] if named else []))
    assert ran.code != 0 and "Jupyter Server" in ran.err
    assert (workspace / "a.txt").read_text(encoding="utf-8") == "one\n"


def test_a_half_restore_of_more_than_files_is_rolled_back_in_jupyterlab_alone(home: Home, workspace: Path) -> None:
    parts = RestoredParts(selected=("files", "conversation"))
    half = restored_in_a_server(home, workspace, parts, ends=False)
    ran = run(home, workspace, "recover", "roll-back")
    assert ran.code != 0 and "JupyterLab" in ran.err
    assert (workspace / "a.txt").read_text(encoding="utf-8") == "one\n"
    assert run(home, workspace, "recover", "keep", "--json").json()["id"] == half.id
    assert run(home, workspace, "recover", "keep").out == "No restore was interrupted.\n"


def test_a_half_restore_of_files_is_rolled_back(home: Home, workspace: Path) -> None:
    restored_in_a_server(home, workspace, RestoredParts(selected=("files",)), ends=False)
    ran = run(home, workspace, "recover", "roll-back")
    assert ran.code == 0, ran.err
    assert (workspace / "a.txt").read_text(encoding="utf-8") == "by the agent\n"


@pytest.mark.parametrize("choice", ["roll-back", "keep"])
def test_what_a_server_is_restoring_just_now_is_not_decided_about(home: Home, workspace: Path, choice: str) -> None:
    half = restored_in_a_server(home, workspace, RestoredParts(selected=("files",)), ends=False)
    store = AsyncFileCheckpoints(workspace, home.path / "checkpoints")

    async def meanwhile() -> Ran:
        async with RestoreLock(store.folder).taken():
            return await asyncio.to_thread(run, home, workspace, "recover", choice)

    ran = asyncio.run(meanwhile())
    assert ran.code != 0 and "Something else is being restored" in ran.err
    assert (workspace / "a.txt").read_text(encoding="utf-8") == "one\n"
    newest = cast("list[dict[str, str]]", run(home, workspace, "list", "--operations", "--json").json()["operations"])
    assert (newest[0]["id"], newest[0]["status"]) == (half.id, "begun")


def test_the_list_says_which_checkpoints_keep_cells_and_variables(home: Home, workspace: Path) -> None:
    async def keep() -> None:
        store = AsyncFileCheckpoints(workspace, home.path / "checkpoints")
        await store.save("files alone")
        kept = Anchor(
            notebooks=(KeptNotebook(path="a.ipynb", state="0" * 64),),
            variables=(KeptVariables(path="a.ipynb", manifest="0" * 16),),
        )
        await store.save("all of it", kept=kept)
        await store.close()

    asyncio.run(keep())
    heads, newest, oldest = run(home, workspace, "list").out.splitlines()
    assert "ALSO" in heads
    assert "cells, variables" in newest and "all of it" in newest
    assert "cells" not in oldest and "files alone" in oldest
