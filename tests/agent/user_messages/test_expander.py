"""What the model reads of what a person typed: commands filled in, files attached; the person's row stays as it is."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import pytest

from hdsp_agent.agent import TaskRequest
from hdsp_agent.agent.user_messages._mentions import mentions_in
from hdsp_agent.config import GlobalSettings
from hdsp_agent.messages import NotebookRef, TaskId
from hdsp_agent.providers import call_tool
from hdsp_agent.tools import ToolRegistry

from .._helpers.scripted_agent import Agent, running_agent, until
from ..git._helpers.repositories import commit, git, needs_git, write
from ..test_notebook_tasks import notebook_agent

DONE = call_tool("attempt_completion", {"result": "All done"}, id="end")
ASK = call_tool("ask_followup_question", {"question": "Which?", "follow_up": [{"text": "a"}]}, id="q")
KEY = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
WRITE = call_tool("write_to_file", {"path": "b.txt", "content": "b\n"}, id="w")


def heard(agent: Agent) -> str:
    """All that the model was told last."""
    return json.dumps([message.to_json() for message in agent.model.requests[-1].messages], ensure_ascii=False)


def plain(agent: Agent) -> str:
    """The same as plain text, not as JSON."""
    contents = [message.content for message in agent.model.requests[-1].messages]
    blocks = [block for content in contents if not isinstance(content, str) for block in content]
    return "\n".join(str(block["text"]) for block in blocks if block["type"] == "text")


def rows(agent: Agent, task_id: TaskId) -> list[str | None]:
    return [message.text for message in agent.heard.shown[task_id].values() if message.say in ("text", "user_feedback")]


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\0\0\0" * 2)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("look at @/data/sales.csv, please", ["/data/sales.csv"]),
        ("@/a.py\n@/b.py and (@/c.py) and @/a.py", ["/a.py", "/b.py"]),
        (r"@/my\ data/x\ y.csv!", ["/my data/x y.csv"]),
        ("@/folder/ has it", ["/folder/"]),
        (r"mail me@/x, \@/y, a@/b", []),
        ("no mention @ all", []),
        ("@problems, then @git-changes.", ["problems", "git-changes"]),
        ("(@problems) me@problems @problemsolver @problems-old @problems.com @problems/x @Problems", []),
        ("@git-changes를 봐 줘\n@problemsを直して @git-changes", ["git-changes", "problems"]),
        (
            "see @abc1234: @0123456789abcdef0123456789abcdef01234567 @/a",
            ["abc1234", "0123456789abcdef0123456789abcdef01234567", "/a"],
        ),
        ("@abc123 @abcdefg @0123456789abcdef0123456789abcdef012345678 @abc1234x @abc1234@x", []),
    ],
)
def test_what_is_named_begins_a_word(text: str, paths: list[str]) -> None:
    assert mentions_in(text) == paths


async def test_a_command_is_filled_in_for_the_model_and_stays_as_typed_for_the_person(tmp_path: Path) -> None:
    folder = tmp_path / "work" / ".hdsp" / "commands"
    folder.mkdir(parents=True)
    (folder / "tidy.md").write_text("Tidy up $ARGUMENTS with care.")
    async with running_agent(tmp_path, [ASK, DONE], tools=ToolRegistry(), trusted=True) as agent:
        task_id = await agent.start("/tidy the first cell")
        question = await agent.asked(task_id, "followup")
        assert "Tidy up the first cell with care." in heard(agent)
        assert "/tidy" not in heard(agent)
        await agent.manager.answer(task_id, question.ts, "messageResponse", "/tidy the rest")
        await agent.completed(task_id)
        assert "Tidy up the rest with care." in heard(agent)
        assert rows(agent, task_id)[0] == "/tidy the first cell"
        assert "/tidy the rest" in rows(agent, task_id)


async def test_a_command_that_nobody_knows_stays_as_typed(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry()) as agent:
        await agent.finished("/nothing of the kind")
        assert "/nothing of the kind" in heard(agent)


async def test_a_command_brings_its_mode_along_if_it_may_be_used(tmp_path: Path) -> None:
    folder = tmp_path / "work" / ".hdsp" / "commands"
    folder.mkdir(parents=True)
    (folder / "ask.md").write_text("---\nmode: ask\n---\nTell me.")
    (folder / "odd.md").write_text("---\nmode: nowhere\n---\nTell me as well.")
    async with running_agent(tmp_path, [DONE, DONE], tools=ToolRegistry(), trusted=True) as agent:
        first = await agent.finished("/ask")
        second = await agent.finished("/odd")
        assert agent.history.items[first].mode == "ask"
        assert agent.history.items[second].mode == "code"
        assert "Tell me as well." in heard(agent)


async def test_files_folders_and_pictures_that_are_named_are_attached_without_asking(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "data").mkdir(parents=True)
    (work / "data" / "sales.csv").write_text("day,amount\n1,7\n")
    (work / "data" / "plot.png").write_bytes(png())
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry()) as agent:
        task_id = await agent.finished("Compare @/data/sales.csv and @/data/plot.png in @/data/")
        blocks = agent.model.requests[-1].messages[0].content
        assert not isinstance(blocks, str)
        told = json.dumps(blocks)
        assert '<file_content path=\\"data/sales.csv\\">' in told
        assert "1 | day,amount" in told
        assert '<folder_content path=\\"data/\\">' in told
        sources = [block["source"] for block in blocks if block["type"] == "image"]
        assert [isinstance(source, dict) and source["media_type"] for source in sources] == ["image/png"]
        assert not await agent.says(task_id, "image")
        assert rows(agent, task_id)[0] == "Compare @/data/sales.csv and @/data/plot.png in @/data/"
        assert await agent.asks(task_id, "tool") == []


async def test_a_notebook_that_is_named_comes_as_its_cells(tmp_path: Path) -> None:
    async with notebook_agent(tmp_path, [DONE], "x = 1", "y = x + 1") as agent:
        await agent.finished("What is in @/a.ipynb?")
        assert "y = x + 1" in heard(agent)
        assert "nbformat" not in heard(agent)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/hidden.txt", "hidden from you by .hdspignore"),
        ("/missing.txt", "does not exist"),
        ("/../outside.txt", "outside the workspace"),
        ("/.env", "may hold passwords"),
        ("/data.bin", "binary file"),
    ],
)
async def test_why_something_is_not_attached_is_said_in_words(tmp_path: Path, path: str, why: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / ".hdspignore").write_text("hidden.txt\n")
    for name in ("hidden.txt", ".env", "../outside.txt"):
        (work / name).write_text("TREASURE")
    (work / "data.bin").write_bytes(b"\0\1\2\3" * 100)
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry()) as agent:
        await agent.finished(f"Look at @{path}")
        assert "Not attached" in heard(agent)
        assert why in heard(agent)
        assert "TREASURE" not in heard(agent)


@needs_git
async def test_changes_and_commits_that_are_named_are_attached_with_keys_masked(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write(work, a_py="token = 'x'\n", b_txt="b\n")
    first = commit(work, "The very first")
    write(work, a_py=f"token = '{KEY}'\n")
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry()) as agent:
        task_id = await agent.finished(f"Why @git-changes after @{first[:7]}, @deadbeef?")
        told = plain(agent)
        assert "<git_working_state>\nChanges since the last commit:\nchanged: a.py" in told
        assert KEY not in told and "+token = '" in told
        assert f'<git_commit hash="{first[:7]}">\ncommit {first}' in told
        assert "The very first" in told and "+b" in told
        assert told.count("deadbeef") == 1 and "Not attached" not in told
        assert await agent.asks(task_id, "tool") == []


@needs_git
async def test_why_git_was_not_asked_is_said(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    names = f"@git-changes @deadbeef @{'a' * 40}"
    async with running_agent(tmp_path, [DONE, DONE, DONE], tools=ToolRegistry()) as agent:
        await agent.finished(names)
        assert "[Not attached: the workspace is in no Git repository.]" in plain(agent)
        assert "[Not attached: there is no such commit here.]" in plain(agent)
        assert plain(agent).count("deadbeef") == 1
        write(work, a_txt="TREASURE\n")
        first = commit(work, "first")
        git(work, "config", "diff.external", "evil")
        await agent.finished(f"{names} @{first}")
        assert plain(agent).count("[Not attached: Git was not asked, because the settings of the repository") == 4
        assert "TREASURE" not in plain(agent)


@needs_git
async def test_who_may_not_read_files_reads_no_commits_either(tmp_path: Path) -> None:
    write(tmp_path / "work", a_txt="TREASURE\n")
    first = commit(tmp_path / "work", "first")
    settings = GlobalSettings(disabled_tools=("read_file",))
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry(), settings=settings) as agent:
        await agent.finished(f"@{first} @git-changes")
        assert plain(agent).count("[Not attached: The tool read_file is switched off in the settings.]") == 2
        assert "TREASURE" not in plain(agent)


async def test_the_errors_of_the_conversations_notebook_are_attached(tmp_path: Path) -> None:
    run = call_tool("run_cells", {"cells": ["all"]}, id="r")
    async with notebook_agent(tmp_path, [DONE, run, DONE, DONE], "print('fine')", "1 / 0") as agent:
        task_id = await agent.manager.start(TaskRequest("What of @problems?", notebook=NotebookRef(path="a.ipynb")))
        await agent.completed(task_id)
        assert '<notebook_errors path="a.ipynb">\nNo cell of the notebook shows an error.' in plain(agent)
        await agent.completed(await agent.manager.start(TaskRequest("Run", notebook=NotebookRef(path="a.ipynb"))))
        task_id = await agent.manager.start(TaskRequest("Fix @problems", notebook=NotebookRef(path="a.ipynb")))
        await agent.completed(task_id)
        told = plain(agent).partition("<notebook_errors")[2].partition("</notebook_errors>")[0]
        assert "ZeroDivisionError" in told and "<cell number=2" in told
        assert "print('fine')" not in told


async def test_without_a_notebook_there_are_no_errors_of_one(tmp_path: Path) -> None:
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry()) as agent:
        await agent.finished("Fix @problems")
        assert "[Not attached: this conversation is about no notebook.]" in plain(agent)


async def test_a_tool_that_is_switched_off_reads_nothing_for_the_person_either(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("TREASURE")
    settings = GlobalSettings(disabled_tools=("read_file",))
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry(), settings=settings) as agent:
        await agent.finished("Look at @/a.txt")
        assert "TREASURE" not in heard(agent)


async def test_too_much_is_cut_and_said(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    for number in range(12):
        (work / f"f{number}.txt").write_text(("x" * 99 + "\n") * 900)
    async with running_agent(tmp_path, [DONE], tools=ToolRegistry()) as agent:
        await agent.finished(" ".join(f"@/f{number}.txt" for number in range(12)))
        assert len(heard(agent)) < 220_000
        assert "too much was attached at once" in heard(agent)
        assert "2 more were named" in heard(agent)


async def test_what_is_said_with_an_answer_and_in_the_queue_is_made_whole_too(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "style.md").write_text("Use tabs.")
    async with running_agent(tmp_path, [WRITE, ASK, DONE], tools=ToolRegistry()) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "tool")
        await agent.manager.queue(task_id, "And @/style.md counts")
        await agent.manager.answer(task_id, ask.ts, "noButtonClicked", "Not like that: /fix or @/style.md")
        question = await agent.asked(task_id, "followup")
        assert heard(agent).count("1 | Use tabs.") == 2
        await agent.manager.answer(task_id, question.ts, "messageResponse", "/explain it")
        await agent.completed(task_id)
        assert "Change nothing." in heard(agent)


async def test_a_subtasks_first_words_are_the_models_and_attach_nothing(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("TREASURE")
    begin = call_tool("new_task", {"mode": "code", "message": "/fix @/a.txt"}, id="n")
    async with running_agent(tmp_path, [begin, DONE, DONE], tools=ToolRegistry()) as agent:
        parent = await agent.start()
        ask = await agent.asked(parent, "tool")
        await agent.manager.answer(parent, ask.ts, "yesButtonClicked")
        await until(lambda: len(agent.model.requests) == 2)
        assert "/fix @/a.txt" in heard(agent)
        assert "TREASURE" not in heard(agent)
