"""The time lines of all workspaces tasks work in, each opened when it is first needed and put aside when it is not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Final

from ..._background_tasks import STOP_SECONDS, BackgroundTasks
from ...checkpoints import AsyncFileCheckpoints, FileLimits
from ...checkpoints.timeline import Timeline, TimelineLimits
from ...checkpoints.variables import VariableCheckpoints, VariableLimits, VariableStore, user_key
from ...config import GlobalSettings
from ...errors import HdspAgentError
from ...events import CheckpointEvent
from ...notebooks import Notebooks

__all__ = ["OpenWorkspace", "WorkspaceRegistry"]

logger = logging.getLogger(__name__)

_MOST_OPEN: Final = 8
_KEY: Final = "variables.key"


@dataclass(frozen=True)
class OpenWorkspace:
    """One workspace's checkpoints; ``files`` is what they keep of files, ``variables`` what they keep of kernels."""

    line: Timeline
    files: AsyncFileCheckpoints
    variables: VariableCheckpoints | None
    limits: TimelineLimits


class WorkspaceRegistry:
    """Opens and remembers them."""

    def __init__(self, home: Path, settings: Callable[[], GlobalSettings], notebooks: Notebooks | None) -> None:
        self._home = home
        self._settings = settings
        self._notebooks = notebooks
        self._open: dict[Path, OpenWorkspace] = {}
        self._key: bytes | None = None
        self._held = BackgroundTasks()
        self._opening = asyncio.Lock()
        self.on_event: Callable[[CheckpointEvent], None] = lambda event: None
        """Told of what happens to workspaces' checkpoints."""

    @property
    def opened(self) -> Mapping[Path, OpenWorkspace]:
        """Those that are remembered."""
        return self._open

    async def at(self, folder: Path, *, is_used: Callable[[Path], bool]) -> OpenWorkspace:
        """The time line of a workspace. Of the others only so many are remembered, and all that are used."""
        settings = self._settings()
        async with self._opening:
            known = self._open.get(folder)
            if known is None:
                self._put_aside(len(self._open) - _MOST_OPEN + 1, is_used)
                begun = monotonic()
                await self._open_anew(folder, await self._variables(folder))
                self.on_event(CheckpointEvent("initialize", round((monotonic() - begun) * 1000)))
            elif known.limits != _limits(settings):
                # What is under way comes to its end with the limits it began with.
                self._held.begin(known.line.close())
                await self._open_anew(folder, known.variables)
            opened = self._open[folder] = self._open.pop(folder)
        opened.files.set_limits(FileLimits.of(settings, self._home))
        if opened.variables is not None:
            opened.variables.set_limits(VariableLimits.of(settings))
        return opened

    async def close(self) -> None:
        """Wait a little for what is under way. What takes longer is whole or not there when it is looked at again."""
        if not await self._held.drain(STOP_SECONDS):
            self._held.cancel()
            await self._held.drain()
        closing = [asyncio.create_task(opened.line.close()) for opened in self._open.values()]
        if closing:
            _, slow = await asyncio.wait(closing, timeout=STOP_SECONDS)
            for task in slow:
                task.cancel()
            await asyncio.gather(*closing, return_exceptions=True)
        self._open.clear()

    # ---- inside

    async def _open_anew(self, folder: Path, variables: VariableCheckpoints | None) -> None:
        settings = self._settings()
        files, limits = self._files(folder), _limits(settings)
        line = Timeline(
            files,
            await asyncio.to_thread(lambda: files.folder),
            notebooks=self._notebooks,
            variables=variables,
            root=folder,
            limits=limits,
            enabled=lambda: self._settings().enable_checkpoints,
            on_event=self.on_event,
        )
        self._open[folder] = OpenWorkspace(line, files, variables, limits)

    def _files(self, folder: Path) -> AsyncFileCheckpoints:
        return AsyncFileCheckpoints(folder, self._home / "checkpoints", FileLimits.of(self._settings(), self._home))

    async def _variables(self, folder: Path) -> VariableCheckpoints | None:
        """What is kept of kernels; nothing without a key."""
        if self._notebooks is None:
            return None
        try:
            if self._key is None:
                self._key = await asyncio.to_thread(user_key, self._home / _KEY)
        except HdspAgentError as error:
            logger.warning("Variables are not kept with checkpoints: %s", error.message)
            return None
        kept_in = await asyncio.to_thread(lambda: self._files(folder).folder)
        return VariableCheckpoints(VariableStore(kept_in / "variables", self._key), VariableLimits.of(self._settings()))

    def _put_aside(self, count: int, is_used: Callable[[Path], bool]) -> None:
        """Forget so many workspaces, those first that nobody has asked for the longest; each remembers all its files."""
        idle = [folder for folder in self._open if not is_used(folder)]
        for folder in idle[: max(0, count)]:
            self._held.begin(self._open.pop(folder).line.close())


def _limits(settings: GlobalSettings) -> TimelineLimits:
    # What is slow is left out of the moment in time, so that the files are saved before the agent's patience ends.
    seconds = settings.checkpoint_timeout
    usual = TimelineLimits()
    return TimelineLimits(
        notebook_seconds=min(usual.notebook_seconds, seconds / 4),
        variables_seconds=min(usual.variables_seconds, seconds / 2),
        variables_bytes=settings.checkpoint_variables_quota_megabytes * 1_000_000,
    )
