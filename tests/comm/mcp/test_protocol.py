"""The protocol over a real Jupyter Server, spoken by the SDK's own client in both versions."""

from __future__ import annotations

import asyncio
import base64
from contextlib import suppress

import httpx2
import pytest
from mcp import MCPError
from mcp_types import BlobResourceContents, ImageContent, TextContent, TextResourceContents

from hdsp_agent.comm.services import Services
from tests.mcp._helpers.http_programs import MODERN, Programs, modern_request
from tests.mcp._helpers.port_agents import PIXEL, PortAgents

BOTH = pytest.mark.parametrize("mode", ["legacy", MODERN])


@BOTH
async def test_tools_are_listed_in_order_with_what_they_may_do(programs: Programs, mode: str) -> None:
    async with programs.connected(mode) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["echo", "image", "refuse", "break", "wait", "large", "write", "ask"]
    marks = {tool.name: tool.annotations.read_only_hint for tool in tools if tool.annotations}
    assert marks["echo"] is True and marks["write"] is False


@BOTH
async def test_a_result_comes_with_its_blocks_and_its_data(programs: Programs, agents: PortAgents, mode: str) -> None:
    async with programs.connected(mode) as client:
        said = await client.call_tool("echo", {"text": "한글 🙂"})
        shown = await client.call_tool("image")
    assert said.structured_content == {"text": "한글 🙂"}
    assert isinstance(said.content[0], TextContent) and said.content[0].text == "한글 🙂"
    assert isinstance(shown.content[0], ImageContent) and shown.content[0].data == PIXEL
    client_seen = agents.calls[0][0]
    assert (client_seen.name, client_seen.version) == ("Claude Code", "2.1")


@BOTH
async def test_what_is_refused_is_told_to_the_model_and_what_breaks_tells_no_secrets(
    programs: Programs, mode: str
) -> None:
    async with programs.connected(mode) as client:
        refused = await client.call_tool("refuse")
        broken = await client.call_tool("break")
        with pytest.raises(MCPError, match="There is no tool nothing"):
            await client.call_tool("nothing")
    assert refused.is_error and isinstance(refused.content[0], TextContent)
    assert refused.content[0].text == "There is no cell c9. The notebook has the cells c1 and c2."
    assert broken.is_error and isinstance(broken.content[0], TextContent)
    assert "secret" not in broken.content[0].text and "log has the details" in broken.content[0].text


@BOTH
async def test_progress_is_told_while_a_call_waits(programs: Programs, agents: PortAgents, mode: str) -> None:
    told: list[str | None] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)
        agents.may_end.set()

    async with programs.connected(mode) as client:
        result = await client.call_tool("wait", progress_callback=tell)
    assert isinstance(result.content[0], TextContent) and result.content[0].text == "approved"
    assert told[0] == "Waiting for your approval in JupyterLab"
    assert agents.ended == ["done"]


@BOTH
async def test_a_call_that_is_cancelled_ends(programs: Programs, agents: PortAgents, mode: str) -> None:
    async with programs.connected(mode) as client:
        call = asyncio.ensure_future(client.call_tool("wait"))
        await agents.begun.wait()
        call.cancel()
        await agents.until(lambda: bool(agents.ended))
        # The connection lives on.
        assert (await client.call_tool("echo", {"text": "still here"})).structured_content == {"text": "still here"}
    assert agents.ended == ["cancelled"]


@BOTH
async def test_resources_are_listed_and_read(programs: Programs, mode: str) -> None:
    async with programs.connected(mode) as client:
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        contents = (await client.read_resource(listed[0].uri)).contents
        with pytest.raises(MCPError, match="There is no resource"):
            await client.read_resource("notebook:///b.ipynb")
    assert len(listed) == 1 and [template.uri_template for template in templates] == ["notebook:///{path}"]
    assert isinstance(contents[0], TextResourceContents) and contents[0].text == "# A"
    assert isinstance(contents[1], BlobResourceContents) and base64.b64decode(contents[1].blob).startswith(b"\x89PNG")


@BOTH
async def test_prompts_say_what_to_do_with_which_notebook(programs: Programs, mode: str) -> None:
    async with programs.connected(mode) as client:
        prompts = (await client.list_prompts()).prompts
        asked = await client.get_prompt("fix_failing_cell", {"notebook": "analysis.ipynb"})
        with pytest.raises(MCPError, match="There is no prompt"):
            await client.get_prompt("nothing")
    assert [prompt.name for prompt in prompts] == [
        "explain_notebook",
        "fix_failing_cell",
        "summarize_data",
        "review_notebook",
        "document_notebook",
    ]
    text = asked.messages[0].content
    assert isinstance(text, TextContent) and "Notebook: analysis.ipynb" in text.text and "Cell:" not in text.text


async def test_two_windows_of_a_program_are_two_sessions_in_2025_and_one_by_folder_in_2026(
    programs: Programs, agents: PortAgents
) -> None:
    for mode in ("legacy", "legacy", MODERN, MODERN):
        async with programs.connected(mode) as client:
            await client.call_tool("echo")
    keys = [client.key for client, _, _ in agents.calls]
    assert len(set(keys[:2])) == 2 and keys[2] == keys[3]


@BOTH
async def test_an_answer_of_many_megabytes_comes_whole(programs: Programs, mode: str) -> None:
    async with programs.connected(mode) as client:
        result = await client.call_tool("large", {"text": str(8_000_000)})
    assert isinstance(result.content[0], TextContent) and len(result.content[0].text) == 8_000_000


async def test_fifty_programs_at_once_all_get_their_own_answer(programs: Programs, agents: PortAgents) -> None:
    async def one(number: int) -> object:
        async with programs.connected("legacy" if number % 2 else MODERN, name=f"Program {number}") as client:
            return (await client.call_tool("echo", {"text": str(number)})).structured_content

    answers = await asyncio.gather(*(one(number) for number in range(50)))
    assert answers == [{"text": str(number)} for number in range(50)]
    assert {client.name for client, _, _ in agents.calls} == {f"Program {number}" for number in range(50)}


async def test_more_calls_than_are_good_for_anybody_are_refused_in_words(
    programs: Programs, agents: PortAgents
) -> None:
    async with programs.connected(MODERN) as client:
        waiting = [asyncio.ensure_future(client.call_tool("wait")) for _ in range(64)]
        await agents.until(lambda: len(agents.calls) == 64)
        refused = await client.call_tool("echo", {"text": "one more"})
        agents.may_end.set()
        done = await asyncio.gather(*waiting)
        again = await client.call_tool("echo", {"text": "one more"})
    assert refused.is_error and isinstance(refused.content[0], TextContent)
    assert refused.content[0].text == "64 calls are already running. Wait until one ends, then try again."
    assert not any(result.is_error for result in done) and not again.is_error


@BOTH
async def test_nothing_is_left_when_the_server_stops_in_a_call(
    programs: Programs, agents: PortAgents, services: Services, mode: str
) -> None:
    before = asyncio.all_tasks()
    call = asyncio.ensure_future(
        programs.post(modern_request("tools/call", name="wait"))
        if mode == MODERN
        else programs.post_in_session(await programs.session(), "tools/call", name="wait")
    )
    await agents.begun.wait()
    await services.mcp_endpoint.stop()
    assert agents.ended == ["cancelled"]
    with suppress(httpx2.HTTPError):
        assert (await call).status_code == 503
    left = [task for task in asyncio.all_tasks() - before if task is not asyncio.current_task() and _is_ours(task)]
    assert not left


def _is_ours(task: asyncio.Task[object]) -> bool:
    return any(
        name in repr(task) for name in ("hdsp_agent/mcp", "comm/mcp", "hdsp-agent mcp", "sse_starlette", "mcp/server")
    )


async def test_whoever_is_connected_is_disconnected_when_the_server_is_switched_off(
    programs: Programs, agents: PortAgents, services: Services
) -> None:
    async with programs.connected(MODERN) as client:
        call = asyncio.ensure_future(client.call_tool("wait"))
        await agents.begun.wait()
        await services.config.update({"mcpServerEnabled": False})
        with pytest.raises(MCPError, match="were disconnected"):
            await call
        await agents.until(lambda: not agents.clients)
        assert agents.ended == ["cancelled"]
        with pytest.raises(MCPError, match="may not connect"):
            await client.call_tool("echo")
        await services.config.update({"mcpServerEnabled": True})
        assert (await client.call_tool("echo", {"text": "back"})).structured_content == {"text": "back"}


async def test_a_session_that_its_program_ends_is_not_connected_any_more(
    programs: Programs, agents: PortAgents
) -> None:
    async with programs.connected("legacy") as client:
        await client.list_tools()
        assert len(agents.clients) == 1
    assert agents.clients == {}
