"""What stays in a memory folder: links, files that are too large, hidden ones; and nothing leads out of the folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hdsp_agent.errors import StorageUnavailable
from hdsp_agent.memory.memory_folder import ASIDE_FOLDER
from hdsp_agent.memory.sharing.shared_names import RECORD, is_shared_name

from .._helpers.postgres import TasksDatabase
from ._helpers.shared_home import ME, SharedHome, content, extracted, in_line

pytest.importorskip("psycopg")

DAY = "2026-11-30"


def test_links_and_files_that_are_too_large_stay_here(here: SharedHome, there: SharedHome, tmp_path: Path) -> None:
    there.notes.add("from there", day=DAY)
    there.folder.write("large.md", "x" * 2_000_001)
    assert there.shared.sync().left_out == {"large.md"}
    elsewhere = tmp_path / "dotfiles.md"
    elsewhere.write_text("- mine alone\n")
    here.folder.make()
    there.folder.write("more.md", "more\n")
    for name in ("profile.md", "more.md"):
        os.symlink(elsewhere, here.folder.root / name)
    assert here.shared.sync().left_out == {"profile.md", "more.md"}
    in_line(there, here)
    assert elsewhere.read_text() == "- mine alone\n" and "large.md" not in content(here)
    (here.folder.root / "more.md").unlink()
    in_line(here)
    assert content(here)["more.md"] == "more\n"
    # A link that is replaced by a file is joined like any other.
    (here.folder.root / "profile.md").unlink()
    (here.folder.root / "profile.md").write_text("- mine alone\n")
    in_line(here, there)
    assert sorted(here.texts()) == sorted(there.texts()) == ["from there", "mine alone"]


@pytest.mark.parametrize(
    "name",
    [
        ".profile.md.swp",
        ".ipynb_checkpoints/profile-checkpoint.md",
        "skills/clean/.ipynb_checkpoints/SKILL-checkpoint.md",
        ".git/config",
        ".published/.git/config",
        ".staging-1/MEMORY.md",
    ],
)
def test_hidden_files_of_editors_jupyter_and_git_stay_here(name: str) -> None:
    assert not is_shared_name(name)


def test_a_folder_that_the_person_replaced_by_a_link_is_not_deleted_and_not_written_through(
    here: SharedHome, there: SharedHome, tmp_path: Path
) -> None:
    name = "skills/clean/SKILL.md"
    there.folder.write(name, "first\n")
    in_line(there, here)
    elsewhere = tmp_path / "elsewhere"
    (here.folder.root / "skills").rename(elsewhere)
    os.symlink(elsewhere, here.folder.root / "skills")
    assert here.shared.sync().left_out == {name}
    there.folder.write(name, "second\n")
    there.folder.write("skills/new/SKILL.md", "new\n")
    in_line(there, here)
    assert there.folder.text(name) == "second\n"
    assert (elsewhere / "clean/SKILL.md").read_text() == "first\n" and not (elsewhere / "new").exists()
    (here.folder.root / "skills").unlink()
    elsewhere.rename(here.folder.root / "skills")
    in_line(here)
    assert here.folder.text(name) == "second\n" and here.folder.text("skills/new/SKILL.md") == "new\n"


def test_a_version_that_is_kept_apart_is_not_written_through_a_link(
    here: SharedHome, there: SharedHome, tmp_path: Path
) -> None:
    name = "skills/clean/scripts/clean.py"
    here.folder.write(name, "first\n")
    in_line(here, there)
    here.folder.write(name, "here\n")
    there.folder.write(name, "there\n")
    in_line(there)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    os.symlink(elsewhere, here.folder.root / ASIDE_FOLDER)
    with pytest.raises(StorageUnavailable, match="is a link"):
        here.shared.sync()
    assert here.folder.text(name) == "here\n" and list(elsewhere.iterdir()) == []
    (here.folder.root / ASIDE_FOLDER).unlink()
    assert len(here.shared.sync().aside) == 1


def test_a_folder_that_cannot_be_looked_into_is_not_a_deleted_one(
    here: SharedHome, there: SharedHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.extracted.put(extracted(1))
    in_line(here, there)
    scandir = os.scandir

    def refused(path: str) -> object:
        if str(path).endswith("extracted"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    with monkeypatch.context() as context:
        context.setattr(os, "scandir", refused)
        with pytest.raises(StorageUnavailable):
            here.shared.sync()
    in_line(here, there)
    assert len(list(there.extracted.all())) == 1


def test_files_of_a_database_never_lead_out_of_the_folder(here: SharedHome, postgres_database: TasksDatabase) -> None:
    here.notes.add("first", day=DAY)
    in_line(here)
    with postgres_database.connect("ada") as connection:
        connection.execute("UPDATE memory_people SET change = 2")
        for path in (
            "../outside.md",
            "/tmp/outside.md",
            "a/../../outside.md",
            "people/bob/profile.md",
            RECORD,
            "x.lock",
        ):
            connection.execute(
                "INSERT INTO memory_files (owner, path, version, content, server) VALUES (?, ?, 2, 'x', 's')",
                (ME, path),
            )
    before = content(here)
    assert here.shared.sync().taken == 0 and content(here) == before
    assert not (here.folder.root.parent / "outside.md").exists()
