"""Several people on one server: everybody has their own agents, and who may only look changes nothing."""

from __future__ import annotations

import pytest
from mcp_types import TextContent

from tests.attacks._helpers.people import ADA, BOB, READER, server_of
from tests.mcp._helpers.http_programs import MODERN, Programs
from tests.mcp._helpers.port_agents import PortAgents

BOTH = pytest.mark.parametrize("mode", ["legacy", MODERN])


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    return server_of(jp_server_config)


@BOTH
async def test_calls_belong_to_whoever_is_logged_in(programs: Programs, agents: PortAgents, mode: str) -> None:
    for person in (ADA, BOB):
        async with programs.connected(mode, headers=person) as client:
            await client.call_tool("echo")
    assert [client.owner for client, _, _ in agents.calls] == ["ada", "bob"]
    assert agents.calls[0][0].key != agents.calls[1][0].key


async def test_a_session_is_unknown_to_everybody_else(programs: Programs) -> None:
    ada, bob = (Programs(programs.url, {**programs.headers, **person}) for person in (ADA, BOB))
    session = await ada.session()
    assert (await bob.post_in_session(session, "tools/list")).status_code == 404
    assert (await ada.post_in_session(session, "tools/list")).status_code == 200


@BOTH
async def test_a_reader_sees_and_calls_only_what_changes_nothing(
    programs: Programs, agents: PortAgents, mode: str
) -> None:
    async with programs.connected(mode, headers=READER) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        refused = await client.call_tool("write", {"text": "x"})
        seen = await client.call_tool("echo", {"text": "x"})
    assert "write" not in names and "echo" in names
    assert refused.is_error and isinstance(refused.content[0], TextContent)
    assert "so write is not allowed" in refused.content[0].text
    assert not seen.is_error and agents.written == []
    async with programs.connected(mode, headers=ADA) as client:
        assert not (await client.call_tool("write", {"text": "y"})).is_error
    assert agents.written == ["y"]
