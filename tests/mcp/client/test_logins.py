"""Logging in to a remote server by OAuth, with a real authorization server and a browser that follows redirects."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from hdsp_agent.errors import InvalidInput, NotFound, Unavailable
from hdsp_agent.mcp.client._saved_secrets import SavedSecrets
from hdsp_agent.mcp.client._server_config import ServerConfig

from ._helpers.http_servers import answering_server, sample_http_server
from ._helpers.hubs import ME, TestedHub, hostile, running_hub, until

BACK = "http://127.0.0.1:8888/hdsp-agent/mcp-login"


@asynccontextmanager
async def remote_hub(home: Path) -> AsyncIterator[TestedHub]:
    """A hub with one server that wants a log-in."""
    async with (
        sample_http_server(module="login_server") as url,
        running_hub(home, {"remote": {"url": url}}) as tested,
    ):
        yield tested


async def page_of(tested: TestedHub) -> str:
    """The page at which one logs in."""
    return await tested.hub.log_in(ME, tested.workspace, "remote", "global", BACK)


async def came_back(page: str) -> dict[str, str]:
    """What the authorization server sends the browser back with."""
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as browser:
        answer = await browser.get(page)
    target = urlsplit(answer.headers["location"])
    assert f"{target.scheme}://{target.netloc}{target.path}" == BACK
    return {name: values[0] for name, values in parse_qs(target.query).items()}


async def log_in(tested: TestedHub) -> None:
    """All of it."""
    back = await came_back(await page_of(tested))
    tested.hub.logins(ME).come_back(back["state"], back["code"], back.get("iss"), None)
    await until(lambda: tested.connection("remote").status == "connected")


def let_tokens_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hours pass for whoever uses them."""
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 7200)


async def test_one_logs_in_and_stays_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with remote_hub(tmp_path) as tested:
        connection = tested.connection("remote")
        assert (connection.error, connection.wants_login) == ("This server wants you to log in.", True)
        await log_in(tested)
        assert not connection.wants_login
        assert tested.hub.logins(ME).is_logged_in(connection.config)
        assert "1 clients" in await tested.said("renewals", server="remote")
        # The token is over, and is renewed without anybody.
        let_tokens_end(monkeypatch)
        assert await tested.said("renewals", server="remote") == "1 renewals, 1 clients"
        # Another life: the tokens are where keys are kept, and what is over is renewed, too.
        let_tokens_end(monkeypatch)
        await connection.restart()
        assert await tested.said("renewals", server="remote") == "2 renewals, 1 clients"
        assert not any("token" in file.read_text() for file in tested.home.glob("*.json"))
        await tested.hub.log_out(ME, tested.workspace, "remote", "global")
        for part in ("tokens", "client", "metadata"):
            assert await SavedSecrets(tested.secrets).login(connection.config, part) is None
        await connection.settled()
        assert connection.wants_login


async def test_tokens_renewed_while_the_connection_is_stopped_are_the_next_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, renewed, arriving = httpx2.AsyncHTTPTransport.handle_async_request, asyncio.Event(), asyncio.Event()

    async def slowly(self: httpx2.AsyncHTTPTransport, request: httpx2.Request) -> httpx2.Response:
        answer = await send(self, request)
        if request.url.path == "/token":
            renewed.set()
            await arriving.wait()
        return answer

    async with remote_hub(tmp_path) as tested:
        await log_in(tested)
        connection = tested.connection("remote")
        let_tokens_end(monkeypatch)
        monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", slowly)
        asking = asyncio.create_task(tested.said("renewals", server="remote"))
        # The server has taken the old ones back, and its answer is on the way.
        await renewed.wait()
        await connection.restart()
        asking.cancel()
        await asyncio.wait([asking])
        arriving.set()
        await connection.settled()
        assert not connection.wants_login
        assert await tested.said("renewals", server="remote") == "1 renewals, 1 clients"


async def test_who_signs_out_while_tokens_are_written_is_signed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, writing, written = SavedSecrets.keep_login, asyncio.Event(), asyncio.Event()

    async def slowly(self: SavedSecrets, server: ServerConfig, part: str, value: str) -> None:
        async def write() -> None:
            writing.set()
            await written.wait()
            await keep(self, server, part, value)

        # A keyring writes in a thread, which goes on when nobody waits for it any more.
        await asyncio.shield(asyncio.ensure_future(write()))

    async with remote_hub(tmp_path) as tested:
        await log_in(tested)
        connection = tested.connection("remote")
        # The token is over: starting again, it is renewed.
        let_tokens_end(monkeypatch)
        monkeypatch.setattr(SavedSecrets, "keep_login", slowly)
        starting = asyncio.create_task(connection.restart())
        await writing.wait()
        leaving = asyncio.create_task(tested.hub.log_out(ME, tested.workspace, "remote", "global"))
        await until(lambda: not tested.hub.logins(ME).is_logged_in(connection.config))
        await asyncio.sleep(0.1)
        written.set()
        await leaving
        await starting
        await connection.settled()
        assert connection.wants_login
        for part in ("tokens", "metadata"):
            assert await SavedSecrets(tested.secrets).login(connection.config, part) is None


async def test_what_nobody_asked_for_is_not_taken(tmp_path: Path) -> None:
    async with remote_hub(tmp_path) as tested:
        page = await page_of(tested)
        for state in ("", "another"):
            with pytest.raises(NotFound):
                tested.hub.logins(ME).come_back(state, "a code", None, None)
        back = await came_back(page)
        # Another person's browser has the address, and does not wait for it.
        with pytest.raises(NotFound):
            tested.hub.logins("somebody else").come_back(back["state"], back["code"], None, None)
        tested.hub.logins(ME).come_back(back["state"], "a code that is none", back.get("iss"), None)
        await until(lambda: tested.connection("remote").status == "disconnected")
        with pytest.raises(NotFound):
            tested.hub.logins(ME).come_back(back["state"], back["code"], back.get("iss"), None)
        await log_in(tested)


async def test_a_log_in_that_is_refused_says_so(tmp_path: Path) -> None:
    async with remote_hub(tmp_path) as tested:
        back = parse_qs(urlsplit(await page_of(tested)).query)
        tested.hub.logins(ME).come_back(back["state"][0], None, None, "access_denied")
        await until(lambda: tested.connection("remote").error)
        assert tested.connection("remote").error == "The log-in was refused: access_denied."


async def test_tokens_go_to_no_other_address(tmp_path: Path) -> None:
    async with remote_hub(tmp_path) as tested:
        await log_in(tested)
        with answering_server("plain") as (other, seen):
            tested.write({"remote": {"url": other}})
            await until(lambda: tested.state("remote").connection is None)
            await tested.ready()
            assert tested.connection("remote").status == "connected"
            assert seen
            assert not any("Authorization" in headers for headers in seen)


@pytest.mark.parametrize("back", ["javascript:alert(1)", "http:///x", "https://a/b?c=d", "x"])
async def test_a_strange_way_back_is_refused(tmp_path: Path, back: str) -> None:
    with answering_server("no-log-in") as (url, _):
        async with running_hub(tmp_path, {"remote": {"url": url}, "local": hostile("plain")}) as tested:
            with pytest.raises(InvalidInput):
                await tested.hub.log_in(ME, tested.workspace, "remote", "global", back)
            with pytest.raises(InvalidInput, match="web address"):
                await tested.hub.log_in(ME, tested.workspace, "local", "global", BACK)


async def test_one_without_a_log_in_says_so(tmp_path: Path) -> None:
    with answering_server("no-log-in") as (url, _):
        async with running_hub(tmp_path, {"remote": {"url": url}}) as tested:
            with pytest.raises(Unavailable):
                await page_of(tested)
