"""What is in a notebook's kernel, for the person to look at, how it differs from the newest checkpoint, and its databases."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, Literal

from .._timeouts import wait_at_most
from ..checkpoints.timeline import VariablesSince
from ..errors import HdspAgentError, Unsupported
from ..notebooks import Notebooks
from ..notebooks.kernels import Database, InspectionLimits, KernelInfo, VariablesReport, VariableTable
from .checkpoint_access import CheckpointAccess, CheckpointPlace

__all__ = ["Answers", "DatabasesNow", "KernelVariables", "VariablesNow"]

_log = logging.getLogger(__name__)

Answers = Literal["now", "later", "never"]
"""Whether a kernel can tell its variables: ``later`` when its cell is done, ``never`` if it is none of IPython's."""
_LISTED: Final = InspectionLimits(
    seconds=3.0, each_seconds=0.3, variables=500, head_characters=200, rows=1, columns=50, items=4
)
_SHOWN: Final = InspectionLimits(seconds=3.0, head_characters=5_000, rows=50, columns=100, items=200)
_LISTED_SECONDS: Final = 30.0
_LISTED_NOTEBOOKS: Final = 20
_SINCE_SECONDS: Final = 1.5
"""The list does not wait longer for what changed."""


@dataclass(frozen=True)
class VariablesNow:
    """A kernel, and what is in it."""

    kernel: KernelInfo | None = None
    """None if none runs."""
    answers: Answers = "now"
    report: VariablesReport = field(default_factory=VariablesReport)
    since: VariablesSince | None = None
    """None if nobody asked for it."""


@dataclass(frozen=True)
class DatabasesNow:
    """What a kernel is connected to."""

    answers: Answers = "now"
    databases: tuple[Database, ...] = ()


@dataclass(frozen=True)
class _Listed:
    """The databases of a kernel, as they were told last."""

    stirred: object
    at: float
    now: DatabasesNow


class KernelVariables:
    """Looks into the kernels of notebooks. It starts none, and changes nothing in them."""

    def __init__(self, notebooks: Notebooks, checkpoints: CheckpointAccess) -> None:
        self._notebooks = notebooks
        self._checkpoints = checkpoints
        self._listed: OrderedDict[str, _Listed] = OrderedDict()

    async def look(self, place: CheckpointPlace, *, with_changes: bool = True) -> VariablesNow:
        """What is in the kernel of a place's notebook, and how it differs from the newest checkpoint."""
        assert place.path is not None
        kernel = await self._notebooks.kernel(place.path)
        if kernel is None:
            return VariablesNow()
        executor = self._notebooks.executor
        if kernel.state == "busy" and not (await executor.link(kernel.path)).probed:
            # What looks at them is put into the kernel when it has time.
            return VariablesNow(kernel, "later")
        try:
            looking = executor.inspect(kernel.path, limits=_LISTED)
            if not with_changes:
                return VariablesNow(kernel, report=await looking)
            report, since = await asyncio.gather(looking, self._since(place))
        except Unsupported as error:
            _log.info("The variables of %s cannot be listed: %s", kernel.path, error.message)
            return VariablesNow(kernel, "never")
        return VariablesNow(kernel, report=report, since=since)

    async def look_into(self, path: str, name: str, start: int) -> VariableTable:
        """Some rows of a variable. NotFound if there is none, or no kernel runs."""
        path = self._notebooks.access.now_at(path)
        return await self._notebooks.executor.look_into(path, name, start=start, limits=_SHOWN)

    async def databases(self, path: str) -> DatabasesNow:
        """The databases that a notebook's kernel is connected to, with the names of their tables.

        Who types asks again and again: for a moment the answer stands until something runs.
        """
        kernel = await self._notebooks.kernel(path)
        if kernel is None:
            return DatabasesNow()
        if kernel.state == "busy":
            return DatabasesNow("later")
        stirred = self._notebooks.stirred(path, kernel)
        listed = self._listed.get(kernel.path)
        if listed is not None and listed.stirred == stirred and monotonic() - listed.at < _LISTED_SECONDS:
            return listed.now
        now = await self._databases(kernel)
        if now.answers == "now" and all(one.lasts for one in now.databases):
            self._listed[kernel.path] = _Listed(stirred, monotonic(), now)
            self._listed.move_to_end(kernel.path)
            while len(self._listed) > _LISTED_NOTEBOOKS:
                self._listed.popitem(last=False)
        return now

    async def _databases(self, kernel: KernelInfo) -> DatabasesNow:
        try:
            found = await self._notebooks.executor.databases(kernel.path)
        except Unsupported as error:
            _log.info("The databases of %s cannot be listed: %s", kernel.path, error.message)
            return DatabasesNow("never")
        return DatabasesNow("later") if found is None else DatabasesNow(databases=found)

    async def schema(self, path: str, database: str, table: tuple[str | None, str] | None) -> Database:
        """A database with the columns of its tables, or of one. NotFound if there is none; Unavailable while a cell runs."""
        path = self._notebooks.access.now_at(path)
        return await self._notebooks.executor.schema(path, database, table)

    async def _since(self, place: CheckpointPlace) -> VariablesSince:
        try:
            return await wait_at_most(self._changes(place), _SINCE_SECONDS)
        except TimeoutError:
            return VariablesSince(unknown="pending")
        except HdspAgentError as error:
            # The variables are shown all the same.
            _log.warning("How the variables of %s changed is not known: %s", place.path, error.message)
            return VariablesSince(unknown="failed")

    async def _changes(self, place: CheckpointPlace) -> VariablesSince:
        assert place.path is not None
        folder, checkpoints = await self._checkpoints.at(place)
        if not checkpoints.keeps_variables:
            return VariablesSince(unknown="turned_off")
        return await (await checkpoints.timeline(folder)).variables_since(place.path)
