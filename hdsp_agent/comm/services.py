"""The object graph that the handlers reach through the web application's settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

from ..config import ContextProxy
from ._channel import ChannelHub
from .history import History
from .notices import NoticeBoard
from .task_storage import TaskStorage
from .upkeep import Upkeep

__all__ = ["Services"]


@dataclass(frozen=True)
class Services:
    """What the app builds once and every handler uses."""

    version: str
    config: ContextProxy
    notices: NoticeBoard
    channels: ChannelHub
    storage: TaskStorage
    history: History
    upkeep: Upkeep
    max_body_bytes: int
    started_at: float = field(default_factory=monotonic)

    async def stop(self) -> None:
        """Let pages and writes finish."""
        await self.upkeep.stop()
        await self.channels.stop()
        await self.history.stop()
        await self.storage.stop()
        await self.config.stop()
