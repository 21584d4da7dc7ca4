"""The object graph that the handlers reach through the web application's settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Protocol

from pydantic import JsonValue

from ..agent.ghost_text import GhostText
from ..agent.recall import PastSearch
from ..config import ContextProxy
from ..local import LocalModels
from ..telemetry import Monitoring
from ._channel_hub import ChannelHub
from .audit import Audit
from .checkpoint_access import CheckpointAccess
from .folder_trust import FolderTrusts
from .history import History
from .hub_links import HubLinks
from .hub_reports import HubReports
from .kernel_variables import KernelVariables
from .mcp.endpoint import McpEndpoint
from .mcp_servers import McpServersAccess
from .memory_access import MemoryAccess
from .notebooks import ServerNotebooks
from .notice_board import Notices
from .open_panels import OpenPanels
from .recall_job import RecallJob
from .retention_job import RetentionJob
from .running_agent import RunningAgent
from .task_storage import TaskStorage
from .verifications import Verifications

__all__ = ["IpcPort", "Services"]


class IpcPort(Protocol):
    """Lets programs outside in."""

    async def start(self) -> None:
        """Open it."""

    async def stop(self) -> None:
        """Close it."""


@dataclass(frozen=True)
class Services:
    """What the app builds once and every handler uses."""

    version: str
    config: ContextProxy
    notices: Notices
    channels: ChannelHub
    storage: TaskStorage
    history: History
    audit: Audit
    retention_job: RetentionJob
    agent: RunningAgent
    memory: MemoryAccess
    past: PastSearch
    recall_job: RecallJob
    checkpoints: CheckpointAccess
    notebooks: ServerNotebooks
    panels: OpenPanels
    local_models: LocalModels
    kernel_variables: KernelVariables
    ghost_text: GhostText
    verifications: Verifications
    mcp_servers: McpServersAccess
    folder_trusts: FolderTrusts
    hub_links: HubLinks
    mcp_endpoint: McpEndpoint
    monitoring: Monitoring
    hub_reports: HubReports | None
    """Only where there is a hub service, and the operator wants it to know."""
    ipc: IpcPort | None
    """Only where the operator wants it."""
    max_body_bytes: int
    describe_api: Callable[[str], Mapping[str, JsonValue]]
    """The OpenAPI document of what this version's REST handlers take and answer."""
    started_at: float = field(default_factory=monotonic)

    async def stop(self) -> None:
        """Put tasks aside, then let pages and writes finish. What may take long to end does so meanwhile: kernels of verifications,
        and telling the hub service."""
        reports = [] if self.hub_reports is None else [self.hub_reports.stop()]
        await asyncio.gather(self.verifications.stop(), *reports, self._stop_others())

    async def _stop_others(self) -> None:
        await self.mcp_endpoint.stop()
        await self.recall_job.stop()
        await self.memory.stop()
        await self.retention_job.stop()
        await self.checkpoints.stop()
        await self.agent.stop()
        await self.monitoring.stop()
        await self.mcp_servers.stop()
        await self.ghost_text.stop()
        await self.local_models.stop()
        await self.notebooks.stop()
        await self.panels.stop()
        if self.ipc is not None:
            await self.ipc.stop()
        await self.channels.stop()
        await self.history.stop()
        await self.audit.stop()
        await self.storage.stop()
        await self.config.stop()
