"""A conversation as it would be when a message that is being written is told to it. Nothing of it changes."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...config import GlobalSettings, ModeConfig, ProviderSettings, with_profile, with_project
from ...errors import InvalidInput, NotFound
from ...mcp.client import TaskServers
from ...messages import NotebookRef, TaskId
from ...persistence import Masker
from ...tools import ToolState
from ..conversation.history_items import TaskConfig
from ..modes import DEFAULT_MODE

if TYPE_CHECKING:
    from ...persistence import TaskReader
    from ...tools import PathPolicy
    from .._agent_services import AgentServices
    from ..task.task_state import TaskState

__all__ = ["DraftState", "draft_state"]


@dataclass(frozen=True)
class DraftState:
    """See ``ReadingState``."""

    services: AgentServices
    owner: str | None
    folder: Path
    notebook: NotebookRef | None
    mode: ModeConfig
    settings: GlobalSettings
    profile: str
    provider: ProviderSettings | None
    reader: TaskReader | None
    """What is kept of the conversation; None before it has begun."""
    paths: PathPolicy
    mcp: TaskServers | None
    masker: Masker
    tool_state: ToolState = field(default_factory=ToolState)

    @property
    def task_id(self) -> TaskId:
        """See ``ReadingState``."""
        return TaskId("") if self.reader is None else self.reader.task_id

    async def put_artifact(self, data: bytes) -> str:
        """The name that it would get."""
        return await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())

    async def read_artifact(self, name: str) -> bytes:
        """See ``ReadingState``."""
        if self.reader is None:
            raise NotFound(f"There is no output {name}.")
        return await self.reader.read_artifact(name)

    def note_external(self) -> None:
        """It was not told yet."""

    async def inherit_marks(self, source: TaskId) -> None:
        """It was not told yet."""


async def draft_state(
    services: AgentServices,
    reader: TaskReader | None,
    *,
    worked_on: TaskState | None,
    owner: str | None,
    notebook: NotebookRef | None,
) -> DraftState:
    """Of the conversation that is kept there, and perhaps ``worked_on``, or of one that is yet to begin with this owner and
    notebook. Raises InvalidInput where there is no mode for it."""
    if worked_on is not None:
        return _of_task(worked_on, reader)
    base, policy = services.settings(), services.policy()
    item = config = slug = None
    folder = services.workspace
    if reader is not None:
        metadata, item = reader.metadata, (await reader.read_state()).history_item
        config, owner = metadata.config, metadata.user
        folder = Path(metadata.workspace) if metadata.workspace else folder
        notebook = (item.notebook if item else None) or metadata.notebook
        slug = (item.mode if item else None) or metadata.mode
    mode = await _mode(services, folder, slug, base.mode, DEFAULT_MODE)
    profile = (item.api_config_name if item else None) or services.models.profile_for(mode.slug)
    provider = services.models.settings_of(profile)
    project = await asyncio.to_thread(services.project_settings, folder)
    here = TaskConfig.of(config or {}).settings(with_project(base, project, policy.forced_settings()), policy)
    settings = with_profile(here, provider)
    return DraftState(
        services=services,
        owner=owner,
        folder=folder,
        notebook=notebook,
        mode=mode,
        settings=settings,
        profile=profile,
        provider=provider,
        reader=reader,
        paths=await asyncio.to_thread(services.paths, folder, settings),
        mcp=None if services.mcp is None else TaskServers(services.mcp, owner, folder),
        masker=Masker(base.masked_kinds),
    )


async def _mode(services: AgentServices, folder: Path, *wanted: str | None) -> ModeConfig:
    """The first of these that may be used."""
    for slug in wanted:
        mode = None if slug is None else await services.modes.get(slug, str(folder))
        if mode is not None:
            return mode
    raise InvalidInput("There is no mode for this conversation. Choose another one.", field="mode")


def _of_task(state: TaskState, reader: TaskReader | None) -> DraftState:
    return DraftState(
        services=state.services,
        owner=state.owner,
        folder=state.folder,
        notebook=state.notebook,
        mode=state.mode,
        settings=state.settings,
        profile=state.profile,
        provider=state.provider,
        reader=reader,
        paths=state.paths,
        mcp=state.mcp,
        masker=Masker(state.services.settings().masked_kinds),
    )
