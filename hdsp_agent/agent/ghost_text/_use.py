"""What ghost text used of its models, by person, day and model, in a small file of the storage folder."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from ..._background_tasks import BackgroundTasks
from ..._private_files import locked, make_private_folder, read_with_identity, replace_file, set_aside
from ...errors import HdspAgentError
from ...persistence import ModelUse
from ...providers import KnownModel, UsageReport, cost_of

__all__ = ["GhostTextUse"]

logger = logging.getLogger(__name__)

_FILE: Final = "ghost-text.json"
_LOCK_SECONDS: Final = 5.0

_Uses = dict[str, list[ModelUse]]


@cache
def _uses() -> TypeAdapter[_Uses]:
    return TypeAdapter(_Uses)


class GhostTextUse:
    """It is written in the background: who types does not wait for the disk."""

    def __init__(self, home: Path) -> None:
        self._path: Final = home / _FILE
        self._news: _Uses = {}
        self._access = asyncio.Lock()
        self._held = BackgroundTasks()
        self._writing = False

    def add(self, person: str, info: KnownModel, usage: UsageReport | None) -> None:
        """One more request; of one that was broken off nobody knows the tokens."""
        used = ModelUse(day=_today(), model=info.id, requests=1)
        if usage is not None:
            tokens = {"tokens_in": usage.context, "tokens_out": usage.output}
            used = used.model_copy(update={**tokens, "cost": cost_of(info, usage) or 0.0})
        self._news = _together(self._news, {person: [used]})
        if not self._writing:
            self._writing = True
            self._held.begin(self._write())

    async def of(self, person: str) -> Sequence[ModelUse]:
        """What a person used, by day and model. Raises StorageUnavailable."""
        async with self._access:
            known = await asyncio.to_thread(_read, self._path)
            return _together(known, self._news).get(person, [])

    async def cost_today(self, person: str) -> float:
        """In US dollars, as far as the prices are known. Raises StorageUnavailable."""
        today = _today()
        return sum(use.cost for use in await self.of(person) if use.day == today)

    async def stop(self) -> None:
        """Finish writing."""
        await self._held.drain()

    async def _write(self) -> None:
        try:
            while self._news:
                async with self._access:
                    news, self._news = self._news, {}
                    try:
                        await asyncio.to_thread(_add, self._path, news)
                    except HdspAgentError as error:
                        # With the next request it is tried again.
                        self._news = _together(news, self._news)
                        logger.warning("What ghost text used could not be saved: %s", error)
                        return
        finally:
            self._writing = False


def _today() -> str:
    return datetime.now().astimezone().date().isoformat()


def _together(known: Mapping[str, Sequence[ModelUse]], more: Mapping[str, Sequence[ModelUse]]) -> _Uses:
    found: _Uses = {person: [*uses] for person, uses in known.items()}
    for person, uses in more.items():
        by_key = {(use.day, use.model): use for use in found.get(person, ())}
        for use in uses:
            key = (use.day, use.model)
            by_key[key] = by_key[key].plus(use) if key in by_key else use
        found[person] = list(by_key.values())
    return found


def _add(path: Path, news: _Uses) -> None:
    make_private_folder(path.parent)
    with locked(path, _LOCK_SECONDS):
        replace_file(path, _uses().dump_json(_together(_read(path, to_change=True), news)))


def _read(path: Path, *, to_change: bool = False) -> _Uses:
    found = read_with_identity(path)
    if found is None:
        return {}
    try:
        return _uses().validate_json(found[0])
    except ValidationError as error:
        logger.warning("%s is damaged and is counted anew: %s", path, error)
        if to_change:
            set_aside(path, datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ"))
        return {}
