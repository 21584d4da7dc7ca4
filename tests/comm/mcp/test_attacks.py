"""Who may not, may not; what is too much ends; and nobody is held up by others."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from hdsp_agent.comm.services import Services
from hdsp_agent.mcp.server.caller import FOLDER_HEADER
from tests.attacks._helpers.raw_http import Answer, request
from tests.mcp._helpers.http_programs import LEGACY, MODERN, Programs, modern_headers, modern_request
from tests.mcp._helpers.port_agents import SLOW, PortAgents

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

LIST = modern_request("tools/list")


class _Hearing(logging.Handler):
    """Sets an event when something is logged."""

    def __init__(self, words: str, event: asyncio.Event) -> None:
        super().__init__()
        self._words, self._event = words, event

    def emit(self, record: logging.LogRecord) -> None:
        if self._words in record.getMessage():
            self._event.set()


async def _sent(
    port: int, base: str, headers: Mapping[str, str], body: bytes = json.dumps(LIST).encode(), method: str = "POST"
) -> Answer:
    return await request(port, method, f"{base}hdsp-agent/mcp", {**modern_headers(LIST), **headers}, body)


def _sentence(answer: Answer) -> str:
    refusal = json.loads(answer.body)
    assert refusal["jsonrpc"] == "2.0" and refusal["id"] is None
    sentence: str = refusal["error"]["message"]
    return sentence


async def test_nothing_is_reachable_without_a_token(
    programs: Programs, agents: PortAgents, jp_http_port: int, jp_base_url: str
) -> None:
    for method in ("POST", "GET", "DELETE"):
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": "_xsrf=1"}):
            answer = await _sent(jp_http_port, jp_base_url, headers, method=method)
            assert answer.status == 401, (method, headers, answer.text)
            assert "Log in first" in _sentence(answer) and answer.header("WWW-Authenticate") == "Bearer"
    assert agents.calls == []


async def test_a_page_of_another_site_is_refused_even_with_the_token(
    programs: Programs, jp_http_port: int, jp_base_url: str
) -> None:
    own = f"http://127.0.0.1:{jp_http_port}"
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1", f"{own}.evil.example"):
        answer = await _sent(jp_http_port, jp_base_url, {**programs.headers, "Origin": origin})
        assert (answer.status, _sentence(answer)) == (403, "Pages of other sites may not connect."), origin
    assert (await _sent(jp_http_port, jp_base_url, {**programs.headers, "Origin": own})).status == 200


async def test_a_page_that_the_operators_pattern_does_not_name_is_refused_even_with_the_token(
    programs: Programs, jp_serverapp: ServerApp, jp_http_port: int, jp_base_url: str
) -> None:
    jp_serverapp.web_app.settings["allow_origin_pat"] = r"https://lab\.example"
    for origin in ("https://evil.example", "https://lab-example", "null"):
        answer = await _sent(jp_http_port, jp_base_url, {**programs.headers, "Origin": origin})
        assert (answer.status, _sentence(answer)) == (403, "Pages of other sites may not connect."), origin
    allowed = {**programs.headers, "Origin": "https://lab.example"}
    assert (await _sent(jp_http_port, jp_base_url, allowed)).status == 200


@pytest.mark.parametrize("folder", ["%00", "a%00b", "relative", "%ff%fe", "/" * 5_000, "~", "%2e%2e"])
async def test_a_folder_that_is_none_is_no_accident(
    programs: Programs, agents: PortAgents, jp_http_port: int, jp_base_url: str, folder: str
) -> None:
    headers = {**programs.headers, FOLDER_HEADER: folder}
    assert (await _sent(jp_http_port, jp_base_url, headers)).status == 200
    assert [client.folder for client in agents.clients.values()] == [None]


async def test_a_program_without_a_session_cannot_pass_for_that_of_another(
    programs: Programs, agents: PortAgents, jp_http_port: int, jp_base_url: str
) -> None:
    session = await programs.session()
    assert (await programs.post_in_session(session, "tools/list")).status_code == 200
    [mine] = agents.clients
    headers = {**programs.headers, "Mcp-Session-Id": mine}
    assert (await _sent(jp_http_port, jp_base_url, headers)).status == 200
    assert len(agents.clients) == 2


@pytest.mark.parametrize("name", ["\u3164", "\u2800\ufe0f", "\u200b \u00ad", ""])
async def test_a_name_that_nobody_sees_is_none(programs: Programs, agents: PortAgents, name: str) -> None:
    async with programs.connected(MODERN, name=f"Claude{name} Code") as client:
        await client.list_tools()
    assert [client.name for client in agents.clients.values()] == ["Claude Code"]
    agents.clients.clear()
    async with programs.connected(MODERN, name=f"{name}\u115f") as client:
        await client.list_tools()
    assert [client.name for client in agents.clients.values()] == ["Another agent"]


async def test_a_name_that_was_bound_to_this_machine_is_refused(
    programs: Programs, jp_http_port: int, jp_base_url: str
) -> None:
    host = f"evil.example:{jp_http_port}"
    answer = await _sent(jp_http_port, jp_base_url, {**programs.headers, "Host": host, "Origin": f"http://{host}"})
    assert (answer.status, "does not go by that name" in _sentence(answer)) == (403, True)
    local = await _sent(jp_http_port, jp_base_url, {**programs.headers, "Host": f"localhost:{jp_http_port}"})
    assert local.status == 200


async def test_it_is_off_until_somebody_switches_it_on(
    programs: Programs, services: Services, jp_http_port: int, jp_base_url: str
) -> None:
    await services.config.update({"mcpServerEnabled": False})
    answer = await _sent(jp_http_port, jp_base_url, programs.headers)
    assert answer.status == 403
    assert "Connect another agent" in _sentence(answer)
    assert json.loads(answer.body)["error"]["data"] == {"code": "switched_off"}


async def test_a_body_that_is_too_large_is_refused_and_not_kept(
    programs: Programs, services: Services, jp_http_port: int, jp_base_url: str
) -> None:
    limit = services.mcp_endpoint.max_body_bytes
    large = json.dumps(modern_request("tools/list", text="x" * limit)).encode()
    answer = await _sent(jp_http_port, jp_base_url, programs.headers, large)
    assert (answer.status, _sentence(answer)) == (413, f"The request's body is larger than {limit} bytes.")
    deep = b'{"a":' * 30_000
    assert (await _sent(jp_http_port, jp_base_url, programs.headers, deep)).status == 413
    assert (await _sent(jp_http_port, jp_base_url, programs.headers)).status == 200


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"1", b'"x"', b"[" * 5_000, b'{"jsonrpc":"2.0","id":{},"method":1}', b"\xff\xfe"],
)
@pytest.mark.parametrize("version", [LEGACY, MODERN])
async def test_what_is_no_message_is_an_error_and_no_accident(
    programs: Programs, jp_http_port: int, jp_base_url: str, body: bytes, version: str
) -> None:
    session = await programs.session() if version == LEGACY else {}
    headers = {**programs.headers, **session, "MCP-Protocol-Version": version}
    answer = await _sent(jp_http_port, jp_base_url, headers, body)
    assert answer.status == 400, answer.text


@pytest.mark.parametrize("mode", ["legacy", MODERN])
@pytest.mark.parametrize("what", ["tool", "resource"])
async def test_a_program_that_vanishes_in_a_call_leaves_nothing_running(
    programs: Programs, agents: PortAgents, jp_http_port: int, jp_base_url: str, mode: str, what: str
) -> None:
    session = await programs.session() if mode == "legacy" else {}
    asks = what == "resource"
    message = modern_request("resources/read", uri=SLOW) if asks else modern_request("tools/call", name="wait")
    headers = {
        "Host": f"127.0.0.1:{jp_http_port}",
        **programs.headers,
        **(modern_headers(message) if mode == MODERN else {"Accept": "application/json, text/event-stream", **session}),
        "Content-Type": "application/json",
    }
    body = json.dumps(message).encode()
    head = [f"POST {jp_base_url}hdsp-agent/mcp HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    _, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
    writer.write("\r\n".join([*head, f"Content-Length: {len(body)}"]).encode() + b"\r\n\r\n" + body)
    await agents.begun.wait()
    writer.transport.abort()
    writer.close()
    await agents.until(lambda: bool(agents.ended))
    assert agents.ended == ["cancelled"]


async def test_a_program_that_does_not_read_is_cut_off_and_holds_up_nobody(
    programs: Programs,
    agents: PortAgents,
    services: Services,
    jp_http_port: int,
    jp_base_url: str,
    jp_serverapp: ServerApp,
) -> None:
    services.mcp_endpoint.write_seconds = 1.0
    cut_off = asyncio.Event()
    jp_serverapp.log.addHandler(_Hearing("did not read its answer", cut_off))
    message = modern_request("tools/call", name="large", arguments={"text": "40000000"})
    headers = {"Host": f"127.0.0.1:{jp_http_port}", **programs.headers, **modern_headers(message)}
    body = json.dumps(message).encode()
    head = [f"POST {jp_base_url}hdsp-agent/mcp HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    reader, writer = await asyncio.open_connection("127.0.0.1", jp_http_port, limit=1024)
    writer.write("\r\n".join([*head, f"Content-Length: {len(body)}"]).encode() + b"\r\n\r\n" + body)
    await agents.until(lambda: bool(agents.calls))
    async with programs.connected(MODERN) as other:
        assert (await other.call_tool("echo", {"text": "meanwhile"})).structured_content == {"text": "meanwhile"}
    await cut_off.wait()
    # What was in flight comes; then the connection is at its end, long before the answer is.
    received = 0
    while piece := await reader.read(1_000_000):
        received += len(piece)
    writer.close()
    assert 0 < received < 40_000_000


async def test_a_session_is_of_no_use_to_others(programs: Programs) -> None:
    session = await programs.session()
    stranger = Programs(programs.url, {})
    assert (await stranger.post_in_session(session, "tools/list")).status_code == 401
    unknown = {**session, "Mcp-Session-Id": "0" * 32}
    assert (await programs.post_in_session(unknown, "tools/list")).status_code == 404
