"""All modes of a person in a workspace: built in, their own, the team's and the workspace's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from ...config import GlobalSettings, ModeConfig, OperatorPolicy
from ...messages import ModeName
from ._builtin import BUILT_IN
from ._project_modes import project_modes
from ._untrusted_modes import narrowed, within_code

__all__ = ["ModeRegistry"]


def _trusts_none(folder: Path) -> Path | None:
    return None


def _no_team() -> tuple[Path, ...]:
    return ()


class ModeRegistry:
    """Looks modes up. The person's own mode comes before a built-in of the same name.

    A workspace's modes count if the folder is trusted, and those of the team's folders always. One with the name of a mode
    that is there without it only narrows that mode and adds to its instructions.
    """

    def __init__(
        self,
        settings: Callable[[], GlobalSettings],
        policy: Callable[[], OperatorPolicy],
        trusted: Callable[[Path], Path | None] = _trusts_none,
        team_folders: Callable[[], tuple[Path, ...]] = _no_team,
    ) -> None:
        """``trusted`` says where a trusted folder really is, and None of others; both may block."""
        self._settings = settings
        self._policy = policy
        self._trusted = trusted
        self.team_folders = team_folders

    async def get(self, slug: str, workspace: str | None) -> ModeConfig | None:
        """The mode of this name, if there is one and the operator allows it."""
        return (await self._found(workspace)).get(slug)

    async def names(self, workspace: str | None) -> Sequence[ModeName]:
        """All modes that may be used."""
        return [ModeName(slug=mode.slug, name=mode.name) for mode in (await self._found(workspace)).values()]

    async def modes(self, workspace: str | None) -> Sequence[ModeConfig]:
        """All modes that may be used, whole."""
        return list((await self._found(workspace)).values())

    async def _found(self, workspace: str | None) -> dict[str, ModeConfig]:
        return await asyncio.to_thread(self.by_slug, workspace)

    def by_slug(self, workspace: str | None) -> dict[str, ModeConfig]:
        """All modes that may be used, by their names. Blocks."""
        settings, policy = self._settings(), self._policy()
        folder = self._trusted(Path(workspace)) if workspace else None
        local = [*self._of_team(folder), *(project_modes(folder) if folder is not None else ())]
        # An operator who lists modes means what is built in: another mode of the same name could do more.
        before, after = ((), BUILT_IN) if policy.allowed_modes is not None else (BUILT_IN, ())
        modes = {mode.slug: _with_prompt(mode, settings) for mode in (*before, *settings.custom_modes, *after)}
        taken = {mode.slug for mode in after}
        for mode in local:
            if mode.slug in modes and mode.slug not in taken:
                modes[mode.slug] = narrowed(modes[mode.slug], mode)
            elif mode.slug not in modes:
                modes[mode.slug] = _with_prompt(within_code(mode), settings)
        return {slug: mode for slug, mode in modes.items() if policy.allows_mode(slug)}

    def _of_team(self, workspace: Path | None) -> list[ModeConfig]:
        return [
            mode.model_copy(update={"source": "team"})
            for folder in self.team_folders()
            # A mode that comes twice would narrow itself.
            if folder != workspace
            for mode in project_modes(folder)
        ]


def _with_prompt(mode: ModeConfig, settings: GlobalSettings) -> ModeConfig:
    """The mode with what the person changed about its prompt."""
    prompt = settings.custom_mode_prompts.get(mode.slug)
    if prompt is None:
        return mode
    changes = {name: value for name, value in prompt if value is not None}
    return mode.model_copy(update=changes)
