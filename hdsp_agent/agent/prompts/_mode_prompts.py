"""What a task in a mode is told before anything else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..._regular_files import open_regular_file
from ..._storage_dir import home_folder
from ...config import GlobalSettings, ModeConfig
from ...tools import IGNORE_FILE
from ..environment import EnvironmentBasis
from ..modes import ModeRegistry
from . import PromptFacts, standing_prompt

if TYPE_CHECKING:
    from .._agent_services import AgentServices

__all__ = ["folder_prompt", "mode_prompt"]

_MOST_IGNORED: Final = 20_000


async def mode_prompt(services: AgentServices, mode: ModeConfig, trusted: Callable[[Path], Path | None]) -> str:
    """The system prompt of a new task in the mode. ``trusted`` says where a trusted folder really is, and None of others."""
    surroundings = PromptFacts(
        workspace=services.workspace, person=home_folder(), has_notebooks=services.notebooks is not None
    )
    prompt = await asyncio.to_thread(folder_prompt, mode, services.settings(), surroundings, services.modes, trusted)
    return prompt.text


def folder_prompt(
    mode: ModeConfig,
    settings: GlobalSettings,
    surroundings: PromptFacts,
    modes: ModeRegistry,
    trusted: Callable[[Path], Path | None],
) -> EnvironmentBasis:
    """The system prompt, with what the folder brings if it is trusted. Blocks.

    It is made at every turn, so all of it in one go: each change to another thread costs more than what is looked at there.
    """
    folder = surroundings.workspace
    known = modes.by_slug(str(folder) if folder is not None else None)
    return standing_prompt(
        # What the person changed about the mode since it was chosen counts.
        known.get(mode.slug, mode),
        settings,
        replace(
            surroundings,
            trusted=None if folder is None else trusted(folder),
            team_folders=modes.team_folders(),
        ),
        other_modes=list(known.values()),
        ignored=None if folder is None else _ignored_files(folder),
    )


def _ignored_files(workspace: Path) -> str | None:
    """What the ignore file says; what cannot be read is refused by the tools themselves."""
    try:
        with TextIOWrapper(open_regular_file(workspace / IGNORE_FILE), "utf-8", "replace") as file:
            return file.read(_MOST_IGNORED)
    except OSError:
        return None
