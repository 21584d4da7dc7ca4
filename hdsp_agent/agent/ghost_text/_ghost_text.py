"""Asks a model what it would write at the cursor, and stands back behind conversations and kernels."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from ..._threads import in_thread
from ...config import ContextProxy, ProviderSettings
from ...errors import HdspAgentError, NoGhostTextModel
from ...local import LocalModels, ModelInUse
from ...notebooks import Notebooks
from ...notebooks.kernels import Variable
from ...persistence import Masker
from ...providers import FillInClient, open_fill_in
from ...tools import PathPolicy, ToolFailed
from .._local_providers import place_on_this_machine
from ._place import Place, gap_at
from ._suggestion import suggestion

__all__ = ["GhostText"]

_OTHERS_TEMPERATURE: Final = 0.7
"""Of the suggestions after the first."""


class GhostText:
    """What a model would write at the cursor. One of them a server; nothing is opened before somebody asks."""

    def __init__(
        self,
        config: ContextProxy,
        local: LocalModels,
        *,
        notebooks: Notebooks | None = None,
        paths: Callable[[], PathPolicy],
    ) -> None:
        self._config = config
        self._local = local
        self._notebooks = notebooks
        self._paths = paths
        self._opened: tuple[ProviderSettings, FillInClient] | None = None
        self._opening = asyncio.Lock()
        self._seen: tuple[object, Sequence[Variable]] = (None, ())

    async def suggest(self, place: Place, *, path: str | None = None, count: int = 1) -> list[str]:
        """What may be written there, the likeliest first; nothing while a conversation has the model on this machine.

        ``path`` is the file or notebook that is written in. Raises what keeps the profile's model from being asked.
        """
        if not self._config.settings.ghost_text_enabled:
            return []
        if path is not None and await self._is_hidden(path):
            return []
        settings = await self._profile()
        client = await self._client(settings)
        masker = Masker(() if place_on_this_machine(settings) is not None else self._config.settings.masked_kinds)
        shown = await _masked(place, masker)
        gap = gap_at(shown, await self._variables(path) if place.kind == "code" else ())
        found: list[str] = []
        for at in range(count):
            try:
                filling = await client.fill(replace(gap, temperature=_OTHERS_TEMPERATURE if at else 0.0))
            except ModelInUse:
                break
            text = suggestion(masker.unmask(filling.text), place, is_cut=filling.is_cut)
            if text and text not in found:
                found.append(text)
        return found

    async def stop(self) -> None:
        """Let go of all connections."""
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened[1].close()

    async def _profile(self) -> ProviderSettings:
        """The profile that was chosen for it, with its keys; else the model on this machine that runs, or is the smallest."""
        chosen = self._config.settings.ghost_text_api_config_id
        if chosen is not None:
            return await self._config.with_keys(chosen)
        ready = [state for state in await self._local.states() if state.state == "ready"]
        if not ready:
            raise NoGhostTextModel(
                "There is no model for ghost text. Download the embedded model, or choose a profile for ghost text."
            )
        running = next((one for one in ready if self._local.runtime.runs(one.id)), None)
        smallest = min(ready, key=lambda one: one.size)
        return ProviderSettings(api_provider="local", api_model_id=(running or smallest).id)

    async def _client(self, settings: ProviderSettings) -> FillInClient:
        async with self._opening:
            if self._opened is not None and self._opened[0] == settings:
                return self._opened[1]
            client = await open_fill_in(settings, policy=self._config.policy, local=self._local)
            await self.stop()
            self._opened = settings, client
            return client

    async def _is_hidden(self, path: str) -> bool:
        """Whether the file is kept from the agent."""
        root = None if self._notebooks is None else self._notebooks.access.root
        place = path if root is None else str(root / path)

        def hidden(_stop: object) -> bool:
            try:
                self._paths().resolve(place)
            except ToolFailed:
                return True
            return False

        return await in_thread(hidden)

    async def _variables(self, path: str | None) -> Sequence[Variable]:
        """What the notebook's kernel has: looked at once after each run, and never while it has something to do."""
        if path is None or self._notebooks is None:
            return ()
        try:
            kernel = await self._notebooks.kernel(path)
            if kernel is None:
                return ()
            stirred = self._notebooks.stirred(path, kernel)
            if self._seen[0] == stirred:
                return self._seen[1]
            if kernel.state != "idle":
                return ()
            seen = (await self._notebooks.executor.inspect(path)).variables
        except HdspAgentError:
            return ()
        self._seen = stirred, seen
        return seen


async def _masked(place: Place, masker: Masker) -> Place:
    """Without keys and passwords."""

    def mask(_stop: object) -> Place:
        return replace(
            place,
            before=masker.mask(place.before),
            after=masker.mask(place.after),
            cells=[replace(cell, source=masker.mask(cell.source)) for cell in place.cells],
        )

    return await in_thread(mask)
