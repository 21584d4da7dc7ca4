"""Kills the process that saves or restores a kernel's variables at each of its calls to the system and each of its questions to
the kernel, and looks at what is left.

Run as ``python -m tests.checkpoints.variables._helpers.killed_operation FOLDER capture|restore STEP``; prints what went wrong as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import KernelManager

from hdsp_agent.checkpoints.variables import VariableCheckpoints, VariableStore
from hdsp_agent.messages import JsonObject

from ...files._helpers.killed_operation import in_child
from .kernel_client import AskedKernel, shown
from .kernel_fixtures import KEY

MADE = (
    "import numpy as np\n"
    "class Point:\n    kind = 'first'\n    def __init__(self, x): self.x = x\n"
    "points = [Point(n) for n in range(3000)]; big = np.arange(400_000); words = ['a']; alias = words; only_first = 1"
)
CHANGED = "points[5].x = -1; Point.kind = 'second'; big[0] = 7; words.append('b'); only_second = 2; del only_first"
TOLD = (
    "repr((points[5].x, Point.kind, int(big[0]), words, alias is words,"
    " [n for n in ('only_first', 'only_second') if n in globals()]))"
)
FIRST = "(5, 'first', 0, ['a'], True, ['only_first'])"
SECOND = "(-1, 'second', 7, ['a', 'b'], True, ['only_second'])"


class Kernel(AskedKernel):
    """Each question to it counts as three calls to the system."""

    def stepped(self) -> None:
        os.utime(".")

    async def value(self, code: str, expression: str = "''") -> str:
        """Run a cell; what the expression is afterwards."""
        content: JsonObject = {"code": code, "silent": False, "user_expressions": {"it": expression}}
        reply = await self.ask("execute_request", content)
        assert reply["status"] == "ok", reply
        return shown(reply).strip('"')


Work = Callable[[Kernel, VariableCheckpoints], Awaitable[object]]


class Scenario:
    """A kernel that outlives the processes that save its variables. This process itself never talks to it."""

    def __init__(self, folder: Path, manager: KernelManager) -> None:
        self.folder = folder
        self.connection = manager.connection_file
        self.wrong: list[str] = []
        self._answer = folder / "answer.json"
        self.first, self.second = self.of(self._begin)

    def run(self, at: int, work: Work) -> bool:
        """Do the work in a process that dies at its nth call; whether it lived."""
        return in_child(at, lambda: asyncio.run(self._connected(work)))

    def of(self, work: Callable[[Kernel, VariableCheckpoints], Awaitable[list[str]]]) -> list[str]:
        """The same in one that lives, and what it says."""

        async def answering(kernel: Kernel, checkpoints: VariableCheckpoints) -> None:
            try:
                self._answer.write_text(json.dumps(await work(kernel, checkpoints)), encoding="utf-8")
            except BaseException:
                traceback.print_exc()
                raise

        self.run(0, answering)
        found: list[str] = json.loads(self._answer.read_text(encoding="utf-8"))
        return found

    async def _connected(self, work: Work) -> None:
        client = AsyncKernelClient(connection_file=self.connection)
        client.load_connection_file()
        client.start_channels(shell=True, iopub=False, stdin=False, hb=False, control=True)
        try:
            await work(Kernel("killed", client, 60), VariableCheckpoints(VariableStore(self.folder / "store", KEY)))
        finally:
            client.stop_channels()

    async def _begin(self, kernel: Kernel, checkpoints: VariableCheckpoints) -> list[str]:
        await kernel.value(MADE)
        first = await checkpoints.capture(kernel)
        await kernel.value(CHANGED)
        return [first.id, (await checkpoints.capture(kernel)).id]

    def look(self, at: int, expected: tuple[str, ...]) -> None:
        """After a death: the variables are whole, every checkpoint is, and both can be gone to."""

        async def looking(kernel: Kernel, checkpoints: VariableCheckpoints) -> list[str]:
            wrong: list[str] = []
            there = await kernel.value("", TOLD)
            if there not in expected:
                wrong.append(f"{at}: the variables are {there}")
            for manifest in checkpoints.store.manifests():
                if checkpoints.store.missing(checkpoints.store.load(manifest)):
                    wrong.append(f"{at}: pieces are missing")
            saved = await checkpoints.capture(kernel)
            for target, state in ((self.first, FIRST), (saved.id, there), (self.second, SECOND)):
                await checkpoints.restore(target, kernel)
                if (now := await kernel.value("", TOLD)) != state:
                    wrong.append(f"{at}: a restore made {now} instead of {state}")
            return wrong

        self.wrong += self.of(looking)


def killed_capture(scenario: Scenario, at: int) -> bool:
    """Each time there is something new to write."""
    state = f"({-at}, 'second', {at}, ['a', 'b'], True, ['only_second'])"

    async def change(kernel: Kernel, _: VariableCheckpoints) -> list[str]:
        return [await kernel.value(f"points[5].x = {-at}; big[0] = {at}")]

    async def capture(kernel: Kernel, checkpoints: VariableCheckpoints) -> None:
        await checkpoints.capture(kernel)

    scenario.of(change)
    lived = scenario.run(at, capture)
    scenario.look(at, (state,))
    return lived


def killed_restore(scenario: Scenario, at: int) -> bool:
    """From the second state to the first."""

    async def restore(kernel: Kernel, checkpoints: VariableCheckpoints) -> None:
        await checkpoints.restore(scenario.first, kernel)

    lived = scenario.run(at, restore)
    scenario.look(at, (FIRST, SECOND))
    return lived


KINDS: dict[str, Callable[[Scenario, int], bool]] = {"capture": killed_capture, "restore": killed_restore}


def main() -> None:
    """Die once at each call, or at each so many."""
    folder = Path(sys.argv[1])
    os.chdir(folder)
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
