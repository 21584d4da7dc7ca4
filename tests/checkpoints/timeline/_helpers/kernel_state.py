"""A kernel that outlives the servers that use it: somebody else started it, and keeps it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import zmq.asyncio
from jupyter_client.manager import AsyncKernelManager

from hdsp_agent.messages import JsonObject
from hdsp_agent.notebooks.kernels import KernelSession, KernelSpec, KernelState, Transport
from hdsp_agent.notebooks.kernels._transport import KernelMessage, Lost, Receive
from hdsp_agent.notebooks.kernels._zmq import ZmqTransport, new_context

__all__ = ["DetachedKernel"]


class Counted(ZmqTransport):
    """A request to the kernel, and what comes of it, count as calls to the system: a process can die right there."""

    def start(self, receive: Receive, lost: Lost) -> None:
        """Begin to hand over messages."""

        def stepping(message: KernelMessage) -> None:
            if message.channel != "iopub":
                os.utime(".")
            receive(message)

        super().start(stepping, lost)

    def send(
        self,
        channel: Literal["shell", "control"],
        kind: str,
        content: JsonObject,
        *,
        metadata: JsonObject | None = None,
    ) -> str:
        """Send a request; its id."""
        os.utime(".")
        sent = super().send(channel, kind, content, metadata=metadata)
        os.utime(".")
        return sent


class DetachedKernel:
    """The ``KernelPort`` of a server that finds one kernel, of one notebook. It can neither end nor restart it."""

    def __init__(self, connection_file: Path, path: str) -> None:
        self._manager = AsyncKernelManager(connection_file=str(connection_file))
        self._manager.load_connection_file()
        self._session = KernelSession("session", path, "kept", self.default_spec, "idle")
        self._context: zmq.asyncio.Context | None = None

    async def specs(self) -> Mapping[str, KernelSpec]:
        return {self.default_spec: KernelSpec(self.default_spec, "Python 3", "python")}

    @property
    def default_spec(self) -> str:
        return "python3"

    async def sessions(self) -> list[KernelSession]:
        return [self._session]

    async def start_session(self, path: str, kernel_name: str) -> KernelSession:
        raise AssertionError(f"{path} has no kernel of its own here")

    async def connect(self, kernel_id: str) -> Transport:
        if self._context is None:
            self._context = new_context()
        return Counted(self._manager, self._context)

    async def alive(self, kernel_id: str) -> bool:
        return True

    def life(self, kernel_id: str) -> str:
        return "the only one"

    def state(self, kernel_id: str) -> KernelState:
        return "unknown"

    def watch_seconds(self, kernel_id: str) -> float:
        return 0.5

    def is_behind_gateway(self, kernel_id: str) -> bool:
        return False

    async def interrupt(self, kernel_id: str) -> None:
        raise AssertionError("the kernel is not this server's to interrupt")

    async def restart(self, kernel_id: str) -> None:
        raise AssertionError("the kernel is not this server's to restart")

    def hold(self, kernel_id: str) -> None:
        """Nobody culls it."""

    def release(self, kernel_id: str) -> None:
        """Nobody culls it."""

    async def close(self) -> None:
        if self._context is not None:
            await asyncio.to_thread(self._context.destroy, 0)
