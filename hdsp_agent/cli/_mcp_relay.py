"""Carries the protocol's messages between a program's pipes and a running server, whatever they say."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ..errors import HdspAgentError, Unavailable
from ..mcp.connection_check import START_SECONDS, is_unknown_here, not_installed
from ._mcp_target import McpTarget

if TYPE_CHECKING:
    import httpx2
    from pydantic import JsonValue

    from ..messages import JsonObject

__all__ = ["Relay"]

_PARSE_ERROR: Final = -32700
_SERVER_ERROR: Final = -32000
_VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
_SESSION: Final = "mcp-session-id"
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Whose name goes into a header too, so that proxies can route by it."""
_PLAIN: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_ENCODED: Final = re.compile(r"=\?base64\?.*\?=")
_MOST_EVENT_BYTES: Final = 256 * 1024 * 1024
_RETRY_SECONDS: Final = (*START_SECONDS, 4.0, 8.0)
"""A server that restarts is back within this."""


class _Gone(Exception):
    """The server does not know the session any more, or us: it was restarted."""


class _Starting(Exception):
    """Jupyter answers, and has not got to loading us, or will not."""


class Relay:
    """One program's. ``find`` says where the server is now; ``write`` takes a line for the program."""

    def __init__(self, find: Callable[[], McpTarget], write: Callable[[bytes], Awaitable[None]]) -> None:
        self._find = find
        self._write = write
        self._target: McpTarget | None = None
        self._client: httpx2.AsyncClient | None = None
        self._session: str | None = None
        self._version: str | None = None
        self._hello: JsonObject | None = None
        """The program's ``initialize``, for when the server is a new one."""
        self._was_connected = False
        self._connecting = asyncio.Lock()
        self._requests: dict[str, asyncio.Task[None]] = {}

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Until the program ends its side. What it still waits for is given up."""
        try:
            async for line in lines:
                if line.strip():
                    await self._take(line)
        finally:
            await self._leave()

    async def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            await self._answer_error(None, _PARSE_ERROR, "This is not a JSON-RPC message.")
            return
        method, request_id = message.get("method"), message.get("id")
        if method == "initialize":
            self._hello, self._session, self._version = message, None, None
            # What follows depends on its answer.
            await self._request(message)
        elif method is not None and "id" in message:
            task = asyncio.create_task(self._request(message))
            key = _key(request_id)
            self._requests[key] = task
            task.add_done_callback(lambda _: self._requests.pop(key, None))
        elif method == "notifications/cancelled" and self._session is None:
            # Without sessions, closing the answer is what cancels.
            params = message.get("params")
            task_or_none = self._requests.get(_key(params.get("requestId"))) if isinstance(params, dict) else None
            if task_or_none is not None:
                task_or_none.cancel()
        else:
            await self._tell(message)

    async def _request(self, message: JsonObject) -> None:
        try:
            await self._delivered(message)
        except HdspAgentError as error:
            await self._answer_error(message.get("id"), _SERVER_ERROR, error.message)
        except Exception as error:  # noqa: BLE001 -- a message that fails must not end the others
            await self._answer_error(message.get("id"), _SERVER_ERROR, f"The connection failed: {_said(error)}.")

    async def _tell(self, message: JsonObject) -> None:
        """A notification, or the answer to a question of the server's; nobody waits for what becomes of it."""
        import httpx2

        with suppress(httpx2.HTTPError, HdspAgentError):
            client, target = await self._connected()
            await client.post(target.url, content=_line(message), headers=self._headers(message))

    async def _delivered(self, message: JsonObject) -> None:
        """Send it to the server that runs now. What may have begun is never sent twice."""
        import httpx2

        for pause in (*_RETRY_SECONDS, None):
            client: httpx2.AsyncClient | None = None
            try:
                client, target = await self._connected()
                await self._exchange(client, target, message)
                return
            except (httpx2.ConnectError, httpx2.ConnectTimeout, _Gone, Unavailable) as error:
                # Only a server that was there can be restarting.
                if pause is None or not self._was_connected:
                    raise error if isinstance(error, HdspAgentError) else Unavailable(_lost(error)) from None
                await self._reconnect(client, pause, greet=message.get("method") != "initialize")
            except _Starting:
                if pause not in START_SECONDS:
                    raise Unavailable(not_installed(target.url)) from None
                await asyncio.sleep(pause)
            except httpx2.HTTPError as error:
                raise _ended_meanwhile(_said(error)) from None

    async def _exchange(self, client: httpx2.AsyncClient, target: McpTarget, message: JsonObject) -> None:
        async with client.stream(
            "POST", target.url, content=_line(message), headers=self._headers(message)
        ) as response:
            if response.status_code == 401 or (response.status_code == 404 and self._session is not None):
                raise _Gone
            if response.status_code == 404 and is_unknown_here(404, await response.aread()):
                raise _Starting
            self._was_connected = True
            if response.status_code >= 300:
                await self._refused(message, response)
                return
            if message.get("method") == "initialize":
                self._session = response.headers.get(_SESSION)
            is_answered = False
            async for data in _messages(response):
                answer = json.loads(data)
                is_answered = is_answered or (answer.get("id") == message.get("id") and "method" not in answer)
                if message.get("method") == "initialize":
                    self._learn(answer)
                await self._write(data)
            if not is_answered:
                raise _ended_meanwhile("it closed the answer")

    async def _refused(self, message: JsonObject, response: httpx2.Response) -> None:
        """Pass on what the protocol says of it, else the status."""
        body = await response.aread()
        try:
            answer = json.loads(body)
            error = answer["error"]
            code, text = int(error["code"]), str(error["message"])
        except (ValueError, KeyError, TypeError):
            where = response.headers.get("location")
            code, text = _SERVER_ERROR, f"The server answered {response.status_code}."
            if where is not None:
                text = "The server wants a person to log in. Set HDSP_AGENT_TOKEN to a token of it."
            answer = {}
        if isinstance(answer, dict) and answer.get("id") is not None:
            await self._write(_line(answer))
        else:
            await self._answer_error(message.get("id"), code, text)

    def _learn(self, answer: JsonObject) -> None:
        """Which version was agreed on; later requests name it."""
        match answer.get("result"):
            case {"protocolVersion": str(version)}:
                self._version = version

    def _headers(self, message: JsonObject) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        method, params = message.get("method"), message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        version = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
        if isinstance(version, str) and isinstance(method, str):
            headers |= {"MCP-Protocol-Version": version, "Mcp-Method": method}
            name = params.get(_NAMED.get(method, "")) if isinstance(params, dict) else None
            if isinstance(name, str):
                headers["Mcp-Name"] = _header_value(name)
            return headers
        if self._session is not None and method != "initialize":
            headers[_SESSION] = self._session
        if self._version is not None and method != "initialize":
            headers["MCP-Protocol-Version"] = self._version
        return headers

    async def _connected(self) -> tuple[httpx2.AsyncClient, McpTarget]:
        async with self._connecting:
            return await self._open()

    async def _open(self) -> tuple[httpx2.AsyncClient, McpTarget]:
        if self._client is None or self._target is None:
            self._target = await asyncio.to_thread(self._find)
            self._client = self._target.client()
        return self._client, self._target

    async def _reconnect(self, before: httpx2.AsyncClient | None, pause: float, *, greet: bool) -> None:
        """Look for the server anew; one that knows no sessions of before is greeted as the program greeted the first."""
        async with self._connecting:
            if self._client is not before:
                # Another request that was lost did it.
                return
            await asyncio.sleep(pause)
            self._target, self._client = None, None
            if before is not None:
                await before.aclose()
            if greet and self._hello is not None and self._session is not None:
                await self._greet(self._hello)

    async def _greet(self, hello: JsonObject) -> None:
        import httpx2

        try:
            client, target = await self._open()
            response = await client.post(target.url, content=_line(hello), headers=self._headers(hello))
            if response.status_code < 300 and _SESSION in response.headers:
                self._session = response.headers[_SESSION]
                told: JsonObject = {"jsonrpc": "2.0", "method": "notifications/initialized"}
                await client.post(target.url, content=_line(told), headers=self._headers(told))
        except (httpx2.HTTPError, Unavailable):
            # Tried again after the next pause: the server is still starting.
            return

    async def _answer_error(self, request_id: JsonValue, code: int, message: str) -> None:
        error = {"code": code, "message": message}
        await self._write(_line({"jsonrpc": "2.0", "id": request_id, "error": error}))

    async def _leave(self) -> None:
        import httpx2

        tasks = list(self._requests.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self._client is None or self._target is None:
            return
        if self._session is not None:
            # It may be ending itself, or be gone already.
            with suppress(httpx2.HTTPError):
                await self._client.delete(self._target.url, headers={_SESSION: self._session}, timeout=2.0)
        await self._client.aclose()


async def _messages(response: httpx2.Response) -> AsyncIterator[bytes]:
    """What the answer holds, one message at a time: a body of JSON, or a stream of events."""
    import httpx2

    if response.headers.get("content-type", "").startswith("text/event-stream"):
        async for event in httpx2.EventSource(response, max_event_size=_MOST_EVENT_BYTES):
            if event.event == "message" and event.data:
                yield _one_line(event.data.encode())
    elif body := await response.aread():
        yield _one_line(body)


def _one_line(data: bytes) -> bytes:
    return _line(json.loads(data)) if b"\n" in data.strip() else data.strip()


def _line(message: object) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def _key(request_id: JsonValue) -> str:
    """``1`` and ``"1"`` are two requests."""
    return json.dumps(request_id)


def _header_value(text: str) -> str:
    """As the protocol writes in a header what a header cannot hold."""
    if _PLAIN.fullmatch(text) and not _ENCODED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'surrogatepass')).decode('ascii')}?="


def _lost(error: Exception) -> str:
    if isinstance(error, _Gone):
        return "The server does not let this program in. Restart the program, or check the token."
    return f"The Jupyter Server does not answer ({_said(error)}). Start JupyterLab again."


def _ended_meanwhile(why: str) -> Unavailable:
    return Unavailable(f"The server ended while this ran ({why}). Look at the notebook before you try again.")


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
