"""Which folder a page means when it asks about trust, and who is told when that is decided."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ..agent.trust import FolderTrust, WorkspaceTrust
from ..config import ContextProxy, OperatorPolicy
from ..errors import NotFound
from ..messages import ExtensionMessage, FolderTrustUpdatedMessage
from ._owner import Owner
from .history import History

__all__ = ["FolderTrusts"]


class FolderTrusts:
    """Trust in the folders of conversations, for pages."""

    def __init__(
        self, config: ContextProxy, history: History, workspace: Path, publish: Callable[[ExtensionMessage], None]
    ) -> None:
        self._config = config
        self._history = history
        self._workspace = workspace
        self.trust: Final = WorkspaceTrust(
            config.trusted_folders,
            with_subfolders=lambda: config.settings.enable_subfolder_rules,
            on_decided=lambda folder: publish(FolderTrustUpdatedMessage(folder=str(folder))),
        )
        """What is decided about folders here, all pages hear of."""

    @property
    def policy(self) -> OperatorPolicy:
        """What the operator decided."""
        return self._config.policy

    async def of(self, owner: Owner, task_id: str | None) -> FolderTrust:
        """How the folder of a conversation stands; without one, the folder that new ones work in.

        A page asks as soon as a conversation begins, and it may not be stored yet: then it is a new one.
        """
        folder = self._workspace
        if task_id is not None:
            with contextlib.suppress(NotFound):
                folder = Path((await self._history.task(owner, task_id)).metadata.workspace or folder)
        return await self.trust.of(folder)
