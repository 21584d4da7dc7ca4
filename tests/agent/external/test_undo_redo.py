"""Undo and redo in the conversation of a program outside: the person's own, and the program's tools for it."""

from __future__ import annotations

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


async def test_a_person_undoes_and_redoes_a_step_with_its_files(tmp_path: Path) -> None:
    async with program(tmp_path, settings=FREE, checkpoints=True) as claude:
        file, messages = claude.agent.workspace / "a.txt", claude.agent.manager.messages
        await written(claude, "first\n", "second\n")
        second = (await claude.agent.asks(claude.task_id, "tool"))[-1]
        await messages.rewind(claude.task_id, second.ts, keep=False, files=True)
        assert file.read_text() == "first\n"
        await messages.undo(claude.task_id)
        assert file.read_text() == "second\n"
        await messages.redo(claude.task_id)
        assert file.read_text() == "first\n"
        # The program goes on with what is there now, and what it does after that can be taken back as well.
        read = await claude.call("read_file", path="a.txt")
        assert "first" in text_of(read) and "server stopped" not in text_of(read)
        await written(claude, "third\n")
        assert file.read_text() == "third\n"
        third = (await claude.agent.asks(claude.task_id, "tool"))[-1]
        await messages.rewind(claude.task_id, third.ts, keep=False, files=True)
        assert file.read_text() == "first\n"


async def test_what_waits_for_an_answer_ends_when_a_person_goes_back(tmp_path: Path) -> None:
    async with program(tmp_path, settings=FREE, checkpoints=True) as claude:
        await written(claude, "first\n", "second\n")
        ran = (await claude.agent.asks(claude.task_id, "tool"))[-1]
        operations = (await claude.structured("checkpoint_list"))["operations"]
        call = claude.begin("checkpoint_restore", checkpoint=str(operations[-1]["checkpoint"]["id"]))
        await claude.asked(after=ran.ts)
        await claude.agent.manager.messages.rewind(claude.task_id, ran.ts, keep=False, files=True)
        result = await call
        assert result.is_error
        assert (claude.agent.workspace / "a.txt").read_text() == "first\n"
        assert not (await claude.call("read_file", path="a.txt")).is_error
        await written(claude, "third\n")


async def test_a_program_undoes_its_restore_and_the_undoing(tmp_path: Path) -> None:
    async with program(tmp_path, settings=FREE, checkpoints=True) as claude:
        file = claude.agent.workspace / "a.txt"
        await written(claude, "first\n", "second\n")
        listed = await claude.structured("checkpoint_list")
        before = next(
            str(one["checkpoint"]["id"])
            for one in listed["operations"]
            if one["checkpoint"]["reason"] == "before write_to_file"
        )
        at = await claude.approved("checkpoint_restore", checkpoint=before, path="a.txt")
        told = ["first\n"]
        assert file.read_text() == told[0]
        for expected in ("second\n", "first\n", "second\n"):
            assert at.structured is not None, text_of(at)
            at = await claude.approved("checkpoint_undo", operation=at.structured["operation"])
            assert not at.is_error, text_of(at)
            assert file.read_text() == expected
        kinds = [str(one["kind"]) for one in (await claude.structured("checkpoint_list"))["operations"]]
        assert kinds.count("undo") == 3 and kinds.count("restore") == 1
