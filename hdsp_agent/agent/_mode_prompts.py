"""What a new task in a mode would be told before anything else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .._storage_dir import home_folder
from ..config import ModeConfig
from ..tools._ignore import IGNORE_FILE
from .prompts import Surroundings, standing_prompt

if TYPE_CHECKING:
    from ._services import AgentServices

__all__ = ["ignored_files", "mode_prompt"]

_MOST_IGNORED: Final = 20_000


async def mode_prompt(services: AgentServices, mode: ModeConfig, trusted: Callable[[Path], Path | None]) -> str:
    """The system prompt of the mode. ``trusted`` says where a trusted folder really is, and None of others."""
    folder = services.workspace
    surroundings = Surroundings(
        workspace=folder,
        person=home_folder(),
        trusted=await asyncio.to_thread(trusted, folder),
        has_notebooks=services.notebooks is not None,
    )
    prompt = await standing_prompt(
        mode,
        services.settings(),
        surroundings,
        other_modes=await services.modes.modes(str(folder)),
        ignored=await asyncio.to_thread(ignored_files, folder),
    )
    return prompt.text


def ignored_files(workspace: Path) -> str | None:
    """What the ignore file says; what cannot be read is refused by the tools themselves. Blocks."""
    try:
        with open(workspace / IGNORE_FILE, encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_IGNORED)
    except OSError:
        return None
