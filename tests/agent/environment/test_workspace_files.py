"""What the model is told of the workspace's files and of Git: only what it may see, and Git never runs the folder's programs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hdsp_agent.agent.environment import CurrentEnvironment, Section
from hdsp_agent.agent.environment.workspace_files import git_status_part, workspace_files_part
from hdsp_agent.config import GlobalSettings, OperatorPolicy
from hdsp_agent.tools import PathPolicy

from ._helpers.conversation_in_memory import Where

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs Git")


def texts(dimension: Section) -> list[str]:
    return [entry.text for entry in dimension.entries]


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.test", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for name in ("a.csv", "src/b.py", "src/deep/c.py", "secret.txt", "node_modules/x.js", "ignored.log"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n", "utf-8")
    (tmp_path / ".hdspignore").write_text("secret.txt\n", "utf-8")
    (tmp_path / ".gitignore").write_text("*.log\n", "utf-8")
    return tmp_path


def test_the_files_it_may_see_are_told_nearest_first_and_the_rest_counted(workspace: Path) -> None:
    found = workspace_files_part(PathPolicy(workspace), 200)
    assert texts(found) == [".gitignore", ".hdspignore", "a.csv", "src/b.py", "src/deep/c.py"]
    few = workspace_files_part(PathPolicy(workspace), 3)
    assert texts(few) == [".gitignore", ".hdspignore", "a.csv"] and few.others == 2


@needs_git
def test_what_git_finds_changed_is_told_but_not_what_is_kept_from_the_agent(workspace: Path) -> None:
    git(workspace, "init", "-q")
    git(workspace, "add", "-A")
    git(workspace, "commit", "-qm", "first")
    (workspace / "a.csv").write_text("y\n", "utf-8")
    (workspace / "secret.txt").write_text("y\n", "utf-8")
    (workspace / "new file.py").write_text("y\n", "utf-8")
    git(workspace, "mv", "src/b.py", "src/renamed.py")
    (workspace / "src/deep/c.py").unlink()
    found = git_status_part(PathPolicy(workspace), 100)
    assert found is not None
    assert sorted(texts(found)) == [
        "changed: a.csv", "deleted: src/deep/c.py", "new: new file.py", "renamed: src/renamed.py"
    ]  # fmt: skip
    # In a folder of the repository, only what is in it.
    below = git_status_part(PathPolicy(workspace / "src"), 1)
    assert below is not None and len(texts(below)) == 1 and below.others == 1


@needs_git
def test_git_is_not_asked_where_the_folder_would_have_it_run_a_program(workspace: Path) -> None:
    git(workspace, "init", "-q")
    assert git_status_part(PathPolicy(workspace), 10) is not None
    git(workspace, "config", "core.fsmonitor", f"touch {workspace}/PWN")
    assert git_status_part(PathPolicy(workspace), 10) is None
    assert not os.path.exists(workspace / "PWN")


async def test_the_settings_decide_what_is_told(workspace: Path) -> None:
    around = CurrentEnvironment(policy=OperatorPolicy, paths=lambda: PathPolicy(workspace))

    async def told(**changed: int) -> list[str]:
        where = Where(settings=GlobalSettings(**changed))
        return [part.name for part in await around.look(where, everything=True)]

    assert "workspace_files" in await told() and "git_status" not in await told()
    assert "workspace_files" not in await told(max_workspace_files=0)
    if shutil.which("git") is not None:
        git(workspace, "init", "-q")
        assert "git_status" in await told(max_git_status_files=5)
