"""What a tool may do that only reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ...config import GlobalSettings, ModeConfig, ProviderSettings
from ...messages import NotebookRef, TaskId
from ...tools import ToolFailed

if TYPE_CHECKING:
    from ...mcp.client import TaskServers
    from ...notebooks import Notebooks
    from ...persistence import Masker, Vault
    from ...tools import McpServers, PathPolicy, ToolState
    from .._agent_services import AgentServices

__all__ = ["ReadingContext", "ReadingState"]


class ReadingState(Protocol):
    """A conversation as far as reading for it needs it."""

    @property
    def services(self) -> AgentServices:
        """What all conversations share."""

    @property
    def task_id(self) -> TaskId:
        """Its id."""

    @property
    def owner(self) -> str | None:
        """Whose it is."""

    @property
    def folder(self) -> Path:
        """The folder it works in."""

    @property
    def notebook(self) -> NotebookRef | None:
        """The notebook it is about."""

    @property
    def mode(self) -> ModeConfig:
        """The mode it is in."""

    @property
    def settings(self) -> GlobalSettings:
        """The settings in force for it."""

    @property
    def provider(self) -> ProviderSettings | None:
        """The profile of its model."""

    @property
    def paths(self) -> PathPolicy:
        """Which files it may touch."""

    @property
    def tool_state(self) -> ToolState:
        """What tools remember between calls."""

    @property
    def mcp(self) -> TaskServers | None:
        """The MCP servers of its person; None where there are none."""

    @property
    def masker(self) -> Masker:
        """Masks what it is told."""

    async def put_artifact(self, data: bytes) -> str:
        """Keep a long output or a picture, and return its name."""

    async def read_artifact(self, name: str) -> bytes:
        """What was kept. Raises NotFound."""

    def note_external(self) -> None:
        """It was given words that strangers wrote."""

    async def inherit_marks(self, source: TaskId) -> None:
        """It was given what another conversation says."""


class ReadingContext:
    """The part of a call's context that reading needs."""

    def __init__(self, state: ReadingState) -> None:
        self._reading = state

    @property
    def task_id(self) -> TaskId:
        """Whose call it is."""
        return self._reading.task_id

    @property
    def workspace(self) -> Path:
        """The folder the task works in."""
        return self._reading.folder

    @property
    def settings(self) -> GlobalSettings:
        """The settings in force for the task."""
        return self._reading.settings

    @property
    def mode(self) -> ModeConfig:
        """The mode the task is in."""
        return self._reading.mode

    @property
    def paths(self) -> PathPolicy:
        """Which paths may be touched."""
        return self._reading.paths

    @property
    def vault(self) -> Vault:
        """What was masked, for a run the person approved."""
        return self._reading.masker.vault

    @property
    def state(self) -> ToolState:
        """What tools remember between calls."""
        return self._reading.tool_state

    @property
    def notebooks(self) -> Notebooks:
        """Notebooks and kernels."""
        notebooks = self._reading.services.notebooks
        if notebooks is None:
            raise ToolFailed("There are no notebooks and kernels here: this agent was started without them.")
        return notebooks

    @property
    def notebook(self) -> NotebookRef | None:
        """The notebook the task is about."""
        return self._reading.notebook

    @property
    def mcp(self) -> McpServers:
        """The person's MCP servers."""
        servers = self._reading.mcp
        if servers is None or not self._reading.settings.mcp_enabled:
            raise ToolFailed("There are no MCP servers here: they are switched off.")
        return servers

    def mask(self, text: str) -> str:
        """The text as it may be shown and kept."""
        return self._reading.masker.mask(text)

    async def put_artifact(self, data: bytes) -> str:
        """Keep a long output or a picture, and return its name."""
        return await self._reading.put_artifact(data)

    async def read_artifact(self, name: str) -> bytes:
        """What was kept."""
        return await self._reading.read_artifact(name)
