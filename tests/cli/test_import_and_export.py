"""``import`` and ``export``: conversations come and go whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests._helpers.parsed_json import parsed

from .._helpers.stored_tasks import storage_of
from ._helpers.homes import FINISHED, Home


@pytest.fixture
def other_home(tmp_path: Path) -> Home:
    """A home that nothing was done in yet."""
    place = tmp_path / "other"
    place.mkdir()
    return Home(place)


@pytest.mark.parametrize("format", ["markdown", "json", "notebook"])
def test_the_output_is_the_file(shared_home: Home, tmp_path: Path, format: str) -> None:
    printed = shared_home.run("export", "--uuid", "11111111", "--format", format)
    assert printed.code == 0
    # A notebook is made of what the model was sent, the others of what the person saw.
    assert ("질문 1" if format == "notebook" else "안녕하세요") in printed.out
    ran = shared_home.run("export", "--uuid", FINISHED, "--format", format, "--to", str(tmp_path / "file"))
    assert ran.out.strip() == str(tmp_path / "file")
    made = (tmp_path / "file").read_text(encoding="utf-8")
    if format == "notebook":
        assert json.loads(made)["nbformat"] == 4
    else:
        assert len(made) == len(printed.out)
    again = shared_home.run("export", "--uuid", FINISHED, "--format", format, "--to", str(tmp_path / "file"))
    assert again.code == 1
    assert "already exists" in again.err
    over = ("--to", str(tmp_path / "file"), "--overwrite", "--json")
    assert shared_home.run("export", "--uuid", FINISHED, "--format", format, *over).json()["path"] == str(
        tmp_path / "file"
    )


def test_roo_codes_layout_needs_a_folder(shared_home: Home) -> None:
    ran = shared_home.run("export", "--uuid", FINISHED, "--format", "roo")
    assert ran.code == 2
    assert "--to FOLDER" in ran.err


@pytest.mark.parametrize("format", ["json", "roo"])
def test_what_went_out_comes_in_once(shared_home: Home, other_home: Home, tmp_path: Path, format: str) -> None:
    target = tmp_path / "out"
    target.mkdir()
    ran = shared_home.run("export", "--uuid", FINISHED, "--format", format, "--to", str(target), "--json")
    source = str(target) if format == "roo" else str(ran.json()["path"])
    dry = other_home.run("import", source, "--dry-run", "--json").json()
    assert [task["outcome"] for task in parsed(dry["tasks"])] == ["would_import"]
    assert not (other_home.path / "contexts" / "completed").exists()
    first = other_home.run("import", source, "--user", "carol", "--json")
    (task,) = parsed(first.json())["tasks"]
    assert first.code == 0 and task["outcome"] == "imported"
    second = other_home.run("import", source, "--json").json()
    assert [each["outcome"] for each in parsed(second["tasks"])] == ["already_there"]
    (listed,) = parsed(other_home.run("list", "--json").json())["tasks"]
    assert [listed["id"], listed["user"]] == [task["uuid"], "carol"]
    assert "안녕하세요" in other_home.run("view", "--uuid", str(task["uuid"]), "--ui").out


def test_a_folder_that_nobody_trusts_is_left_and_said(shared_home: Home, other_home: Home, tmp_path: Path) -> None:
    far = tmp_path / "far"
    far.mkdir()
    source = tmp_path / "one.json"
    shared_home.run("export", "--uuid", FINISHED, "--format", "json", "--to", str(source))
    document = json.loads(source.read_text(encoding="utf-8"))
    document["historyItem"]["workspace"] = str(far)
    source.write_text(json.dumps(document), encoding="utf-8")
    said = other_home.run("import", str(source), "--dry-run")
    assert str(far) in said.err and said.code == 0
    assert parsed(other_home.run("import", str(source), "--dry-run", "--json").json()["tasks"])[0]["leftFolder"] == str(
        far
    )
    assert other_home.run("trust", str(far)).code == 0
    assert str(far) not in other_home.run("import", str(source)).err
    (listed,) = parsed(other_home.run("list", "--json").json())["tasks"]
    assert listed["workspace"] == str(far.resolve())


@pytest.mark.each_backend("files", "sqlite")
def test_secrets_in_the_source_are_masked_unless_that_is_not_wanted(other_home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "tasks" / "0d9c4a52-1111-4000-8000-000000000001"
    folder.mkdir(parents=True)
    said = [{"ts": 1_700_000_000_000, "type": "say", "say": "text", "text": "write to ada.lovelace@example.org"}]
    asked = [{"role": "user", "content": said[0]["text"], "ts": 1_700_000_000_000}]
    (folder / "ui_messages.json").write_text(json.dumps(said), encoding="utf-8")
    (folder / "api_conversation_history.json").write_text(json.dumps(asked), encoding="utf-8")
    dry = other_home.run("import", str(folder.parent), "--dry-run", "--json").json()
    assert [task["outcome"] for task in parsed(dry["tasks"])] == ["would_import"]
    assert not storage_of(other_home.path).exists()
    assert other_home.run("import", str(folder.parent)).code == 0
    shown = other_home.run("view", "--uuid", folder.name, "--messages").out
    assert "[EMAIL" in shown
    assert "example.org" not in shown
    (tmp_path / "open").mkdir()
    open_home = Home(tmp_path / "open")
    assert open_home.run("import", str(folder.parent), "--no-masking").code == 0
    assert "ada.lovelace@example.org" in open_home.run("view", "--uuid", folder.name, "--messages").out


def test_what_is_not_there_is_named(other_home: Home, tmp_path: Path) -> None:
    ran = other_home.run("import", str(tmp_path / "nowhere"))
    assert ran.code == 2
    assert "nowhere" in ran.err
    assert ran.err.count("\n") == 1
