"""Where Git may run a program of a folder's own choice, and how Git itself is asked about that."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hdsp_agent.agent.approval._git_settings import git_settings_problem

GIT = shutil.which("git") or ""
pytestmark = pytest.mark.skipif(not GIT, reason="Git itself is asked")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of nothing, whose settings are those that Git writes."""
    subprocess.run([GIT, "init", "-q", "--template=", "."], cwd=tmp_path, check=True)
    return tmp_path


def set_to(repository: Path, text: str) -> None:
    with (repository / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write(text)


def test_settings_of_a_million_bytes_are_read_and_longer_ones_are_not(repository: Path) -> None:
    config = repository / ".git" / "config"
    set_to(repository, "#" + "x" * (1_000_000 - config.stat().st_size - 2) + "\n")
    assert config.stat().st_size == 1_000_000
    assert git_settings_problem(str(repository)) is None
    set_to(repository, "\n")
    assert "can have Git run a program" in (git_settings_problem(str(repository)) or "")


def test_settings_that_git_cannot_read_are_a_problem(repository: Path) -> None:
    set_to(repository, "[core\n")
    assert "can have Git run a program" in (git_settings_problem(str(repository)) or "")


@pytest.mark.parametrize("missing", ["HEAD", "objects", "refs", None])
def test_only_what_has_all_that_a_repository_has_looks_like_one(missing: str | None, tmp_path: Path) -> None:
    inside = tmp_path / "bare" / "deep"
    inside.mkdir(parents=True)
    for folder in ("objects", "refs"):
        if folder != missing:
            (tmp_path / "bare" / folder).mkdir()
    if missing != "HEAD":
        (tmp_path / "bare" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    problem = git_settings_problem(str(inside))
    assert (problem is not None and "inside of a Git repository" in problem) is (missing is None)


def test_a_repository_that_has_its_settings_elsewhere_is_a_problem(repository: Path) -> None:
    (repository / ".git" / "commondir").write_text("../elsewhere\n", "utf-8")
    assert git_settings_problem(str(repository)) is not None


def test_a_further_work_tree_is_looked_at_with_the_repository_it_belongs_to(repository: Path, tmp_path: Path) -> None:
    run = [GIT, "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*run, "commit", "-q", "--allow-empty", "-m", "x"], cwd=repository, check=True)
    tree = tmp_path / "tree"
    subprocess.run([*run, "worktree", "add", "-q", str(tree)], cwd=repository, check=True, capture_output=True)
    assert git_settings_problem(str(tree)) is None
    there = repository / ".git" / "worktrees" / "tree"
    for text in ("../../nowhere\n", "../..\n"):
        (there / "commondir").write_text(text, "utf-8")
        assert (git_settings_problem(str(tree)) is None) is (text == "../..\n")
    (repository / ".git" / "commondir").write_text("x\n", "utf-8")
    assert git_settings_problem(str(tree)) is not None
    (repository / ".git" / "commondir").unlink()
    set_to(repository, "[core]\npager = x\n")
    assert git_settings_problem(str(tree)) is not None


@pytest.mark.parametrize("text", ["gitdir: nowhere\n", "something else\n", "xgitdir: .git-real\n"])
def test_a_file_in_place_of_the_repository_must_say_where_it_is(text: str, tmp_path: Path) -> None:
    (tmp_path / ".git").write_text(text, "utf-8")
    assert git_settings_problem(str(tmp_path)) is not None
    subprocess.run([GIT, "init", "-q", "--template=", "--bare", ".git-real"], cwd=tmp_path, check=True)
    (tmp_path / ".git").write_text("gitdir: .git-real  \n", "utf-8")
    assert git_settings_problem(str(tmp_path)) is None


@pytest.mark.parametrize(
    ("settings", "is_harmless"),
    [
        ('[remote "x"]\nurl = ext::x\n', False),
        ('[remote "x"]\npushurl = x::y\n', False),
        ('[remote "x"]\nurl = ssh://x/y\n', True),
        ("[core]\nfsmonitor = ./x\n", False),
        ("[core]\nhooksPath = hooks\n", True),
        ("[core]\nworktree = ../..\n", False),
        ("[user]\nname = x\nemail = y\n", True),
        ("[alias]\nx = !y\n", False),
        ("[include]\npath = x\n", False),
    ],
)
def test_what_a_setting_may_do(settings: str, is_harmless: bool, repository: Path) -> None:
    set_to(repository, settings)
    assert (git_settings_problem(str(repository)) is None) is is_harmless


@pytest.mark.parametrize("folder", [".git/hooks", "own"])
def test_the_hook_that_runs_where_a_command_only_looks_is_a_problem(folder: str, repository: Path) -> None:
    set_to(repository, "[core]\nhooksPath = own\n")
    (repository / folder).mkdir(parents=True, exist_ok=True)
    (repository / folder / "pre-commit").touch()
    assert git_settings_problem(str(repository)) is None
    (repository / folder / "post-index-change").touch()
    assert git_settings_problem(str(repository)) is not None


def test_git_is_asked_so_that_it_runs_nothing_and_nobodys_settings_count(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path_factory.mktemp("told") / "told"
    programs = tmp_path_factory.mktemp("programs")
    program = programs / "git"
    program.write_text(
        f'#!{shutil.which("python3")}\nimport json, os, sys\nwith open({str(told)!r}, "a") as file:\n'
        '    json.dump([sys.argv[1:], dict(os.environ)], file)\n    file.write("\\n")\n'
        'if "ls-files" in sys.argv:\n    print("160000 x 0\\ttied", end="\\0")\n',
        "utf-8",
    )
    program.chmod(0o755)
    (repository / ".git" / "index").write_bytes(b"")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("KEPT", "kept")
    assert git_settings_problem(str(repository)) is None
    calls = [json.loads(line) for line in told.read_text("utf-8").splitlines()]
    config = str(repository / ".git" / "config")
    assert [arguments for arguments, _ in calls] == [
        ["config", "--file", config, "--no-includes", "--list", "-z"],
        ["-c", "core.fsmonitor=false", "ls-files", "-s", "-z"],
    ]
    quiet = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    for _, environment in calls:
        assert {name: value for name, value in environment.items() if name.startswith("GIT_") or name == "LC_ALL"} == quiet  # fmt: skip
        assert environment["KEPT"] == "kept"


def test_without_git_no_settings_can_have_it_run_anything(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_to(repository, "[core]\npager = x\n")
    monkeypatch.setenv("PATH", "/nowhere")
    assert git_settings_problem(str(repository)) is None
