"""What a folder brings, as the question about it lists it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO

import pytest

from hdsp_agent.agent.trust import FolderContents, WorkspaceTrust, brought_by
from hdsp_agent.agent.user_messages import project_commands
from hdsp_agent.config import OperatorPolicy, TrustedFolders


def write(path: Path, text: str = "x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def mode(name: str, slug: str = "acme") -> str:
    return json.dumps({"customModes": [{"slug": slug, "name": name, "roleDefinition": "You.", "groups": []}]})


def test_everything_that_is_read_from_a_folder_is_listed(tmp_path: Path) -> None:
    work, person = tmp_path / "work", tmp_path / "person"
    write(work / ".hdspmodes", mode("Acme"))
    write(work / ".hdsp/rules/a.md")
    write(work / ".hdsp/rules-code/deep/b.md")
    write(work / ".roo/rules/c.md")
    write(work / ".clinerules")
    write(work / ".roorules-code")
    write(work / "AGENTS.md")
    write(work / "AGENTS.local.md")
    write(work / ".hdsp/commands/ship.md")
    write(work / ".hdspignore")
    write(work / "CLAUDE.md")
    write(work / "README.md")
    assert sorted((one.kind, one.name) for one in brought_by(work, person)) == [
        ("command", "/ship"),
        ("instructions", "AGENTS.local.md"),
        ("instructions", "AGENTS.md"),
        ("mode", "Acme"),
        ("rules", ".clinerules"),
        ("rules", ".hdsp/rules-code/deep/b.md"),
        ("rules", ".hdsp/rules/a.md"),
        ("rules", ".roo/rules/c.md"),
        ("rules", ".roorules-code"),
    ]


def test_rules_of_subfolders_are_listed_where_they_count(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write(work / "models/AGENTS.md")
    write(work / "data/raw/.hdsp/rules-code/a.md")
    write(work / "node_modules/package/AGENTS.md")
    write(work / ".cache/AGENTS.md")
    assert brought_by(work, tmp_path / "person") == []
    assert [(one.kind, one.name) for one in brought_by(work, tmp_path / "person", subfolders=True)] == [
        ("rules", "data/raw"),
        ("rules", "models"),
    ]


async def test_a_folder_whose_subfolders_bring_rules_is_asked_about_only_where_they_count(tmp_path: Path) -> None:
    write(tmp_path / "work/models/AGENTS.md")
    folders = TrustedFolders(tmp_path / "home", OperatorPolicy)
    assert not (await WorkspaceTrust(folders).of(tmp_path / "work")).is_question
    assert (await WorkspaceTrust(folders, with_subfolders=lambda: True).of(tmp_path / "work")).is_question


def test_an_ordinary_folder_brings_nothing_and_raises_no_question(tmp_path: Path) -> None:
    write(tmp_path / "analysis.ipynb", "{}")
    write(tmp_path / ".hdspignore", "*.key")
    write(tmp_path / ".hdsp/notes.md")
    assert brought_by(tmp_path, tmp_path / "person") == []
    assert brought_by(tmp_path / "nowhere", tmp_path / "person") == []


def test_rules_in_the_persons_home_are_their_own(tmp_path: Path) -> None:
    write(tmp_path / ".hdsp/rules/a.md")
    write(tmp_path / "AGENTS.md")
    assert [one.name for one in brought_by(tmp_path, tmp_path)] == ["AGENTS.md"]


def test_names_that_a_folder_chose_can_neither_pretend_nor_flood(tmp_path: Path) -> None:
    write(tmp_path / ".hdspmodes", mode("Nice\n\n\u202egnihton\u200b\x1b[2J"))
    for number in range(300):
        write(tmp_path / f".hdsp/rules/{number:03}{'x' * 200}.md")
    write(tmp_path / "AGENTS.md")
    found = brought_by(tmp_path, tmp_path / "person")
    assert found[-1].name == "AGENTS.md"
    assert found[0] == FolderContents("mode", "Nice\ufffd\ufffd\ufffdgnihton\ufffd\ufffd[2J", ".hdspmodes")
    assert len(found) == 52
    assert max(len(one.name) for one in found) <= 201


def test_a_folder_of_very_many_things_is_not_looked_through_to_its_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(250):
        write(tmp_path / f".roo/rules-m{number}/a.md")
        write(tmp_path / f".roo/rules-m{number}/b.md")
    write(tmp_path / ".hdsp/commands/a.md", f"---\ndescription: {'x' * 5_000}\n---\nGo")
    read: list[Path] = []
    reading = Path.open

    def opening(
        path: Path,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
    ) -> IO[str] | IO[bytes]:
        read.append(path)
        return reading(path, mode, buffering, encoding, errors, newline)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "open", opening)
        assert len(brought_by(tmp_path, tmp_path / "person")) == 51
    assert len(read) < 100
    (command,) = project_commands(tmp_path)
    assert command.shown.description is None and command.text == "Go"


def test_a_list_of_modes_is_read_once_for_each_version_of_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path / ".hdspmodes", "customModes: [1]")
    for _ in range(3):
        assert brought_by(tmp_path, tmp_path / "person") == []
    assert len([record for record in caplog.records if "is ignored" in record.getMessage()]) == 1
    write(tmp_path / ".hdspmodes", mode("Acme"))
    assert [one.name for one in brought_by(tmp_path, tmp_path / "person")] == ["Acme"]


async def test_there_is_a_question_only_where_something_is_brought_and_nobody_decided(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    heard: list[Path] = []
    trust = WorkspaceTrust(TrustedFolders(tmp_path / "home", OperatorPolicy), on_decided=heard.append)
    assert not (await trust.of(work)).is_question
    write(work / "AGENTS.md")
    assert (await trust.of(work)).is_question
    for decided in (True, False):
        assert not (await trust.decide(work, decided)).is_question
    assert (await trust.decide(work, None)).is_question
    assert heard == [work] * 3


@pytest.mark.parametrize("policy", [OperatorPolicy(workspace_trust="always"), OperatorPolicy(workspace_trust="never")])
async def test_nobody_is_asked_what_the_operator_decided(tmp_path: Path, policy: OperatorPolicy) -> None:
    write(tmp_path / "work/AGENTS.md")
    trust = WorkspaceTrust(TrustedFolders(tmp_path / "home", lambda: policy))
    assert not (await trust.of(tmp_path / "work")).is_question
