"""What the tools of one task remember between calls."""

from __future__ import annotations

from pathlib import Path

from ._commands import CommandBoard, CommandListener
from ._file_access import Stamp

__all__ = ["SeenFiles", "ToolState"]


class SeenFiles:
    """How files were when the agent last read or wrote them."""

    def __init__(self) -> None:
        self._stamps: dict[Path, Stamp] = {}

    def saw(self, path: Path, stamp: Stamp) -> None:
        """The agent knows the file as it is now."""
        self._stamps[path] = stamp

    def has_changed(self, path: Path, now: Stamp) -> bool:
        """Whether somebody changed a file the agent knows."""
        known = self._stamps.get(path)
        return known is not None and known != now


class ToolState:
    """One task's memory of files it has seen and commands it has running."""

    def __init__(self, on_command: CommandListener | None = None) -> None:
        self.seen = SeenFiles()
        self.commands = CommandBoard(on_command)

    async def close(self) -> None:
        """End every command that still runs."""
        await self.commands.close()
