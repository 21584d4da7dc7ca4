"""Checkpoints for programs outside: seen, compared, restored and undone, which the person always decides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings

from ._helpers.program import Program, program, text_of

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")

FREE = GlobalSettings(client_approvals={"Claude Code": "everything"})


async def written(claude: Program, *texts: str) -> None:
    """A file that has said each of these, one after the other."""
    for text in texts:
        assert not (await claude.call("write_to_file", path="a.txt", content=text)).is_error


async def test_a_file_goes_back_and_forth_with_the_persons_yes(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1", settings=FREE, checkpoints=True) as claude:
        file = claude.agent.workspace / "a.txt"
        await written(claude, "first\n", "second\n")
        listed = await claude.structured("checkpoint_list")
        before = next(
            one["checkpoint"]["id"]
            for one in listed["operations"]
            if one["checkpoint"]["reason"] == "before write_to_file"
        )
        diff = await claude.structured("checkpoint_diff", checkpoint=before, against="now")
        assert [changed["path"] for changed in diff["files"]] == ["a.txt"]
        assert "-first" in str(diff["files"][0]["diff"]) and "+second" in str(diff["files"][0]["diff"])
        call = claude.begin("checkpoint_restore", checkpoint=str(before), path="a.txt")
        question = await claude.asked()
        shown = json.loads(question.text or "")
        assert (shown["tool"], shown["content"]) == ("restoreCheckpoint", "~ a.txt")
        assert file.read_text() == "second\n"
        await claude.answer(question, "yesButtonClicked")
        restored = await call
        assert not restored.is_error and file.read_text() == "first\n"
        assert restored.structured is not None
        undone = await claude.approved("checkpoint_undo", operation=restored.structured["operation"])
        assert not undone.is_error and file.read_text() == "second\n"


async def test_a_denied_restore_changes_nothing(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1", settings=FREE, checkpoints=True) as claude:
        await written(claude, "first\n", "second\n")
        listed = await claude.structured("checkpoint_list", mine=True, limit=100)
        checkpoint = listed["operations"][-1]["checkpoint"]["id"]
        call = claude.begin("checkpoint_restore", checkpoint=str(checkpoint))
        await claude.answer(await claude.asked(), "noButtonClicked")
        assert (await call).is_error
        assert (claude.agent.workspace / "a.txt").read_text() == "second\n"
        nothing = await claude.failure("checkpoint_undo")
        assert nothing["code"] == "not_found"


async def test_cells_go_back(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1", settings=FREE, checkpoints=True) as claude:
        await claude.call("read_notebook", path="a.ipynb", view="cells")
        edit = {"op": "replace", "cell": "c1", "source": "x = 2"}
        await claude.structured("edit_cells", path="a.ipynb", operations=[edit])
        listed = await claude.structured("checkpoint_list")
        before = next(one for one in listed["operations"] if one["checkpoint"]["reason"] == "before edit_cells")
        checkpoint = str(before["checkpoint"]["id"])
        restored = await claude.approved("checkpoint_restore", checkpoint=checkpoint, path="a.ipynb", cell="c1")
        assert not restored.is_error, text_of(restored)
        read = await claude.structured("read_notebook", path="a.ipynb", view="cells")
        assert read["cells"][0]["source"] == "x = 1"


async def test_what_is_kept_from_the_agent_is_in_no_diff(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1", settings=FREE, checkpoints=True) as claude:
        work = claude.agent.workspace
        (work / ".hdspignore").write_text("hidden.txt\n")
        (work / "hidden.txt").write_text("nobody's business")
        (work / "id_rsa").write_text("a key")
        await written(claude, "first\n")
        listed = await claude.structured("checkpoint_list")
        newest = str(listed["operations"][0]["checkpoint"]["id"])
        diff = await claude.call("checkpoint_diff", checkpoint=newest, against="beginning")
        assert "nobody's business" not in str(diff) and "a key" not in str(diff)
        assert "a.txt" in text_of(diff)


async def test_where_they_are_turned_off_it_says_so(tmp_path: Path) -> None:
    off = FREE.model_copy(update={"enable_checkpoints": False})
    async with program(tmp_path, settings=off, checkpoints=True) as claude:
        assert "turned off" in str((await claude.failure("checkpoint_list"))["message"])
