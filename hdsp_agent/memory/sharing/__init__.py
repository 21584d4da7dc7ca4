"""The files of one person's memory on several servers: brought in line through a database, joined where both changed one."""

from __future__ import annotations

from .memory_sharing import MemorySharing
from .shared_folder import SharedFolder, SyncReport

__all__ = ["MemorySharing", "SharedFolder", "SyncReport"]
