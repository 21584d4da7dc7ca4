"""The server for programs outside: tells every client every event, and hands their commands to the agent."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol, Self

from .._background_tasks import BackgroundTasks
from ..errors import Unavailable
from ..messages import IpcTaskEvent
from ._client_connection import ClientConnection, Commands, Log
from ._ipc_frames import message_frame, warm_up_frames
from ._ipc_limits import IpcLimits
from ._socket_endpoint import SocketEndpoint, listen

if TYPE_CHECKING:
    from ..errors import HdspAgentError
    from ..events import Dispose, Emitter
    from ..messages import TaskEvent

__all__ = ["FOLDER", "IpcAgent", "IpcServer"]

FOLDER: Final = "ipc"
"""The folder of sockets within the storage folder."""


class IpcAgent(Protocol):
    """What programs outside talk to."""

    def session(self) -> Commands:
        """Whoever obeys one program outside, and knows which task it means."""

    @property
    def events(self) -> Emitter:
        """What happens to tasks."""


class IpcServer:
    """Listens in a folder that only its owner may enter. Start it, or use it as an async context manager."""

    def __init__(
        self, agent: IpcAgent, folder: Path, *, limits: IpcLimits | None = None, log: Log | None = None
    ) -> None:
        self._agent = agent
        self._folder = folder
        self._limits = limits or IpcLimits()
        self._log: Log = log or logging.getLogger(__name__)
        self._endpoint: SocketEndpoint | None = None
        self._hush: Dispose | None = None
        self._connections: dict[ClientConnection, asyncio.Task[None]] = {}
        self._commands = BackgroundTasks()
        self._heart: asyncio.Task[None] | None = None

    @property
    def address(self) -> str:
        """What a client connects to. Raises Unavailable while the server is stopped."""
        if self._endpoint is None:
            raise Unavailable("The socket for other programs is not open. Start the server first.")
        return self._endpoint.address

    @property
    def clients(self) -> int:
        """How many clients there are."""
        return len(self._connections)

    @property
    def waiting(self) -> int:
        """Bytes that clients have not taken yet."""
        return sum(connection.waiting for connection in self._connections)

    async def start(self) -> None:
        """Open the socket and let clients in. Raises StorageUnavailable where none can be made."""
        if self._endpoint is not None:
            return
        await asyncio.to_thread(warm_up_frames)
        self._endpoint = await listen(self._folder, self._connected)
        self._heart = asyncio.ensure_future(self._beat(self._endpoint))
        self._hush = self._agent.events.on_any(self._tell)
        self._log.info("Programs outside are served at %s", self._endpoint.address)

    async def stop(self) -> None:
        """Let nobody in any more, send everybody away, and give commands under way a moment to end."""
        endpoint, self._endpoint = self._endpoint, None
        if endpoint is None:
            return
        await endpoint.close()
        await self._commands.drain(self._limits.stop_seconds)
        self._commands.cancel()
        await self._commands.drain()
        serving = set(self._connections.values())
        for connection in tuple(self._connections):
            connection.drop()
        if serving:
            _, slow = await asyncio.wait(serving, timeout=self._limits.stop_seconds)
            for task in slow:
                task.cancel()
        if self._hush is not None:
            self._hush()
        if self._heart is not None:
            self._heart.cancel()
            serving.add(self._heart)
        await asyncio.gather(*serving, return_exceptions=True)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = ClientConnection(reader, writer, self._agent.session(), self._commands, self._limits, self._log)
        if (refusal := self._refusal()) is not None:
            connection.drop(refusal)
        task = asyncio.ensure_future(connection.run())
        self._connections[connection] = task
        task.add_done_callback(lambda done: self._left(connection, done))

    def _refusal(self) -> HdspAgentError | None:
        if len(self._connections) < self._limits.clients:
            return None
        return Unavailable(
            f"{self._limits.clients} clients are already connected. Close one, then connect again.",
            reason="too_many_clients",
            limit=self._limits.clients,
        )

    def _left(self, connection: ClientConnection, task: asyncio.Task[None]) -> None:
        self._connections.pop(connection, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("Serving IPC client %s failed", connection.client_id, exc_info=error)

    def _tell(self, event: TaskEvent) -> None:
        if not self._connections:
            return
        # Written once: all clients share the bytes.
        frame = message_frame(IpcTaskEvent(data=event))
        for connection in tuple(self._connections):
            connection.tell(frame)

    async def _beat(self, endpoint: SocketEndpoint) -> None:
        while True:
            await asyncio.sleep(self._limits.heartbeat_seconds)
            try:
                await endpoint.show_life()
            except OSError as error:
                self._log.warning("The IPC socket can no longer be found by %s: %s", endpoint.entry, error.strerror)
                return
