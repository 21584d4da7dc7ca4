"""Tabs of a browser on the real channel, each with notebooks it does in memory what the server asks for."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from pydantic import TypeAdapter

from hdsp_agent.messages import (
    ApplyNotebookOperationsMessage,
    ChangeOutputsMessage,
    NotebookUpdate,
    ReadNotebookMessage,
    ReloadNotebookMessage,
)
from tests.comm.channel._helpers.channel_panel import Panel
from tests.notebooks._helpers.pages import Page

__all__ = ["BrowserTab"]

_UPDATES: TypeAdapter[Any] = TypeAdapter(NotebookUpdate)
_TYPES = {
    "applyNotebookOperations",
    "changeOutputs",
    "notebookWork",
    "readNotebook",
    "reloadNotebook",
}


class BrowserTab:
    """A tab: it tells what it has open, does what it is asked, and reloads what it is told to."""

    def __init__(self, panel: Panel, *pages: Page) -> None:
        self.panel = panel
        self.pages = list(pages)
        self.reloads = 0
        self.answers = True
        self.deaf: Callable[[object], bool] = lambda message: False
        """Messages it receives and does nothing about."""
        self.heard: list[object] = []
        self.change_answer: Callable[[dict[str, object]], dict[str, object]] = lambda answer: answer
        self._read = 0

    async def tell(self, renamed: dict[str, str] | None = None) -> None:
        """Say what it has open."""
        fields: dict[str, object] = {"notebooks": [page.told().to_wire() for page in self.pages]}
        if renamed:
            fields["renamed"] = renamed
        answer = await self.panel.ask("openNotebooks", request_id=uuid.uuid4().hex, **fields)
        assert answer["ok"], answer

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[BrowserTab]:
        """It does what it is asked for in this block."""
        worker = asyncio.create_task(self._work())
        try:
            yield self
        finally:
            worker.cancel()
            with suppress(asyncio.CancelledError, AssertionError):
                await worker

    async def _work(self) -> None:
        while True:
            await self.panel.until(lambda: len(self.panel.frames) > self._read, seconds=60)
            while self._read < len(self.panel.frames):
                frame = self.panel.frames[self._read]
                self._read += 1
                if frame["op"] == "msg" and frame["data"]["type"] in _TYPES:
                    await self._do(_UPDATES.validate_python(frame["data"]))

    async def _do(self, message: object) -> None:
        self.heard.append(message)
        if self.deaf(message):
            return
        match message:
            case ApplyNotebookOperationsMessage():
                page = self.page(message.path)
                answer = page.apply(message) if page else None
                await self._answer(answer, "notebookOperationsResult", message.op_id, saved=False)
            case ReadNotebookMessage():
                page = self.page(message.path)
                await self._answer(page.read(message) if page else None, "notebookPage", message.op_id)
            case ChangeOutputsMessage():
                for page in self.pages:
                    if page.path == message.path:
                        page.show(message)
            case ReloadNotebookMessage():
                self.reloads += 1
                page = self.page(message.path)
                if page is not None and page.content_hash != message.content_hash:
                    page.reload()
                    await self._tell_without_waiting()
            case _:
                pass

    def page(self, path: str) -> Page | None:
        return next((page for page in self.pages if page.path == path), None)

    async def _answer(self, answer: Any, type_: str, op_id: str, **missing: object) -> None:
        fields = answer.to_wire() if answer is not None else {"opId": op_id, "status": "notOpen", **missing}
        fields = self.change_answer({key: value for key, value in fields.items() if key not in ("type", "requestId")})
        if self.answers:
            await self.panel.send_request(str(fields.pop("type", type_)), uuid.uuid4().hex, **fields)

    async def _tell_without_waiting(self) -> None:
        notebooks = [page.told().to_wire() for page in self.pages]
        await self.panel.send_request("openNotebooks", uuid.uuid4().hex, notebooks=notebooks)
