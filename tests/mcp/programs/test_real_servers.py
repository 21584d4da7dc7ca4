"""Other makers' MCP servers, as our agent uses them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from pydantic import JsonValue

from hdsp_agent.errors import Unavailable
from hdsp_agent.messages import JsonObject
from hdsp_agent.tools import McpImage
from tests._helpers.long_tests import rounds
from tests.mcp._helpers.installed_programs import BIN
from tests.mcp.client._helpers.hubs import TestedHub, running_hub, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(rounds(0, 1) == 0, reason="make test-long installs these servers"),
]

_EVERYTHING: Mapping[str, JsonValue] = {"everything": {"command": str(BIN / "mcp-server-everything"), "timeout": 60}}
_DOCUMENT = "demo://resource/static/document/features.md"


class Person:
    """Answers the first questions so, and leaves out what may be left out."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, question: str, suggested: Sequence[str]) -> str:
        self.asked.append(question)
        if self._answers:
            return self._answers.pop(0)
        return suggested[-1]


async def _said(tested: TestedHub, tool: str, person: Person, arguments: JsonObject | None = None) -> str:
    async def progressed(text: str) -> None:
        tested.progress.append(text)

    offered = tested.tool(tool, "everything")
    answer = await tested.task.call(offered, arguments or {}, progressed=progressed, ask=person)
    return "\n".join(part for part in answer.parts if isinstance(part, str))


async def test_all_that_everything_offers(tmp_path: Path) -> None:
    async with running_hub(tmp_path, _EVERYTHING) as tested:
        assert tested.connection("everything").error is None
        names = {tool.tool for tool in tested.task.offer.tools}
        assert {"echo", "get-sum", "get-tiny-image", "trigger-long-running-operation"} <= names
        # It is not offered, as nobody lends servers the model.
        assert not any("sampling" in name for name in names)
        assert await tested.said("echo", {"message": "안녕"}, server="everything") == "Echo: 안녕"
        assert "7" in await tested.said("get-sum", {"a": 3, "b": 4}, server="everything")
        structured = await tested.said("get-structured-content", {"location": "Chicago"}, server="everything")
        assert "temperature" in structured
        pictures = (await tested.call("get-tiny-image", server="everything")).parts
        assert any(isinstance(part, McpImage) and part.media_type == "image/png" for part in pictures)

        assert _DOCUMENT in {resource.uri for resource in tested.task.offer.resources}
        assert "everything" in str((await tested.task.read("everything", _DOCUMENT)).parts).lower()
        assert "Resource 4" in str((await tested.task.read("everything", "demo://resource/dynamic/text/4")).parts)

        commands = {command.name: command for command in tested.task.commands()}
        assert commands["mcp.everything.args-prompt"].argument_hint == "city [state]"
        assert await tested.task.spoken("mcp.everything.args-prompt", "Seoul") == "What's weather in Seoul?"


async def test_everything_tells_how_far_it_is_and_is_cancelled(tmp_path: Path) -> None:
    async with running_hub(tmp_path, _EVERYTHING) as tested:
        long = "trigger-long-running-operation"
        said = await _said(tested, long, Person(), {"duration": 0.5, "steps": 5})
        assert "completed" in said
        assert tested.progress == [f"{step}/5" for step in range(1, 6)]
        tested.progress.clear()
        call = asyncio.create_task(_said(tested, long, Person(), {"duration": 3600, "steps": 36_000}))
        await until(lambda: tested.progress)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await tested.said("echo", {"message": "x"}, server="everything") == "Echo: x"


async def test_everything_asks_the_person(tmp_path: Path) -> None:
    async with running_hub(tmp_path, _EVERYTHING) as tested:
        declining = Person("Decline")
        assert "declined" in await _said(tested, "trigger-elicitation-request", declining)
        assert len(declining.asked) == 1
        assert declining.asked[0].startswith("everything asks: Please provide inputs")
        agreeing = Person("Ann", "Yes")
        said = await _said(tested, "trigger-elicitation-request", agreeing)
        assert "- Name: Ann" in said
        assert "- Agreed to terms: true" in said


async def test_everything_is_restarted(tmp_path: Path) -> None:
    async with running_hub(tmp_path, _EVERYTHING) as tested:
        connection = tested.connection("everything")
        before = connection.listing
        await connection.restart()
        await connection.settled()
        assert connection.status == "connected"
        assert connection.listing == before
        assert await tested.said("echo", {"message": "again"}, server="everything") == "Echo: again"


async def test_files_below_their_folder_and_no_others(tmp_path: Path) -> None:
    allowed = tmp_path / "work" / "data"
    allowed.mkdir(parents=True)
    (tmp_path / "outside.txt").write_text("not for it")
    entry: JsonObject = {"command": str(BIN / "mcp-server-filesystem"), "args": ["${workspaceFolder}/data"]}
    async with running_hub(tmp_path, {"files": entry}) as tested:
        names = [tool.tool for tool in tested.task.offer.tools]
        assert {"read_text_file", "write_file", "list_directory", "search_files"} <= set(names)
        note = str(allowed / "note.txt")
        await tested.call("write_file", {"path": note, "content": "heliotrope"}, server="files")
        assert (allowed / "note.txt").read_text() == "heliotrope"
        assert "heliotrope" in await tested.said("read_text_file", {"path": note}, server="files")
        refused = await tested.call("read_text_file", {"path": str(tmp_path / "outside.txt")}, server="files")
        assert refused.is_error
        assert "not for it" not in str(refused.parts)
        # One that is gone costs a call, and is started again for the next one.
        await tested.connection("files").stop()
        assert "note.txt" in await tested.said("list_directory", {"path": str(allowed)}, server="files")


async def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    entry: JsonObject = {"command": str(BIN / "mcp-server-filesystem"), "args": [str(tmp_path / "nowhere")]}
    async with running_hub(tmp_path, {"files": entry}) as tested:
        connection = tested.connection("files")
        assert connection.status == "disconnected"
        assert connection.error is not None
        assert "None of the specified directories are accessible" in connection.error
        with pytest.raises(Unavailable):
            await connection.call("read_text_file", {"path": "x"})
