"""Whether what a folder brings counts, for whoever shows it to a person or lets them decide."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..._storage_dir import home_folder
from ...config import FolderStanding, TrustedFolder, TrustedFolders
from ._folder_contents import FolderContents, brought_by

__all__ = ["FolderTrust", "WorkspaceTrust"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class FolderTrust:
    """How a folder stands, and what it brings."""

    standing: FolderStanding
    brings: Sequence[FolderContents]

    @property
    def is_question(self) -> bool:
        """Whether the person has to be asked: there is something, and nobody has decided about it."""
        return self.standing.verdict == "undecided" and bool(self.brings)


class WorkspaceTrust:
    """Tells what folders bring, and takes decisions. Nothing is kept in memory: another program may decide as well."""

    def __init__(
        self,
        folders: TrustedFolders,
        *,
        with_subfolders: Callable[[], bool] = lambda: False,
        on_decided: Callable[[Path], None] = lambda folder: None,
    ) -> None:
        """``with_subfolders`` says whether rules of subfolders count; ``on_decided`` is told the real folder of a decision."""
        self._folders = folders
        self._with_subfolders = with_subfolders
        self._on_decided = on_decided

    async def of(self, folder: Path) -> FolderTrust:
        """How a folder stands now."""
        return await asyncio.to_thread(self._of, folder)

    async def decisions(self) -> Sequence[TrustedFolder]:
        """What the person decided, by folder."""
        return await asyncio.to_thread(self._folders.decisions)

    async def decide(self, folder: Path, trusted: bool | None) -> FolderTrust:
        """Trust a folder from now on, or do not; None has it asked about again. Raises ForbiddenByOperator, InvalidInput."""
        standing = await asyncio.to_thread(self._folders.decide, folder, trusted)
        logger.info("The person decided about the folder %r: %s", str(standing.folder), standing.verdict)
        self._on_decided(standing.folder)
        return await self.of(folder)

    def trust_for_now(self, folder: Path) -> None:
        """Trust a folder as long as this program runs. Blocks."""
        self._folders.trust_for_now(folder)

    def _of(self, folder: Path) -> FolderTrust:
        standing = self._folders.standing(folder)
        return FolderTrust(standing, brought_by(standing.folder, home_folder(), subfolders=self._with_subfolders()))
