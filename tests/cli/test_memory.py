"""``hdsp-agent memory``: a person on a terminal sees, changes and forgets what is remembered."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.cli._main import main
from hdsp_agent.memory import MemoryFolder

from .._helpers.postgres import TasksDatabase

Memory = Callable[..., tuple[int, str, str]]
HOME = "home"
"""The folder that the command works with."""


@pytest.fixture
def memory(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Runs the command on a storage folder of the test's own; its code, and what it said."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(["--home", str(tmp_path / HOME), "memory", *arguments])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        out, err = capsys.readouterr()
        return code, out, err

    return run


def document(memory: Memory, *arguments: str) -> dict[str, Any]:
    code, out, err = memory("--json", *arguments)
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_notes_are_added_listed_changed_and_deleted(memory: Memory) -> None:
    assert "Nothing is remembered yet" in memory()[2]
    note = document(memory, "add", "Use", "polars")
    assert note["text"] == "Use polars"
    code, out, _ = memory("list")
    assert code == 0 and "Use polars" in out and str(note["id"]) in out
    document(memory, "edit", str(note["id"]), "Use polars 1.x")
    assert document(memory)["notes"][0]["text"] == "Use polars 1.x"
    assert document(memory, "delete", str(note["id"])) == {"deleted": [note["id"]]}
    assert document(memory)["notes"] == []


@pytest.mark.parametrize("storage_backend", ["postgres"], indirect=True)
def test_in_a_database_both_folders_of_a_person_have_the_notes(
    memory: Memory, tmp_path: Path, postgres_database: TasksDatabase
) -> None:
    note = document(memory, "add", "Use", "polars")
    other = tmp_path / "other"
    with pytest.MonkeyPatch.context() as context:
        context.setattr(f"{__name__}.HOME", "other")
        assert document(memory)["notes"][0]["text"] == "Use polars"
        document(memory, "delete", str(note["id"]))
        assert document(memory, "status")["notes"] == 0
    assert document(memory)["notes"] == [] and "polars" not in (other / "memories" / "profile.md").read_text()
    postgres_database.let_in(False)
    code, out, err = memory("--json", "add", "Use", "DuckDB")
    assert code == 0 and json.loads(out)["text"] == "Use DuckDB" and "A server sends what you change later" in err


def test_what_was_learned_is_shown_changed_and_forgotten(memory: Memory, tmp_path: Path) -> None:
    folder = MemoryFolder(tmp_path / "home" / "memories")
    folder.write("memory_summary.md", "## User Profile\n- Wants polars\n\n## What's in Memory\n- churn\n")
    [line] = document(memory)["learned"]
    assert (line["text"], line["section"]) == ("Wants polars", "User Profile")
    assert "Wants polars" in memory("show")[1]
    document(memory, "edit", line["id"], "Wants DuckDB")
    assert "Wants DuckDB" in memory("show", "memory_summary.md")[1]
    [line] = document(memory)["learned"]
    document(memory, "delete", line["id"])
    assert "DuckDB" not in memory("show")[1]


def test_the_status_says_what_was_done_and_what_it_cost(memory: Memory) -> None:
    told = document(memory, "status")
    assert (told["notes"], told["learned"], told["consolidatedAt"]) == (0, 0, None)
    assert "never" in memory("status")[1]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["delete"], "required: ID"),
        (["edit", "x"], "required: WORD"),
        (["add"], "required: WORD"),
        (["add", " "], "cannot be empty"),
        (["delete", "nothing"], "no note"),
        (["show", "../x"], "no name of a memory file"),
        (["undo"], "no earlier version"),
        (["add", "--for", "workspace", "x"], "not trusted"),
    ],
)
def test_bad_requests_are_refused_in_words(memory: Memory, arguments: list[str], why: str) -> None:
    code, _, err = memory(*arguments)
    assert code in (1, 2) and why in err


def test_learning_without_a_model_says_so(memory: Memory) -> None:
    code, _, err = memory("run")
    assert code == 1 and "No model is set up" in err
