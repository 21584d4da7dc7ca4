"""``hdsp-agent trust``: a person on a terminal trusts a folder, and takes that back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from hdsp_agent.cli._main import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with instructions, and one inside it."""
    folder = tmp_path / "project"
    (folder / "inner").mkdir(parents=True)
    (folder / "AGENTS.md").write_text("words of the folder", "utf-8")
    return folder


@dataclass
class ProgramResult:
    """What the program said, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def trust(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., ProgramResult]:
    """Runs the command on a storage folder of the test's own."""

    def run(*arguments: str) -> ProgramResult:
        try:
            code = main(["--home", str(tmp_path / "home"), "trust", *arguments])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        return ProgramResult(code, *capsys.readouterr())

    return run


def told(said: ProgramResult) -> dict[str, object]:
    assert said.code == 0, said.err
    found: dict[str, object] = json.loads(said.out)
    return found


def test_a_folder_is_trusted_and_that_is_taken_back(
    trust: Callable[..., ProgramResult], folder: Path, tmp_path: Path
) -> None:
    inner = str(folder / "inner")
    assert told(trust("--json", "--show", str(folder)))["verdict"] == "undecided"
    assert not (tmp_path / "home" / "trusted-folders.json").exists()
    found = told(trust("--json", str(folder)))
    assert (found["verdict"], found["decidedBy"], found["folder"]) == ("trusted", "person", str(folder.resolve()))
    assert found["brings"] == [{"kind": "instructions", "name": "AGENTS.md", "path": "AGENTS.md"}]
    assert told(trust("--json", "--show", inner))["through"] == str(folder.resolve())
    assert told(trust("--json", "--revoke", str(folder)))["verdict"] == "notTrusted"
    assert told(trust("--json", "--show", inner))["verdict"] == "undecided"
    assert told(trust("--json", "--forget", str(folder)))["verdict"] == "undecided"


def test_decisions_are_listed_and_said_in_words(
    trust: Callable[..., ProgramResult], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "not decided about any folder" in trust().err
    monkeypatch.chdir(folder)
    assert trust(".").out.splitlines() == [f"{folder.resolve()}: trusted", "  instructions  AGENTS.md"]
    assert trust("--show", "inner").out.startswith(
        f"{folder.resolve() / 'inner'}: trusted (through {folder.resolve()})"
    )
    trust("--revoke", "inner")
    assert [(line.startswith("trusted "), line.split()[-1]) for line in trust().out.splitlines()] == [
        (True, str(folder.resolve())),
        (False, str(folder.resolve() / "inner")),
    ]
    assert [one["trusted"] for one in json.loads(trust("--json").out)] == [True, False]


@pytest.mark.parametrize("arguments", [("nowhere-at-all",), ("--revoke",), ("--revoke", "--forget", ".")])
def test_what_makes_no_sense_changes_nothing(
    arguments: tuple[str, ...], trust: Callable[..., ProgramResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert trust(*arguments).code == 2
    assert not (tmp_path / "home" / "trusted-folders.json").exists()
