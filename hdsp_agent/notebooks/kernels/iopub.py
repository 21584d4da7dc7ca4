"""Listens to the kernels of Jupyter Server's managers; to a gateway's by what its pages are sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, Protocol, cast

import zmq.asyncio

from ._iopub_listener import IopubListener, Published, PublishedKind
from ._page_messages import PageListener, PageMessages
from .jupyter import is_remote, until_ready

if TYPE_CHECKING:
    from jupyter_client.manager import KernelManager
    from jupyter_server.services.kernels.kernelmanager import MappingKernelManager

__all__ = [
    "IopubListener",
    "IopubListeners",
    "KernelFate",
    "PageListener",
    "PageMessages",
    "Published",
    "PublishedKind",
]

KernelFate = Literal["restart", "dead"]
"""What becomes of a kernel whose process ended: it is restarted by itself, or is given up."""


class _Kernels(Protocol):
    """The kernel manager's methods, with the types it leaves out."""

    def __contains__(self, kernel_id: str) -> bool: ...

    def list_kernel_ids(self) -> list[str]: ...

    def get_kernel(self, kernel_id: str) -> KernelManager: ...


class IopubListeners:
    """Listens to kernels without taking part: it sends nothing, and a kernel it listens to is culled like any other."""

    def __init__(self, kernels: MappingKernelManager, pages: PageMessages | None = None) -> None:
        """``pages``: by which the kernels of a gateway are heard."""
        self._kernels = cast("_Kernels", kernels)
        self._pages = pages
        self._context: zmq.asyncio.Context | None = None

    def kernel_ids(self) -> list[str]:
        """The kernels there are now."""
        return self._kernels.list_kernel_ids()

    def address(self, kernel_id: str) -> str:
        """Where the kernel publishes, which a restart may change; empty while that is not known, or never will be."""
        if kernel_id not in self._kernels:
            return ""
        manager = self._kernels.get_kernel(kernel_id)
        if is_remote(manager):
            return "" if self._pages is None else f"gateway {kernel_id}"
        if not manager.iopub_port:
            return ""
        return f"{manager.transport}://{manager.ip}:{manager.iopub_port}"

    async def listen(self, kernel_id: str, hear: Callable[[Published], None]) -> IopubListener | PageListener:
        """Listen to a kernel that has an address. Close the listener before this."""
        address, manager = self.address(kernel_id), self._kernels.get_kernel(kernel_id)
        if is_remote(manager) and self._pages is not None:
            return self._pages.listen(kernel_id, hear)
        await until_ready(manager)
        if self._context is None:
            self._context = zmq.asyncio.Context()
        return IopubListener(manager, self._context, hear, address=address)

    def on_end(self, kernel_id: str, told: Callable[[KernelFate], None]) -> Callable[[], None]:
        """Be told when the kernel's process ends without having been asked to; returns how not to be told any more."""
        manager = self._kernels.get_kernel(kernel_id)

        def restarts() -> None:
            told("restart")

        def dies() -> None:
            told("dead")

        manager.add_restart_callback(restarts, "restart")
        manager.add_restart_callback(dies, "dead")

        def stop() -> None:
            with suppress(KeyError, ValueError):
                manager.remove_restart_callback(restarts, "restart")
                manager.remove_restart_callback(dies, "dead")

        return stop

    async def close(self) -> None:
        """Give back what connections needed."""
        context, self._context = self._context, None
        if context is not None:
            # Waits for the input/output thread, which may take a moment to let go of the sockets.
            await asyncio.to_thread(context.destroy, 0)
