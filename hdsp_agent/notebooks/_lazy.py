"""Contents and kernels that are made when they are first needed: what runs them without a server takes long to import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Generic, TypeVar

from ..messages import JsonObject
from ._access import DiskPort
from ._document import NotebookDocument
from .kernels import KernelPort, KernelSession, KernelSpec, KernelState, Transport

__all__ = ["Lazy", "LazyContents", "LazyKernels"]

T = TypeVar("T")


class Lazy(Generic[T]):
    """Something that is made once, on first use."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self.made: T | None = None

    def __call__(self) -> T:
        """It."""
        if self.made is None:
            self.made = self._make()
        return self.made


class LazyContents:
    """See ``DiskPort``. ``root`` is known before anything is made."""

    def __init__(self, disk: Lazy[DiskPort], root: Path) -> None:
        self._disk = disk
        self._root = root

    def document(self, path: str) -> NotebookDocument:
        """The notebook in this file."""
        return self._disk().document(path)

    async def create(self, path: str, *, kernelspec: JsonObject | None = None) -> None:
        """A new, empty notebook."""
        await self._disk().create(path, kernelspec=kernelspec)

    def root(self) -> Path | None:
        """The folder that paths begin in."""
        return self._root

    async def secret(self) -> bytes | None:
        """What the person's notary signs with."""
        return await self._disk().secret()


class LazyKernels:
    """See ``KernelPort``."""

    def __init__(self, port: Lazy[KernelPort]) -> None:
        self._port = port

    async def specs(self) -> Mapping[str, KernelSpec]:
        """All kernels that can be started."""
        return await self._port().specs()

    @property
    def default_spec(self) -> str:
        """The usual kernel."""
        return self._port().default_spec

    async def sessions(self) -> list[KernelSession]:
        """All sessions; none before there is anything."""
        return [] if self._port.made is None else await self._port().sessions()

    async def start_session(self, path: str, kernel_name: str) -> KernelSession:
        """Start a kernel for a notebook."""
        return await self._port().start_session(path, kernel_name)

    async def connect(self, kernel_id: str) -> Transport:
        """A new client of this kernel."""
        return await self._port().connect(kernel_id)

    async def alive(self, kernel_id: str) -> bool:
        """Whether its process runs."""
        return await self._port().alive(kernel_id)

    def life(self, kernel_id: str) -> str:
        """Another text after each restart."""
        return "" if self._port.made is None else self._port().life(kernel_id)

    def state(self, kernel_id: str) -> KernelState:
        """What it does."""
        return self._port().state(kernel_id)

    def watch_seconds(self, kernel_id: str) -> float:
        """How often to ask whether it is alive."""
        return self._port().watch_seconds(kernel_id)

    async def interrupt(self, kernel_id: str) -> None:
        """Interrupt what it does."""
        await self._port().interrupt(kernel_id)

    async def restart(self, kernel_id: str) -> None:
        """Restart it."""
        await self._port().restart(kernel_id)

    def hold(self, kernel_id: str) -> None:
        """Count as connected."""
        self._port().hold(kernel_id)

    def release(self, kernel_id: str) -> None:
        """Count as connected no more."""
        self._port().release(kernel_id)

    async def close(self) -> None:
        """Give back what was made."""
        if self._port.made is not None:
            await self._port().close()
