"""What a person makes of a proposal before approving it is judged, shown and done; the model is told what they changed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hdsp_agent.config import GlobalSettings
from hdsp_agent.errors import InvalidInput
from hdsp_agent.messages import TaskId
from hdsp_agent.providers import call_tool
from hdsp_agent.tools import ToolRegistry

from ._helpers.scripted_agent import Agent, running_agent
from .test_notebook_tasks import DONE, notebook_agent, start

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")

ASKING = GlobalSettings(auto_approval_enabled=True, always_allow_read_only=True)


async def approved_as(agent: Agent, task_id: TaskId, ts: int, *edited: str) -> None:
    await agent.manager.answer(task_id, ts, "yesButtonClicked", edited=edited)
    await agent.completed(task_id)


@pytest.mark.skipif(os.name != "posix", reason="a shell of this kind")
async def test_the_command_a_person_made_of_it_runs_and_no_other(tmp_path: Path) -> None:
    turns = [call_tool("execute_command", {"command": "touch proposed"}, id="c"), DONE]
    async with running_agent(tmp_path, turns, tools=ToolRegistry()) as agent:
        task_id = await agent.start()
        ask = await agent.asked(task_id, "command")
        assert agent.manager.proposal(task_id, ask.ts) == [("command", "touch proposed")]
        await approved_as(agent, task_id, ask.ts, "touch edited")
        assert [path.name for path in agent.workspace.iterdir()] == ["edited"]
        [shown] = await agent.asks(task_id, "command")
        assert (shown.text, shown.is_answered) == ("touch edited", True)
        [told] = await agent.says(task_id, "user_feedback_diff")
        assert "-touch proposed\n+touch edited" in json.loads(told.text or "")["diff"]
        result = json.loads((await agent.results(task_id))["c"].partition("\n\n")[0])
        assert result["status"] == "approved" and "+touch edited" in result["user_edits"]


async def test_what_a_person_made_of_it_is_judged_anew(tmp_path: Path) -> None:
    settings = ASKING.model_copy(update={"denied_commands": ("touch",)})
    turns = [call_tool("execute_command", {"command": "echo a"}, id="c"), DONE]
    async with running_agent(tmp_path, turns, settings=settings, tools=ToolRegistry()) as agent:
        task_id = await agent.start()
        await approved_as(agent, task_id, (await agent.asked(task_id, "command")).ts, "touch made")
        assert not list(agent.workspace.iterdir())
        assert "not allowed here" in (await agent.results(task_id))["c"]


async def test_texts_that_were_not_proposed_are_not_taken_and_the_question_stays(tmp_path: Path) -> None:
    turns = [call_tool("execute_command", {"command": "echo a"}, id="c"), DONE]
    async with running_agent(tmp_path, turns, tools=ToolRegistry()) as agent:
        task_id = await agent.start()
        ts = (await agent.asked(task_id, "command")).ts
        for response, edited in (("yesButtonClicked", ("a", "b")), ("noButtonClicked", ("a",))):
            with pytest.raises(InvalidInput):
                await agent.manager.answer(task_id, ts, response, edited=edited)  # type: ignore[arg-type]  # both are answers
        await approved_as(agent, task_id, ts, "echo b")
        assert "b" in (await agent.results(task_id))["c"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write_to_file", {"path": "a.txt", "content": "one\nTWO\n"}),
        ("search_replace", {"path": "a.txt", "old_string": "two", "new_string": "TWO"}),
    ],
)
async def test_a_file_is_written_as_the_person_left_it(tmp_path: Path, tool: str, arguments: dict[str, str]) -> None:
    async with running_agent(tmp_path, [call_tool(tool, arguments, id="w"), DONE], tools=ToolRegistry()) as agent:
        (agent.workspace / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
        task_id = await agent.start()
        ts = (await agent.asked(task_id, "tool")).ts
        assert agent.manager.proposal(task_id, ts) == [("a.txt", "one\nTWO\n")]
        await approved_as(agent, task_id, ts, "one\nTWO!\nthree\n")
        assert (agent.workspace / "a.txt").read_text(encoding="utf-8") == "one\nTWO!\nthree\n"
        [shown] = await agent.asks(task_id, "tool")
        assert "+three" in json.loads(shown.text or "")["diff"]
        [told] = await agent.says(task_id, "user_feedback_diff")
        assert json.loads(told.text or "")["path"] == "a.txt"
        result = (await agent.results(task_id))["w"]
        assert "2 lines added, 1 removed" in result and "+TWO!" in result


async def test_lines_that_a_person_did_not_edit_keep_their_ends(tmp_path: Path) -> None:
    arguments = {"path": "a.txt", "old_string": "three", "new_string": "THREE"}
    async with running_agent(
        tmp_path, [call_tool("search_replace", arguments, id="w"), DONE], tools=ToolRegistry()
    ) as agent:
        (agent.workspace / "a.txt").write_bytes(b"one\r\ntwo\nthree\nfour\nfive\r\nsix\n")
        task_id = await agent.start()
        await approved_as(agent, task_id, (await agent.asked(task_id, "tool")).ts, "one\ntwo\n3\n4\nfive\nsix\n")
        assert (agent.workspace / "a.txt").read_bytes() == b"one\r\ntwo\n3\n4\nfive\r\nsix\n"


async def test_a_file_that_changed_while_a_person_edited_is_not_overwritten(tmp_path: Path) -> None:
    turns = [call_tool("write_to_file", {"path": "a.txt", "content": "proposed\n"}, id="w"), DONE]
    async with running_agent(tmp_path, turns, tools=ToolRegistry()) as agent:
        task_id = await agent.start()
        ts = (await agent.asked(task_id, "tool")).ts
        (agent.workspace / "a.txt").write_text("somebody else's", encoding="utf-8")
        await approved_as(agent, task_id, ts, "edited\n")
        assert (agent.workspace / "a.txt").read_text(encoding="utf-8") == "somebody else's"


async def test_cells_are_changed_and_code_is_run_as_the_person_left_them(tmp_path: Path) -> None:
    operations = [
        {"op": "insert", "after": "c1", "source": "x = 1"},
        {"op": "edit", "cell": "c1", "old": "print('a')", "new": "print('b')"},
    ]
    turns = [
        call_tool("read_notebook", {}, id="r"),
        call_tool("edit_cells", {"operations": operations}, id="e"),
        call_tool("run_code", {"code": "print('proposed')"}, id="c"),
        DONE,
    ]
    async with notebook_agent(tmp_path, turns, "print('a')", settings=ASKING) as agent:
        task_id = await start(agent)
        ask = await agent.asked(task_id, "tool")
        names = [name for name, _ in agent.manager.proposal(task_id, ask.ts)]
        assert names[1] == "cell 1" and names[0].startswith("new cell ")
        await agent.manager.answer(task_id, ask.ts, "yesButtonClicked", edited=["x = 2", "print('c')"])
        code = await agent.asked(task_id, "tool", after=ask.ts)
        assert agent.manager.proposal(task_id, code.ts) == [("code", "print('proposed')")]
        await approved_as(agent, task_id, code.ts, "print('edi' + 'ted')")
        written = json.loads((agent.workspace / "a.ipynb").read_text(encoding="utf-8"))
        assert ["".join(cell["source"]) for cell in written["cells"]] == ["print('c')", "x = 2"]
        results = await agent.results(task_id)
        assert "edited" in results["c"].partition("\n\n")[2] and "+print('c')" in results["e"]
        assert len(await agent.says(task_id, "user_feedback_diff")) == 2
