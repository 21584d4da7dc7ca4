"""How things are around a task now, dimension by dimension."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from ...config import GlobalSettings, OperatorPolicy, ProviderSettings
from ...memory import TaskMemory
from ...notebooks import Notebooks
from ...providers import KnownModel, model_info
from ...tools import PathPolicy
from .._ports import Situation
from .basic_sections import memory_part, mode_part, model_part, permissions_part, usage_part
from .notebook_sections import NotebookSections, open_files_part, reads_at_once
from .sections import Section
from .workspace_files import git_status_part, workspace_files_part

__all__ = ["CurrentEnvironment"]


class CurrentEnvironment:
    """Looks around for one task. What only changes when somebody does something is looked at when the person speaks."""

    def __init__(
        self,
        *,
        policy: Callable[[], OperatorPolicy],
        paths: Callable[[], PathPolicy],
        notebooks: Notebooks | None = None,
        notebook: str | None = None,
        memory: TaskMemory | None = None,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        self._policy = policy
        self._paths = paths
        self._notebooks = notebooks
        self._memory = memory
        self._now = now
        self._model: tuple[ProviderSettings, KnownModel] | None = None
        self.notebook: NotebookSections | None = None
        """The notebook the task is about."""
        if notebooks is not None and notebook is not None:
            self.notebook = NotebookSections(notebooks, notebook)

    async def look(self, situation: Situation, *, everything: bool) -> Sequence[Section]:
        """What there is; what is not looked at this time is not among it."""
        settings, policy = situation.settings, self._policy()
        found = [mode_part(situation.mode), permissions_part(settings, policy, situation.mode)]
        if (model := await self._model_of(situation.provider)) is not None:
            found.append(model)
        if not everything:
            return found
        if self._memory is not None:
            # What is turned off is told to be gone, like a note that was deleted.
            found.append(memory_part(await asyncio.to_thread(self._memory.texts) if settings.memory_enabled else ()))
        found.append(usage_part(settings, self._now(), situation.cost))
        paths = await asyncio.to_thread(self._paths)
        found += await asyncio.to_thread(_files, paths, settings)
        if self._notebooks is None:
            return found
        found.append(await asyncio.to_thread(open_files_part, self._notebooks, paths, settings.max_open_tabs_context))
        if self.notebook is not None:
            found += await self.notebook.look(paths, values=reads_at_once(settings, policy))
        return found

    async def _model_of(self, provider: ProviderSettings | None) -> Section | None:
        """None where there is no such profile any more."""
        if provider is None:
            return None
        if self._model is None or self._model[0] != provider:
            # The first call reads the catalogue.
            self._model = provider, await asyncio.to_thread(model_info, provider)
        return model_part(self._model[1])


def _files(paths: PathPolicy, settings: GlobalSettings) -> list[Section]:
    """Blocks."""
    found: list[Section] = []
    if settings.max_workspace_files:
        found.append(workspace_files_part(paths, settings.max_workspace_files))
    if settings.max_git_status_files and (status := git_status_part(paths, settings.max_git_status_files)) is not None:
        found.append(status)
    return found
