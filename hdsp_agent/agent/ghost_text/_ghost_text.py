"""Asks a model what it would write at the cursor, and stands back behind conversations and kernels."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from ..._threads import in_thread
from ...config import ContextProxy, ProviderSettings
from ...errors import GhostTextLimitReached, HdspAgentError, NoGhostTextModel
from ...local import LocalModels, ModelInUse
from ...notebooks import Notebooks
from ...notebooks.kernels import InspectionLimits, Variable
from ...persistence import Masker, ModelUse
from ...providers import FillInClient, Filling, Gap, ModelError, UsageReport, open_fill_in
from ...tools import PathPolicy, ToolFailed
from .._agent_services import Spacing
from .._local_providers import place_on_this_machine
from ._place import Place, gap_at, is_python
from ._suggestion import suggestion
from ._use import GhostTextUse

__all__ = ["GhostText"]

_OTHERS_TEMPERATURE: Final = 0.7
"""Of the suggestions after the first."""
_LIMITS: Final = InspectionLimits(seconds=0.5, each_seconds=0.1, variables=40, head_characters=1, rows=1, items=1)
"""Names, types and columns are enough."""


class GhostText:
    """What a model would write at the cursor. One of them a server; nothing is opened before somebody asks."""

    def __init__(
        self,
        config: ContextProxy,
        local: LocalModels,
        *,
        notebooks: Notebooks | None = None,
        paths: Callable[[], PathPolicy],
        spacing: Spacing | None = None,
    ) -> None:
        self._config = config
        self._local = local
        self._notebooks = notebooks
        self._paths = paths
        self._spacing = spacing or Spacing()
        self._use = GhostTextUse(config.home)
        self._opened: tuple[ProviderSettings, FillInClient] | None = None
        self._opening = asyncio.Lock()
        self._seen: Mapping[str, Sequence[Variable]] = {}
        self._looked_at: object = None
        self._looks: set[asyncio.Task[None]] = set()

    async def suggest(self, place: Place, *, path: str | None = None, count: int = 1, person: str = "") -> list[str]:
        """What may be written there, the likeliest first; nothing while a conversation has the model on this machine.

        ``path`` is the file or notebook that is written in, ``person`` whose limit it counts for. Raises what keeps the
        profile's model from being asked.
        """
        if not self._config.settings.ghost_text_enabled:
            return []
        if path is not None and await self._is_hidden(path):
            return []
        settings = await self._profile()
        is_elsewhere = place_on_this_machine(settings) is None
        if is_elsewhere:
            await self._check_limit(person)
        client = await self._client(settings)
        masker = Masker(self._config.settings.masked_kinds if is_elsewhere else ())
        shown = await _masked(place, masker)
        if shown is None:
            return []
        gap = gap_at(shown, await self._variables(path) if is_python(place) else ())
        found: list[str] = []
        for at in range(count):
            if not self._may_ask(settings):
                break
            try:
                filling = await self._filled(
                    client, replace(gap, temperature=_OTHERS_TEMPERATURE if at else 0.0), person
                )
            except ModelInUse:
                break
            except ModelError:
                if found:
                    break
                raise
            text = suggestion(masker.unmask(filling.text), place, is_cut=filling.is_cut)
            if text and text not in found:
                found.append(text)
        return found

    async def used(self, person: str) -> Sequence[ModelUse]:
        """What a person's ghost text used, by day and model, but for the embedded model. Raises StorageUnavailable."""
        return await self._use.of(person)

    async def stop(self) -> None:
        """Let go of all connections."""
        for look in self._looks:
            look.cancel()
        if self._looks:
            await asyncio.wait(self._looks)
        await self._close()
        await self._use.stop()

    async def _filled(self, client: FillInClient, gap: Gap, person: str) -> Filling:
        try:
            filling = await client.fill(gap)
        except asyncio.CancelledError:
            # Who typed on broke it off. It may be charged for all the same.
            self._count(person, client, None)
            raise
        self._count(person, client, filling.usage)
        return filling

    def _count(self, person: str, client: FillInClient, usage: UsageReport | None) -> None:
        # The embedded model costs nothing, and waits for conversations before it is asked at all.
        if client.info.provider != "local":
            self._use.add(person, client.info, usage)

    async def _check_limit(self, person: str) -> None:
        limit = self._config.settings.ghost_text_daily_cost
        if await self._use.cost_today(person) >= limit:
            raise GhostTextLimitReached(
                f"Ghost text reached its daily limit of ${limit:,.2f}. It continues tomorrow, or when you raise the limit "
                "in the settings.",
                limit=f"{limit:.2f}",
            )

    def _may_ask(self, settings: ProviderSettings) -> bool:
        """Whether the time has passed that lies between requests of this profile. Nobody waits for ghost text."""
        chosen = self._config.settings.ghost_text_api_config_id
        if chosen is None:
            return True
        own = settings.rate_limit_seconds
        least = self._config.settings.rate_limit_seconds if own is None else own
        return self._spacing.take_free_turn(self._config.profiles.get(chosen).name, least)

    async def _close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened[1].close()

    async def _profile(self) -> ProviderSettings:
        """The profile that was chosen for it, with its keys; else the model on this machine that runs, or is the smallest."""
        chosen = self._config.settings.ghost_text_api_config_id
        if chosen is not None:
            return await self._config.with_keys(chosen)
        self._local.check_allowed()
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
            await self._close()
            self._opened = settings, client
            return client

    async def _is_hidden(self, path: str) -> bool:
        """Whether the file is kept from the agent, or holds keys."""
        root = None if self._notebooks is None else self._notebooks.access.root
        place = path if root is None else str(root / path)

        def hidden(_stop: object) -> bool:
            try:
                return self._paths().resolve(place).holds_credentials
            except ToolFailed:
                return True

        return await in_thread(hidden)

    async def _variables(self, path: str | None) -> Sequence[Variable]:
        """What the notebook's kernel had when it was looked at last: once after each run, while it has nothing to do."""
        if path is None or self._notebooks is None:
            return ()
        try:
            kernel = await self._notebooks.kernel(path)
        except HdspAgentError:
            return ()
        if kernel is None or not kernel.language.lower().startswith("python"):
            return ()
        stirred = self._notebooks.stirred(path, kernel)
        if self._looked_at != stirred and kernel.state == "idle":
            self._looked_at = stirred
            before = set(self._looks)
            for look in before:
                # In another notebook, whose kernel may be busy by now.
                look.cancel()
            look = asyncio.create_task(self._look(path, before), name="variables for ghost text")
            self._looks.add(look)
            look.add_done_callback(self._looks.discard)
        return self._seen.get(path, ())

    async def _look(self, path: str, before: set[asyncio.Task[None]]) -> None:
        assert self._notebooks is not None
        if before:
            await asyncio.wait(before)
        with suppress(HdspAgentError):
            report = await self._notebooks.executor.inspect(path, limits=_LIMITS)
            # Of the notebook that is written in alone.
            self._seen = {path: report.variables}


async def _masked(place: Place, masker: Masker) -> Place | None:
    """Without keys and passwords; None if the cursor is in the middle of one."""

    def mask(_stop: object) -> Place | None:
        before, after = masker.mask(place.before), masker.mask(place.after)
        if masker.mask(place.before + place.after) != before + after:
            return None
        cells = [replace(cell, source=masker.mask(cell.source)) for cell in place.cells]
        return replace(place, before=before, after=after, cells=cells)

    return await in_thread(mask)
