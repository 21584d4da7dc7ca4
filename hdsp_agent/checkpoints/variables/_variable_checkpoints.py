"""Checkpoints of variables as the rest of the product uses them."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final, Literal
from weakref import WeakKeyDictionary, WeakValueDictionary

from pydantic import ValidationError

from ..._timeouts import wait_at_most
from ...errors import Conflict, HdspAgentError, NotFound, StorageUnavailable, Unavailable, Unsupported
from ...messages import JsonObject
from ...wire import WireModel
from ._changed_variables import VariablesSeen
from ._kernel_runtime import LIBRARIES, KernelQuestion, VariableKernel
from ._manifest import Environment, ManifestId, RecordedRun, VariableGroup, VariableManifest
from ._piece_transfer import PieceTransfer
from ._rerun import Rerun, rerun_for
from ._variable_limits import VariableLimits
from ._variable_plan import ChosenVariables, VariablePlan, refuse_other_environment, variable_plan
from ._variable_store import VariableStore

__all__ = ["VariableCheckpoints", "VariableReport"]

_log = logging.getLogger(__name__)

_LONGEST_HISTORY: Final = 10_000

CellsThatRan = Callable[[], Awaitable[Mapping[tuple[int, str], str]]]
"""Tells cells by the execution count and the source, without white space at its end, that they ran with."""


class VariableReport(WireModel):
    """What a restore did."""

    target: ManifestId
    before: ManifestId
    """Restore this to undo it."""
    loaded: tuple[str, ...]
    kept: tuple[str, ...]
    removed: tuple[str, ...]
    kept_live: tuple[str, ...]
    """Open files and the like that are the same objects still; what was done with them since is not undone."""
    kept_unsaved: tuple[str, ...]
    """What came since and cannot be saved."""
    lost: tuple[str, ...]
    """What only cells can make again; see ``rerun``."""
    rerun: Rerun


@dataclass(frozen=True)
class _Met:
    """What a kernel has said of itself."""

    life: str
    environment: Environment
    own_folder: str | None
    """Where it keeps pieces until it has sent them; None where it sees the store."""


@dataclass
class _Life:
    """What is remembered of one life of a kernel."""

    parent: ManifestId
    run: int


class VariableCheckpoints:
    """Saves and restores variables of IPython's kernels. What runs in the kernel leaves its namespace, its history and its
    count as they are, but for the variables a restore is asked to change.

    Errors: Unsupported (another language, another Python, another major version of a library, a kernel that cannot reach the
    store), Unavailable (the kernel is gone or does not answer), StorageUnavailable (disk full, damage), NotAllowed (a store of
    somebody else), Conflict (a cell ran in between), NotFound. After each of them the variables are as they were.
    """

    def __init__(self, store: VariableStore, limits: VariableLimits | None = None) -> None:
        self._store = store
        self._limits = limits or VariableLimits()
        self._lives: dict[str, _Life] = {}
        self._met: WeakKeyDictionary[VariableKernel, _Met] = WeakKeyDictionary()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def store(self) -> VariableStore:
        """Where they are kept. Its methods block."""
        return self._store

    def set_limits(self, limits: VariableLimits) -> None:
        """Heed these from the next capture on."""
        self._limits = limits

    async def follow(self, kernel: VariableKernel) -> None:
        """Have the kernel sweep after each of its runs, whoever runs them: nothing that is queued comes in between.

        ``capture(thorough=False)`` then takes what it found.
        """
        async with self._at(kernel) as asked:
            await self._hello(kernel, asked, follow=True)

    async def capture(
        self, kernel: VariableKernel, *, thorough: bool = True, cells: CellsThatRan | None = None
    ) -> VariableManifest:
        """Save the variables once the kernel is idle. ``cells`` is asked about runs from before the kernel was followed.

        A thorough capture looks at every variable and misses no change. Otherwise variables that take long to look at are
        looked at only if a cell may have changed them, as far as its text and the functions it calls tell; they are marked as
        ``assumed``.
        """
        if await asyncio.to_thread(self._store.free) < self._limits.free_bytes:
            raise StorageUnavailable(
                f"The disk has less than {self._limits.free_bytes // 1_000_000} MB left, so variables are not saved. Free"
                " some space.",
                megabytes=self._limits.free_bytes // 1_000_000,
                why="values_no_room",
            )
        async with self._at(kernel) as asked:
            return await self._capture(kernel, asked, thorough, cells)

    async def last(self, kernel: VariableKernel) -> VariablesSeen | Literal["unknown", "pending"]:
        """What the kernel found out by itself after its last run, unless nobody had it do so, or it still does.

        The kernel looks at nothing for it, and its main thread has nothing to do with it.
        """
        told = await KernelQuestion(kernel).last(self._limits.last_seconds)
        if "unknown" in told:
            return "unknown"
        if "pending" in told:
            return "pending"
        try:
            return VariablesSeen.model_validate(told)
        except ValidationError as error:
            raise Unavailable(
                "The kernel's variables came in a form that cannot be read.", why="kernel_failed"
            ) from error

    async def plan(
        self,
        target: ManifestId,
        kernel: VariableKernel,
        *,
        leave: Collection[str] = (),
        only: Collection[str] | None = None,
        overwrite: bool = False,
        cells: CellsThatRan | None = None,
    ) -> VariablePlan:
        """What ``restore`` would do now. Saves the variables as they are, as ``capture`` does, and changes nothing."""
        async with self._at(kernel) as asked:
            return (await self._plan(target, kernel, asked, ChosenVariables(leave, only, overwrite), cells))[0]

    async def restore(
        self,
        target: ManifestId,
        kernel: VariableKernel,
        *,
        leave: Collection[str] = (),
        only: Collection[str] | None = None,
        overwrite: bool = False,
        expected: VariablePlan | None = None,
        within: float | None = None,
        begins: Callable[[ManifestId], None] | None = None,
    ) -> VariableReport:
        """Make the variables what they were, as a whole or not at all; ``before`` in the report undoes it.

        What is right already is kept, what differs is loaded with all that shares objects with it, later names are removed.
        ``leave`` leaves some as they are, ``only`` all but some, ``overwrite`` also replaces what cannot be saved, which
        nothing brings back. With ``expected``, the plan a person has seen, it is a Conflict if a cell ran since. It is one
        too if the kernel is not ready ``within`` so many seconds. ``begins`` is told of ``before`` when all is ready: from
        then on variables may be others.
        """
        async with self._at(kernel) as asked:
            try:
                planned = self._plan(target, kernel, asked, ChosenVariables(leave, only, overwrite))
                plan, wanted = await wait_at_most(planned, within)
            except TimeoutError:
                raise Conflict(
                    "The kernel is busy, so nothing was restored. Wait for it, then try again.",
                    kernel=kernel.kernel_id,
                    why="kernel_busy",
                ) from None
            if expected is not None and (plan.life, plan.run) != (expected.life, expected.run):
                raise _moved(kernel)
            question = self._question(plan, wanted, only)
            sent: Collection[str] = ()
            if (folder := self._met[kernel].own_folder) is not None:
                question["folder"] = folder
                sent = await self._transfer(asked).send(_loaded(plan, wanted))
            if begins is not None:
                begins(plan.before)
            # Shielded: what the kernel was told to do it does, and then the report says so.
            told = await asyncio.shield(asked.ask("restore", question, seconds=self._limits.busy_seconds))
            if sent:
                # Whatever becomes of these, the variables are restored.
                with suppress(HdspAgentError):
                    await self._transfer(asked).drop(sent)
        if "moved" in told:
            raise _moved(kernel)
        if "failed" in told:
            names = told.get("names")
            shown = ", ".join(str(name) for name in names) if isinstance(names, list) else "a variable"
            raise Unavailable(
                f"{shown} cannot be restored, so nothing was changed: {told['failed']}. Leave it out, or run its cells again.",
                names=shown,
                details=str(told["failed"]),
                why="value_unreadable",
            )
        return VariableReport(
            target=plan.target,
            before=plan.before,
            loaded=plan.named("load", "import"),
            kept=plan.named("keep"),
            removed=plan.named("remove"),
            kept_live=plan.named("keep_live"),
            kept_unsaved=plan.named("keep_unsaved"),
            lost=plan.named("lost"),
            rerun=plan.rerun,
        )

    async def ran(self, manifest: ManifestId) -> tuple[RecordedRun, ...]:
        """What had run in that life of the kernel, the first first; as far back as is known."""
        return await asyncio.to_thread(lambda: self._history(self._store.load(manifest)))

    # ---- steps

    @asynccontextmanager
    async def _at(self, kernel: VariableKernel) -> AsyncIterator[KernelQuestion]:
        """The runtime of a kernel, one operation at a time."""
        lock = self._locks.get(kernel.kernel_id)
        if lock is None:
            lock = self._locks[kernel.kernel_id] = asyncio.Lock()
        async with lock:
            yield KernelQuestion(kernel)

    async def _hello(self, kernel: VariableKernel, asked: KernelQuestion, *, follow: bool | None = None) -> _Met:
        known = self._met.get(kernel)
        told = None
        if known is None or known.own_folder is None:
            name, word = await asyncio.to_thread(self._store.probe)
            try:
                told = await self._greet(asked, name, follow=follow, apart=False)
            finally:
                await asyncio.to_thread(self._store.drop_probe, name)
        if told is None or told.get("seen") != word:
            # It runs on another machine or as another user.
            told = await self._greet(asked, None, follow=follow, apart=True)
            if "folder" not in told:
                raise Unsupported(
                    "The kernel cannot reach the folder where checkpoints are kept; it runs on another machine or as another"
                    f" user. It cannot send its variables either, for want of a temporary folder: {told.get('unseen')}.",
                    why="kernel_elsewhere",
                )
        folder = told.get("folder")
        met = self._met[kernel] = _Met(
            str(told["life"]),
            Environment.model_validate(told["environment"]),
            folder if isinstance(folder, str) else None,
        )
        return met

    async def _greet(self, asked: KernelQuestion, probe: str | None, *, follow: bool | None, apart: bool) -> JsonObject:
        question: JsonObject = {
            **await self._place(apart=apart),
            "probe": probe,
            "follow": follow,
            "seconds": self._limits.inline_seconds,
            "libraries": list(LIBRARIES),
        }
        return await asked.ask("hello", question, seconds=self._limits.busy_seconds)

    async def _capture(
        self, kernel: VariableKernel, asked: KernelQuestion, thorough: bool, cells: CellsThatRan | None = None
    ) -> VariableManifest:
        # A connection is to one life of the kernel.
        met = self._met.get(kernel) or await self._hello(kernel, asked)
        environment = met.environment
        known = self._lives.get(met.life)
        for forget in (False, True):
            place = await self._place(met.own_folder, apart=met.own_folder is not None)
            begun = await asked.ask(
                "capture",
                {
                    **place,
                    "thorough": thorough,
                    "seconds": None if thorough else self._limits.inline_seconds,
                    "forget": forget,
                },
                seconds=self._limits.busy_seconds,
            )
            sweep = begun["sweep"]
            assert isinstance(sweep, int)
            told = await asked.collect(sweep, known.run if known else 0, self._limits.write_seconds)
            if told.get("trouble"):
                _log.warning(
                    "After a run of kernel %s its variables were not saved: %s", kernel.kernel_id, told["trouble"]
                )
            manifest = _manifest(told, kernel, known.parent if known else None, environment)
            if met.own_folder is not None:
                transfer = self._transfer(asked)
                await transfer.fetch(await asyncio.to_thread(self._store.missing_pieces, manifest))
                await transfer.drop(set(manifest.keys()))
            if not await asyncio.to_thread(self._store.missing, manifest):
                break
        else:
            raise StorageUnavailable(
                "The variable store loses what is written to it, so nothing was saved.", why="values_not_written"
            )
        if any(library not in environment.libraries for group in manifest.groups for library in group.libraries):
            environment = (await self._hello(kernel, asked)).environment
            manifest = manifest.model_copy(update={"environment": environment})
        if cells is not None and any(run.cell is None and run.count is not None for run in manifest.runs):
            manifest = _with_cells(manifest, await cells())
        await asyncio.to_thread(self._store.keep, manifest)
        self._lives[met.life] = _Life(manifest.id, manifest.run)
        return manifest

    async def _plan(
        self,
        target: ManifestId,
        kernel: VariableKernel,
        asked: KernelQuestion,
        chosen: ChosenVariables,
        cells: CellsThatRan | None = None,
    ) -> tuple[VariablePlan, VariableManifest]:
        wanted = await asyncio.to_thread(self._store.load, target)
        if wanted.runs_only:
            raise NotFound(
                f"The variables of the checkpoint {target} were deleted to make room.",
                checkpoint=target,
                why="values_gone",
            )
        refuse_other_environment(wanted, (await self._hello(kernel, asked)).environment)
        if missing := await asyncio.to_thread(self._store.missing, wanted):
            raise StorageUnavailable(
                f"{missing} pieces of the checkpoint {target} of variables no longer exist.", why="values_gone"
            )
        current = await self._capture(kernel, asked, thorough=True, cells=cells)
        plan = variable_plan(wanted, current, chosen)
        if lost := plan.named("lost"):
            # Only then: a long session has a manifest for each of its cells.
            runs = await asyncio.to_thread(self._history, wanted)
            plan = plan.model_copy(update={"rerun": rerun_for(lost, runs, wanted.variables)})
        return plan, wanted

    def _history(self, manifest: VariableManifest) -> tuple[RecordedRun, ...]:
        """All runs that led to a manifest, the first first; as far back as manifests are kept."""
        runs: list[RecordedRun] = []
        at: VariableManifest | None = manifest
        while at is not None and len(runs) < _LONGEST_HISTORY:
            runs[:0] = at.runs
            try:
                at = self._store.load(at.parent) if at.parent is not None else None
            except NotFound:
                break
        return tuple(runs)

    def _transfer(self, asked: KernelQuestion) -> PieceTransfer:
        return PieceTransfer(self._store, asked, self._limits.write_seconds)

    async def _place(self, folder: str | None = None, *, apart: bool) -> JsonObject:
        """Where a kernel writes, and how much; ``apart``: it sends its variables as messages."""
        variable, total = self._limits.variable_bytes, self._limits.total_bytes
        if apart:
            variable = min(variable, self._limits.sent_variable_bytes)
            total = min(total, self._limits.sent_total_bytes)
        limits: JsonObject = {"variable": variable, "total": total, "held": self._limits.held_bytes}
        epoch = await asyncio.to_thread(self._store.epoch)
        return {"folder": folder or str(self._store.pieces), "epoch": epoch, "limits": limits}

    def _question(
        self, plan: VariablePlan, target: VariableManifest, only: Collection[str] | None = None
    ) -> JsonObject:
        groups = _loaded(plan, target)
        classes = target.classes if only is None else target.classes_of(groups)
        modules: JsonObject = {name: target.variables[name].why for name in plan.named("import")}
        return {
            "folder": str(self._store.pieces),
            "life": plan.life,
            "run": plan.run,
            "groups": [group.model_dump(mode="json") for group in groups],
            "classes": {token: one.model_dump(mode="json") for token, one in classes.items()},
            "modules": modules,
            # What shares objects with what is loaded is read too.
            "keep": [*plan.named("keep_unsaved"), *plan.named("leave")],
            # A lost name may stand for something else by now, which is not what it was.
            "remove": [*plan.named("remove"), *plan.named("lost")],
        }


def _loaded(plan: VariablePlan, target: VariableManifest) -> list[VariableGroup]:
    loaded = set(plan.named("load"))
    return [group for group in target.groups if not loaded.isdisjoint(group.names)]


def _manifest(
    told: JsonObject, kernel: VariableKernel, parent: ManifestId | None, environment: Environment
) -> VariableManifest:
    try:
        return VariableManifest.model_validate(
            {
                **told,
                "id": secrets.token_hex(8),
                "parent": parent,
                "kernel_id": kernel.kernel_id,
                "environment": environment,
            }
        )
    except ValidationError as error:
        raise Unavailable("The kernel's variables came in a form that cannot be read.", why="kernel_failed") from error


def _with_cells(manifest: VariableManifest, cells: Mapping[tuple[int, str], str]) -> VariableManifest:
    runs = tuple(
        run.model_copy(update={"cell": cells.get((run.count, run.source.rstrip()))})
        if run.cell is None and run.count is not None and run.source is not None
        else run
        for run in manifest.runs
    )
    return manifest.model_copy(update={"runs": runs})


def _moved(kernel: VariableKernel) -> Conflict:
    return Conflict(
        "A cell ran in the meantime, so nothing was restored. Check the preview again.",
        kernel=kernel.kernel_id,
        why="cell_ran",
    )
