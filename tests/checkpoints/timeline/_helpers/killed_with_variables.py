"""Kills the server that saves, restores, recovers or collects files, cells and variables at its calls to the system and its
questions to the kernel, which lives on, and looks at what is left.

Run as ``python -m tests.checkpoints.timeline._helpers.killed_with_variables FOLDER save|restore|recover|collect STEP``; prints what went
wrong as JSON.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
import signal
import sys
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jupyter_client.manager import KernelManager
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from hdsp_agent.checkpoints import AsyncFileCheckpoints, CheckpointRecord, FileLimits
from hdsp_agent.checkpoints.files.undo import restores_in_force
from hdsp_agent.checkpoints.timeline import Parts, Timeline, TimelineLimits
from hdsp_agent.checkpoints.timeline._notebook_states import NotebookStates
from hdsp_agent.checkpoints.variables import VariableCheckpoints, VariableLimits, VariableStore
from hdsp_agent.errors import HdspAgentError
from hdsp_agent.messages import CellId, JsonObject
from hdsp_agent.notebooks import EditSource, Notebooks
from hdsp_agent.notebooks.documents.contents import ContentsNotebooks
from hdsp_agent.notebooks.kernels import CellRunSpec
from tests._helpers.parsed_json import parsed

from ....notebooks._helpers.pages import code, notebook, sources_in
from ...files._helpers.killed_operation import in_child
from ...files._helpers.workspace_fixtures import assert_sound
from ...variables._helpers.kernel_client import shown
from ..test_restoring import Conversation
from .kernel_state import DetachedKernel
from .timeline_fixtures import KEY, PATH

There = list[object]
"""Sources of the cells, the table, and the variables."""

ALL = Parts(files=True, notebooks=True, variables=True, conversation=True, overwrite=True)
MADE = "import numpy as np; words = ['a']; big = np.arange(20_000)"
SPOILT = "words.append('b'); big[0] = 7; later = 1"
TOLD = "(words, int(big[0]), 'later' in globals())"
WHOLE: There = [["a = 1", "b = 2"], "x\n1\n", "(['a'], 0, False)"]
BROKEN: There = [["a = broken", "b = 2"], "gone\n", "(['a', 'b'], 7, True)"]
MANY = FileLimits(checkpoints=100_000)
FEW = FileLimits(checkpoints=3, kept_checkpoints=3)
TIGHT = TimelineLimits(variables_bytes=1, spared_seconds=0)
"""All variables go but those that nothing may drop."""
ROUNDS = 4
IMPORTED_LATE = ("anyio._backends._asyncio", "filelock", "watchfiles")
"""What each server would import anew."""

_log = logging.getLogger(__name__)
_log.setLevel(logging.ERROR)


class Deadly(Conversation):
    """The server dies when files, cells and variables are back."""

    async def go_back(self, mark_id: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Server:
    """What one server has of the workspace."""

    root: Path
    files: AsyncFileCheckpoints
    notebooks: Notebooks
    values: VariableCheckpoints
    line: Timeline

    async def there(self) -> There:
        """What there is now. Nothing runs to find out: after a run, a recovery lets the variables be."""
        link = await self.notebooks.executor.link(PATH)
        content: JsonObject = {"code": "", "silent": True, "store_history": False, "user_expressions": {"it": TOLD}}
        values = shown(await link.ask("execute_request", content, seconds=60))
        return [sources_in(self.root / PATH), (self.root / "data.csv").read_text("utf-8"), values]

    async def change(self, cell_id: str, source: str, table: str, run: str) -> None:
        """A cell, a file and variables."""
        document = self.notebooks.access.document(PATH)
        old = next(cell.source for cell in (await document.snapshot()).cells if cell.id == cell_id)
        if old != source:
            await document.apply([EditSource(CellId(cell_id), old, source)])
        (self.root / "data.csv").write_text(table, "utf-8")
        ran = await self.notebooks.executor.run(PATH, [CellRunSpec(CellId("run"), run)])
        assert await ran.wait(60) and ran.cells[0].state == "ok", ran.cells[0].error

    async def save(self, reason: str, by: Literal["person", "agent"] = "agent") -> CheckpointRecord:
        """A checkpoint with everything in it."""
        record = await self.line.save(reason, notebooks=[PATH], code="thorough", changes_by=by)
        assert record.notebooks and record.variables and not record.left_out, record
        return record

    async def spoil(self) -> None:
        """From the first state to the second."""
        await self.change("one", "a = broken", "gone\n", SPOILT)
        await self.save("after")


Work = Callable[[Server], Awaitable[object]]


class Scenario:
    """A workspace and a kernel that outlive their servers. This process itself never talks to the kernel."""

    def __init__(self, folder: Path, manager: KernelManager) -> None:
        self.root, self.store_dir = folder / "workspace", folder / "checkpoints"
        self.root.mkdir()
        self.connection = Path(manager.connection_file)
        self.wrong: list[str] = []
        self._answer = folder / "answer.json"
        made = notebook(code("one", "a = 1"), code("two", "b = 2"))
        (self.root / PATH).write_text(json.dumps(made, indent=1), "utf-8")
        (self.root / "data.csv").write_text("x\n1\n", "utf-8")
        self.target = str(self.of(self._begin))

    def run(self, at: int, work: Work, limits: FileLimits = MANY, checkpoints: TimelineLimits | None = None) -> bool:
        """Do the work in a server that dies at its nth call; whether it lived."""
        return in_child(at, lambda: asyncio.run(self._serve(work, limits, checkpoints)))

    def of(self, work: Work) -> object:
        """The same in one that lives, and what it says."""

        async def answering(server: Server) -> None:
            try:
                self._answer.write_text(json.dumps(await work(server)), encoding="utf-8")
            except BaseException:
                traceback.print_exc()
                raise

        self.run(0, answering)
        return json.loads(self._answer.read_text(encoding="utf-8"))

    def look(self, looking: Callable[[Server], Awaitable[list[str]]], at: int) -> None:
        """Note what a server finds wrong after a death."""
        found = self.of(looking)
        assert isinstance(found, list)
        self.wrong += [f"{at}: {one}" for one in found]

    async def _serve(self, work: Work, limits: FileLimits, checkpoints: TimelineLimits | None) -> None:
        files = AsyncFileCheckpoints(self.root, self.store_dir, limits)
        disk = ContentsNotebooks(AsyncLargeFileManager(root_dir=str(self.root), log=_log))
        notebooks = Notebooks(disk, DetachedKernel(self.connection, PATH))
        values = VariableCheckpoints(VariableStore(files.folder / "variables", KEY), VariableLimits(free_bytes=0))
        line = Timeline(files, files.folder, notebooks=notebooks, variables=values, root=self.root, limits=checkpoints)
        try:
            await work(Server(self.root, files, notebooks, values, line))
        finally:
            await line.close()
            await notebooks.close()

    async def _begin(self, server: Server) -> str:
        await server.change("one", "a = 1", "x\n1\n", MADE)
        target = await server.save("before", "person")
        await server.spoil()
        return target.id


# ---- a restore, and its recovery


async def _look_at_restore(scenario: Scenario, server: Server) -> list[str]:
    """In one of the two states, or rolled back to the one before; and everything works again."""
    wrong: list[str] = []
    line = server.line
    half = await line.interrupted()
    if half is not None:
        await line.recover("roll_back")
    there = await server.there()
    if there not in ([BROKEN] if half is not None else [WHOLE, BROKEN]):
        wrong.append(f"{'rolled back to' if half is not None else 'left between two states:'} {there}")
    if await line.interrupted() is not None:
        wrong.append("still interrupted")
    await line.restore(scenario.target, ALL)
    if (there := await server.there()) != WHOLE:
        wrong.append(f"cannot be restored any more: {there}")
    await server.spoil()
    return wrong


def killed_restore(scenario: Scenario, at: int) -> bool:
    lived = scenario.run(at, lambda server: server.line.restore(scenario.target, ALL, conversation=Conversation()))
    scenario.look(lambda server: _look_at_restore(scenario, server), at)
    return lived


def killed_recovery(scenario: Scenario, at: int) -> bool:
    if scenario.run(0, lambda server: server.line.restore(scenario.target, ALL, conversation=Deadly())):
        raise AssertionError("the restore did not die")
    there = scenario.of(lambda server: server.there())
    if there != WHOLE:
        raise AssertionError(f"the restore died before all was back: {there}")
    lived = scenario.run(at, lambda server: server.line.recover("roll_back"))
    scenario.look(lambda server: _look_at_restore(scenario, server), at)
    return lived


# ---- a save


def killed_save(scenario: Scenario, at: int) -> bool:
    """Each time there is something new in each part."""
    last = scenario.of(lambda server: server.there())
    scenario.of(lambda server: server.change("two", f"b = {at}", f"{at}\n", f"words.append({at}); big[0] = {at}"))
    now = scenario.of(lambda server: server.there())
    lived = scenario.run(at, lambda server: server.save("killed"))

    async def looking(server: Server) -> list[str]:
        wrong: list[str] = []
        line = server.line
        if await line.interrupted() is not None or not (await line.view()).operations:
            wrong.append("the log is not what it was")
        if await server.there() != now:
            wrong.append("a save changed something")
        newest = (await line.files.list())[0]
        again = await server.save("again")
        assert_sound(scenario.store_dir, leftovers=True)
        for record, state in ((newest, now if newest.reason == "killed" else last), (again, now)):
            await line.restore(record.id, ALL)
            if (there := await server.there()) != state:
                wrong.append(f"the checkpoint {record.reason} is {there} instead of {state}")
        return wrong

    scenario.look(looking, at)
    return lived


# ---- a collection


def killed_collection(scenario: Scenario, at: int) -> bool:
    """Some checkpoints more, and a restore that can be undone; then most of what is kept is dropped."""

    async def more(server: Server) -> list[object]:
        for number in range(ROUNDS):
            # The same each time: what was dropped before has to be written again.
            await server.change("two", f"b = {number}", f"{at} {number}\n", f"words = [{number}]; big[0] = {number}")
            saved = await server.save(f"round {number}")
            if number == 0:
                first = saved
        before = await server.there()
        await server.line.restore(first.id, ALL)
        return [before, await server.there()]

    before, now = parsed(scenario.of(more))
    lived = scenario.run(at, lambda server: server.line.gc(), FEW, TIGHT)

    async def looking(server: Server) -> list[str]:
        assert_sound(scenario.store_dir, leftovers=True)
        wrong = await asyncio.to_thread(
            _not_kept, server, await server.line.files.operations(), await server.line.files.list()
        )
        if await server.there() != now:
            wrong.append("a collection changed something")
        newest = (await server.line.files.list())[0]
        for state in (before, now):
            await (server.line.undo(overwrite=True) if state == before else server.line.restore(newest.id, ALL))
            if (there := await server.there()) != state:
                wrong.append(f"went to {there} instead of {state}")
        return wrong

    scenario.look(looking, at)
    return lived


def _not_kept(server: Server, operations: object, records: list[CheckpointRecord]) -> list[str]:
    """What of the checkpoints that are still in the log cannot be had, though no quota drops it."""
    wrong: list[str] = []
    states, store = NotebookStates(server.files.folder / "notebooks"), server.values.store
    for record in records:
        for kept in record.notebooks:
            try:
                states.load(kept.state)
            except HdspAgentError as error:
                wrong.append(f"the cells of {record.reason}: {error.message}")
    manifests = [kept.manifest for record in records for kept in record.variables][:2]
    assert isinstance(operations, list)
    for done in restores_in_force(operations[::-1]).values():
        manifests += [one.before for one in done.parts.variables] if done.parts is not None else []
    for name in manifests:
        try:
            if store.load(name).runs_only:
                wrong.append(f"only the runs of {name} are left")
        except HdspAgentError as error:
            wrong.append(f"variables: {error.message}")
    for name in store.manifests():
        manifest = store.load(name)
        if not manifest.runs_only and store.missing(manifest):
            wrong.append(f"{store.missing(manifest)} pieces of {name} are missing")
    return wrong


KINDS: dict[str, Callable[[Scenario, int], bool]] = {
    "save": killed_save,
    "restore": killed_restore,
    "recover": killed_recovery,
    "collect": killed_collection,
}


def main() -> None:
    """Die once at each so many calls."""
    folder = Path(sys.argv[1])
    os.chdir(folder)
    for name in IMPORTED_LATE:
        importlib.import_module(name)
    manager = KernelManager(kernel_name="python3", connection_file=str(folder / "kernel.json"))
    manager.start_kernel()
    try:
        scenario = Scenario(folder, manager)
        for at in range(1, 1000, int(sys.argv[3])):
            if KINDS[sys.argv[2]](scenario, at):
                break
    finally:
        manager.shutdown_kernel(now=True)
    print(json.dumps({"wrong": scenario.wrong, "calls": at - 1}))


if __name__ == "__main__":
    main()
