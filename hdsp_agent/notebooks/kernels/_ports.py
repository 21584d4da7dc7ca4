"""What running cells needs of whoever manages kernels: Jupyter Server's managers, with or without a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ._client import KernelState
from ._transport import Transport

__all__ = ["KernelInfo", "KernelPort", "KernelSession", "KernelSpec"]


@dataclass(frozen=True)
class KernelSpec:
    """A kernel that can be started."""

    name: str
    display_name: str
    language: str


@dataclass(frozen=True)
class KernelSession:
    """A kernel that runs for a file."""

    id: str
    path: str
    kernel_id: str
    kernel_name: str
    state: KernelState = "unknown"


@dataclass(frozen=True)
class KernelInfo:
    """A running kernel as a person would want to know it. ``path`` is the file it runs for."""

    path: str
    id: str
    name: str
    display_name: str
    language: str
    state: KernelState
    ours: bool = False
    """Whether a cell the agent gave it is what it works on."""
    is_remote: bool = False
    """Whether a gateway runs it."""

    @property
    def told(self) -> str:
        """It in a few words, for the model."""
        where = ", behind a gateway: its files may not be those of the workspace" if self.is_remote else ""
        return f"kernel {self.display_name} ({self.state}){where}"


class KernelPort(Protocol):
    """Sessions and kernels. Kernels are named by their ids; one that is gone is NotFound."""

    async def specs(self) -> Mapping[str, KernelSpec]:
        """All kernels that can be started, by name."""

    @property
    def default_spec(self) -> str:
        """The kernel that is started where none is asked for."""

    async def sessions(self) -> list[KernelSession]:
        """All sessions whose kernel is there."""

    async def start_session(self, path: str, kernel_name: str) -> KernelSession:
        """Start a kernel for a notebook; a tab that opens it later finds it."""

    async def connect(self, kernel_id: str) -> Transport:
        """A new client of this kernel."""

    async def alive(self, kernel_id: str) -> bool:
        """Whether its process runs; NotFound when nobody knows this kernel any more."""

    def life(self, kernel_id: str) -> str:
        """Another text after each restart, where that can be known; empty when there is no such kernel."""

    def state(self, kernel_id: str) -> KernelState:
        """What whoever manages it takes it to do."""

    def watch_seconds(self, kernel_id: str) -> float:
        """How often to ask whether it is alive while it works."""

    def is_behind_gateway(self, kernel_id: str) -> bool:
        """Whether a gateway runs it, which does not cull it while it has a connection, also one that nobody uses."""

    async def interrupt(self, kernel_id: str) -> None:
        """Interrupt what it does."""

    async def restart(self, kernel_id: str) -> None:
        """Restart it and wait until it answers."""

    def hold(self, kernel_id: str) -> None:
        """Count as connected, so that it is not culled."""

    def release(self, kernel_id: str) -> None:
        """Count as connected no more."""

    async def close(self) -> None:
        """Give back what connections needed; kernels go on."""
