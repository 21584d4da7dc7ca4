"""A person's tab of the panel that comes back after a lost connection, as the page itself does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import uuid4

from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, WebSocketError, websocket_connect

from hdsp_agent._timeouts import wait_at_most
from hdsp_agent._version import __version__
from tests._helpers.timing import PATIENCE
from tests.comm._helpers.scripted_pages import asked, conversation, question, said
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import messages

__all__ = ["LastingTab"]

Row = dict[str, object]
_PATIENCE = 3 * PATIENCE
"""A dozen processes start here."""


class LastingTab:
    """One tab, whatever number of connections it had: ``panel.frames`` are those of all of them."""

    def __init__(self, name: str, url: str, headers: dict[str, str]) -> None:
        self.name = name
        self._panels: list[Panel] = []
        self._url = f"ws{url.removeprefix('http')}hdsp-agent/comm"
        self._headers = headers
        self._epoch = ""
        self._beating: asyncio.Task[None] | None = None
        self._coming_back = asyncio.Lock()

    async def open(self) -> None:
        """Connect for the first time, and hear the state."""
        self._panels.append(Panel(await self._connected(), self.name))
        self._epoch = (await self.panel.open(version=__version__))["data"]["epoch"]
        await self.panel.until(lambda: messages(self.panel, "state"))
        self._beating = asyncio.create_task(self._beat(self.panel))

    async def come_back(self) -> None:
        """Connect again once the connection is lost, as soon as the server lets it, and hear what was missed."""
        gone = self.panel
        await wait_at_most(gone.closed.wait(), _PATIENCE)
        async with self._coming_back:
            if self.panel is gone:
                await self._come_back()

    async def _come_back(self) -> None:
        before = self.panel.frames
        # Tornado takes one that the other end closed for one that was forgotten.
        self.panel.socket.close()
        if self._beating is not None:
            await self._beating
        panel = Panel(await self._let_in_again(), self.name)
        panel.frames = [*before]
        self._panels.append(panel)
        hellos = len(panel.of("open"))
        newest = max(panel.numbers, default=0)
        hello = {"clientId": self.name, "version": __version__, "protocol": 1, "lastSeq": newest, "epoch": self._epoch}
        await panel.say({"op": "open", "commId": panel.comm_id, "data": {"target": "hdsp_agent.webview", **hello}})
        await panel.until(lambda: len(panel.of("open")) > hellos)
        assert panel.of("open")[-1]["data"]["resumed"], "what was missed is not known any more"
        self._beating = asyncio.create_task(self._beat(panel))

    async def _let_in_again(self) -> WebSocketClientConnection:
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                return await self._connected()
            except (OSError, HTTPClientError, WebSocketError) as error:
                assert time.monotonic() < deadline, f"{self.name} was not let in again: {error!r}"
                await asyncio.sleep(0.1)

    async def ask(self, type_: str, **fields: object) -> Any:
        """Ask once; where the connection is lost before the answer, ask the same again. The result, if it is a good one."""
        request_id = uuid4().hex
        while True:
            if self.panel.closed.is_set():
                await self.come_back()
            panel = self.panel
            try:
                await panel.send_request(type_, request_id, **fields)
                await panel.until(
                    lambda panel=panel: panel.acks(request_id) or panel.closed.is_set(),  # type: ignore[misc]
                    _PATIENCE,
                )
            except WebSocketClosedError:
                await panel.closed.wait()
            if acks := panel.acks(request_id):
                assert len(acks) == 1 and acks[0]["ok"], acks
                return acks[0].get("result")

    async def reply(self, kind: str, response: str = "yesButtonClicked", **fields: object) -> str:
        """Answer the question of this kind, once it is on screen; what it says."""
        await self.until(lambda: asked(self.panel, kind))
        ts = await question(self.panel, kind)
        text = next(str(row.get("text")) for row in asked(self.panel, kind) if row["ts"] == ts)
        await self.ask("askResponse", messageTs=ts, askResponse=response, **fields)
        return text

    async def hears(self, text: str) -> None:
        """Wait until the model's words on screen have this among them."""
        await self.until(lambda: any(text in words for words in said(self.panel, "text")))

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until what is on screen fulfils this."""
        try:
            await self.panel.until(condition, _PATIENCE)
        except TimeoutError:
            raise AssertionError(f"{self.name} has on screen: {list(self.screen.values())[-6:]}") from None

    @property
    def panel(self) -> Panel:
        """Its present connection, with what it heard by all of them."""
        return self._panels[-1]

    @property
    def screen(self) -> dict[int, Row]:
        """The conversation."""
        return conversation(self.panel)

    async def leave(self) -> None:
        """Close it."""
        if self._panels:
            await self.panel.leave()
        if self._beating is not None:
            await self._beating

    async def _beat(self, panel: Panel) -> None:
        """Answer the server, which would take a silent tab for a dead one."""
        answered = len(panel.of("ping"))

        def is_asked() -> bool:
            return len(panel.of("ping")) > answered or panel.closed.is_set()

        with suppress(WebSocketClosedError):
            while not panel.closed.is_set():
                await panel.until(is_asked, 10 * _PATIENCE)
                answered = len(panel.of("ping"))
                await panel.say({"op": "pong", "commId": panel.comm_id})

    async def _connected(self) -> WebSocketClientConnection:
        return await websocket_connect(HTTPRequest(self._url, headers=self._headers, request_timeout=_PATIENCE))
