"""jupyter-collaboration beside the environment: switched on for one test, and a second person in its rooms."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

__all__ = [
    "FOLDER",
    "Colleague",
    "collaboration_config",
    "collaboration_environment",
    "in_room",
    "require_collaboration",
]

FOLDER = Path(__file__).parents[2] / ".collaboration"
_MISSING = "jupyter-collaboration is not installed: `make collaboration` puts it into .collaboration"


def require_collaboration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this test import it; skipped where it is not installed."""
    if not (FOLDER / "jupyter_server_ydoc").is_dir():
        pytest.skip(_MISSING)
    monkeypatch.syspath_prepend(str(FOLDER))
    # Both extensions find their modules by name.
    importlib.invalidate_caches()


def collaboration_environment() -> dict[str, str]:
    """What lets a server's process find and switch it on, as an installation would; skipped where it is missing."""
    if not (FOLDER / "jupyter_server_ydoc").is_dir():
        pytest.skip(_MISSING)
    return {
        "PYTHONPATH": str(FOLDER),
        "JUPYTER_PATH": str(FOLDER / "share" / "jupyter"),
        "JUPYTER_CONFIG_PATH": str(FOLDER / "etc" / "jupyter"),
    }


def collaboration_config(folder: Path, *, save_delay: float = 0.2) -> dict[str, dict[str, object]]:
    """The configuration of a server with collaboration on, whose databases stay in this folder."""
    return {
        "SQLiteYStore": {"db_path": str(folder / "ystore.db")},
        "BaseFileIdManager": {"db_path": str(folder / "fileids.db"), "db_journal_mode": "OFF"},
        "YDocExtension": {"document_save_delay": save_delay, "file_poll_interval": 0.2},
    }


class Colleague:
    """Another person in a room, through the WebSocket their browser would use."""

    def __init__(self, notebook: Any) -> None:
        self.notebook = notebook
        self.changes: list[str] = []
        notebook.observe(lambda target, _event: self.changes.append(target))

    @property
    def cells(self) -> list[dict[str, Any]]:
        return list(self.notebook.source["cells"])

    def source(self, index: int) -> str:
        return str(self.cells[index]["source"])

    def outputs(self, index: int) -> list[dict[str, Any]]:
        return list(self.cells[index]["outputs"])

    def state(self, index: int) -> str:
        return str(self.notebook.ycells[index]["execution_state"])

    def type_at_end(self, index: int, text: str) -> None:
        """Type into a cell."""
        source = self.notebook.ycells[index]["source"]
        source += text

    async def until(self, holds: Callable[[], object], seconds: float = 60) -> None:
        """Wait until they see this."""
        end = asyncio.get_running_loop().time() + seconds
        while not _held(holds):
            assert asyncio.get_running_loop().time() < end, f"they never saw it; they see {self.cells}"
            await asyncio.sleep(0.01)


def _held(holds: Callable[[], object]) -> bool:
    try:
        return bool(holds())
    except (IndexError, KeyError):
        return False


class _Line:
    """A tornado WebSocket as pycrdt wants a channel."""

    def __init__(self, socket: Any, path: str) -> None:
        self._socket = socket
        self.path = path

    def __aiter__(self) -> _Line:
        return self

    async def __anext__(self) -> bytes:
        message = await self._socket.read_message()
        if message is None:
            raise StopAsyncIteration
        return bytes(message)

    async def send(self, message: bytes) -> None:
        await self._socket.write_message(message, binary=True)

    async def recv(self) -> bytes:
        return await self.__anext__()


@asynccontextmanager
async def in_room(session: dict[str, str], server: str, headers: dict[str, str]) -> AsyncIterator[Colleague]:
    """A colleague has the notebook of this session open, on the server at this WebSocket address."""
    from jupyter_ydoc import YNotebook
    from pycrdt import Provider

    room = f"{session['format']}:{session['type']}:{session['fileId']}"
    # As browsers write it: with its colons, by which the room is known.
    url = f"{server}api/collaboration/room/{room}?sessionId={session['sessionId']}"
    socket = await websocket_connect(HTTPRequest(url, headers=headers))
    colleague = Colleague(YNotebook())
    try:
        async with Provider(colleague.notebook.ydoc, _Line(socket, room)):
            await colleague.until(colleague.notebook.ycells.to_py)
            yield colleague
    finally:
        socket.close()
