"""What notebooks and kernels are now, to be kept with a checkpoint. Starts no kernel and waits for nobody longer than a bound."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeVar
from weakref import WeakSet

from ..._timeouts import wait_at_most
from ...errors import HdspAgentError, NotFound, Unavailable
from ...messages import CellId
from ...notebooks import AgentOutput, Notebooks, NotebookSnapshot
from ...notebooks.kernels import KernelClient, KernelInfo
from ..failure_codes import Why, why_of
from ..files.anchor import NOT_COUNTED, Anchor, Counted
from ..files.records import KeptNotebook, KeptVariables, LeftOut
from ..variables import VariableCheckpoints
from ._change_counts import ChangeCounts
from ._notebook_states import NotebookState, NotebookStates, state_of
from ._timeline_limits import TimelineLimits

__all__ = ["Captured", "Code", "NotebookSeen", "StateCapture"]

_log = logging.getLogger(__name__)
T = TypeVar("T")

Code = Literal["none", "thorough", "after"]
"""Whether variables are looked at: not at all, all of them, or what the last cell may have changed."""
_PYTHON: Final = "python"


@dataclass(frozen=True)
class NotebookSeen:
    """A notebook as it is now."""

    path: str
    state: NotebookState
    dirty: bool
    open: bool
    snapshot: NotebookSnapshot
    """With outputs that are too large for the state."""
    printed: frozenset[str] = frozenset()
    """Cells that show what a run of the agent printed."""


@dataclass(frozen=True)
class Captured:
    """What could be kept, and what could not."""

    notebooks: tuple[KeptNotebook, ...] = ()
    variables: tuple[KeptVariables, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    counted: Counted = NOT_COUNTED
    """How much of it is another than when it was kept last."""

    @property
    def anchor(self) -> Anchor:
        """All of it, to be kept with a checkpoint."""
        return Anchor(notebooks=self.notebooks, variables=self.variables, left_out=self.left_out, counted=self.counted)

    def made_by_agent(self) -> Captured:
        """The same where all of it is the agent's work: then it need not be said of single cells."""
        return replace(self, notebooks=tuple(one.model_copy(update={"printed": ()}) for one in self.notebooks))


class StateCapture:
    """Captures notebooks through their access and variables through their kernels."""

    def __init__(
        self,
        states: NotebookStates,
        notebooks: Notebooks | None,
        variables: VariableCheckpoints | None,
        limits: TimelineLimits,
        counting: ChangeCounts,
    ) -> None:
        self._counting = counting
        self.states: Final = states
        self.notebooks: Final = notebooks
        self.variables: Final = variables
        self.limits: Final = limits
        self._followed: WeakSet[KernelClient] = WeakSet()

    async def look(self, path: str) -> NotebookSeen:
        """A notebook as it is now. NotFound if there is none, Unavailable if its tab is silent."""
        assert self.notebooks is not None
        document = self.notebooks.access.document(path)
        seconds = self.limits.notebook_seconds
        try:
            snapshot = await wait_at_most(document.snapshot(outputs="full"), seconds)
        except TimeoutError:
            raise Unavailable(
                f"{path} did not answer within {seconds:g} seconds.", path=path, seconds=seconds, why="tab_silent"
            ) from None
        # Asked after the notebook was read: it may be behind what was printed, never before it.
        printed = self.notebooks.live_outputs.printed(path)
        state = await asyncio.to_thread(state_of, snapshot, self.limits)
        shown = await asyncio.to_thread(_shown, snapshot, printed)
        return NotebookSeen(path, state, snapshot.dirty, snapshot.source != "disk", snapshot, shown)

    def whole(self, seen: NotebookSeen, cells: Collection[str]) -> NotebookState:
        """The state with all of these cells, however large. Blocks."""
        return state_of(seen.snapshot, self.limits, cells)

    async def capture(self, paths: Sequence[str], code: Code) -> Captured:
        """These notebooks, and if their kernels run, variables. A notebook that is not there is not kept."""
        if self.notebooks is None or not paths:
            return Captured()
        paths = list(dict.fromkeys(self.notebooks.access.now_at(path) for path in paths))
        cells, values = await asyncio.gather(
            asyncio.gather(*(self._cells(path) for path in paths)), self._all_values(paths, code)
        )
        kept = tuple(one for one in cells if isinstance(one, KeptNotebook))
        named = tuple(one for one in values if isinstance(one, KeptVariables))
        left_out = tuple(one for one in (*cells, *values) if isinstance(one, LeftOut))
        return Captured(kept, named, left_out, await self._counting.since_last(kept, named))

    async def kernels(self) -> Mapping[str, KernelInfo]:
        """The kernels that run, by their notebooks' paths."""
        assert self.notebooks is not None
        try:
            return {kernel.path: kernel for kernel in await self.notebooks.executor.kernels()}
        except HdspAgentError as error:
            _log.warning("It is not known which kernels run, so no variables are saved: %s", error)
            return {}

    async def link(self, path: str, *, to_set: bool = False) -> KernelClient:
        """The connection to a notebook's kernel, ``to_set`` its variables or only to read; NotFound if none runs."""
        assert self.notebooks is not None
        if to_set:
            self.notebooks.stir(path)
        return await self.notebooks.executor.link(path)

    async def patience(self, path: str) -> tuple[bool, float]:
        """Whether a notebook's kernel runs a cell, and how long to wait for it; NotFound if none runs."""
        kernel = (await self.kernels()).get(path)
        if kernel is None:
            raise NotFound("It has no running kernel. Start one, then try again.", path=path, why="no_kernel")
        busy = kernel.state == "busy"
        return busy, self.limits.busy_seconds if busy else self.limits.variables_seconds

    async def asked(self, path: str, ask: Callable[[KernelClient], Awaitable[T]]) -> T:
        """What a notebook's kernel answers; NotFound if none runs, Unavailable if it does not answer in time."""
        busy, seconds = await self.patience(path)

        async def work() -> T:
            return await ask(await self.link(path))

        try:
            return await wait_at_most(work(), seconds)
        except TimeoutError:
            why = "runs a cell" if busy else f"did not answer within {seconds:g} seconds"
            raise Unavailable(
                f"The kernel of {path} {why}. Wait for it, then try again.",
                path=path,
                seconds=seconds,
                why="kernel_busy" if busy else "kernel_silent",
            ) from None

    async def cells_that_ran(self, path: str) -> Mapping[tuple[int, str], str]:
        """The notebook's cells by the execution count and the source they ran with, as ``CellsThatRan`` tells them."""
        assert self.notebooks is not None
        found: dict[tuple[int, str], str] = {}
        try:
            snapshot = await self.notebooks.access.document(path).snapshot()
        except HdspAgentError as error:
            _log.info("It is not known which cells of %s ran: %s", path, error.message)
        else:
            found = {
                (cell.execution_count, cell.source.rstrip()): cell.id
                for cell in snapshot.cells
                if cell.execution_count is not None
            }
        # What is open in a tab may be behind what was printed.
        for cell_id, printed in self.notebooks.live_outputs.printed(path).items():
            if printed.execution_count is not None:
                found[printed.execution_count, printed.code.rstrip()] = cell_id
        return found

    async def _all_values(self, paths: Sequence[str], code: Code) -> Sequence[KeptVariables | LeftOut | None]:
        kernels = await self.kernels() if code != "none" and self.variables is not None else {}
        return await asyncio.gather(
            *(self._values(kernel, thorough=code == "thorough") for path in paths if (kernel := kernels.get(path)))
        )

    async def _cells(self, path: str) -> KeptNotebook | LeftOut | None:
        try:
            seen = await self.look(path)
            name = await asyncio.to_thread(self.states.keep, seen.state)
        except NotFound:
            return None
        except HdspAgentError as error:
            return LeftOut(path=path, part="notebooks", why=error.message, coded=why_of(error))
        return KeptNotebook(path=path, state=name, dirty=seen.dirty, printed=tuple(sorted(seen.printed)))

    async def _values(self, kernel: KernelInfo, *, thorough: bool) -> KeptVariables | LeftOut | None:
        assert self.variables is not None
        path = kernel.path
        if kernel.language not in ("", _PYTHON):
            return LeftOut(
                path=path,
                part="variables",
                why=f"Its kernel is for {kernel.language}, not for Python.",
                coded=Why(code="other_language", params={"language": kernel.language}),
            )
        try:
            return await self.asked(path, lambda link: self._manifest(path, link, thorough=thorough))
        except HdspAgentError as error:
            return LeftOut(path=path, part="variables", why=error.message, coded=why_of(error))

    async def _manifest(self, path: str, link: KernelClient, *, thorough: bool) -> KeptVariables:
        assert self.variables is not None
        if link not in self._followed:
            await self.variables.follow(link)
            self._followed.add(link)
        manifest = await self.variables.capture(link, thorough=thorough, cells=lambda: self.cells_that_ran(path))
        return KeptVariables(path=path, manifest=manifest.id, state=manifest.state_hash)


def _shown(snapshot: NotebookSnapshot, printed: Mapping[CellId, AgentOutput]) -> frozenset[str]:
    """Which cells show what was printed."""
    return frozenset(
        cell.id for cell in snapshot.cells if (one := printed.get(cell.id)) is not None and one.is_shown_by(cell)
    )
