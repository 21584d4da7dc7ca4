"""Real kernels with a store of variables beside them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hdsp_agent.checkpoints.variables import (
    VariableCheckpoints,
    VariableLimits,
    VariableManifest,
    VariablePlan,
    VariableReport,
    VariableStore,
)
from hdsp_agent.notebooks.kernels import KernelClient

from ....notebooks.kernels._helpers.executors import NOTEBOOK, HeadlessExecutor, headless_executor, text_of

KEY = b"a key for the tests of variables"


class KernelSetup:
    """A kernel, and its checkpoints."""

    def __init__(self, work: HeadlessExecutor, store: VariableStore, limits: VariableLimits | None) -> None:
        self.work = work
        self.store = store
        self.checkpoints = VariableCheckpoints(store, limits)

    async def run(self, *codes: str) -> None:
        """Run cells that must not fail."""
        run = await self.work.run(*codes)
        for cell in run.cells:
            assert cell.state == "ok", text_of(cell) or cell.error

    async def told(self, expression: str) -> str:
        """What an expression is, looked at without leaving a trace in the history."""
        cell = await self.work.cell(f"print({expression})", store_history=False)
        assert cell.state == "ok", cell.error
        return text_of(cell).strip()

    async def link(self) -> KernelClient:
        return await self.work.executor.link(NOTEBOOK)

    async def save(self, *, thorough: bool = True) -> VariableManifest:
        return await self.checkpoints.capture(await self.link(), thorough=thorough)

    async def plan(self, manifest: VariableManifest) -> VariablePlan:
        return await self.checkpoints.plan(manifest.id, await self.link())

    async def restore(self, manifest: VariableManifest | str, **options: object) -> VariableReport:
        target = manifest if isinstance(manifest, str) else manifest.id
        return await self.checkpoints.restore(target, await self.link(), **options)  # type: ignore[arg-type]  # as meant

    async def restart(self) -> None:
        """Another life of the kernel, with nothing in it."""
        await self.work.executor.restart(NOTEBOOK)


@asynccontextmanager
async def kernel_setup(root: Path, limits: VariableLimits | None = None) -> AsyncIterator[KernelSetup]:
    """A kernel that has begun, ended with the block."""
    folder = root / "work"
    folder.mkdir(exist_ok=True)
    async with headless_executor(folder) as work:
        await work.run("pass", store_history=False)
        yield KernelSetup(work, VariableStore(root / "store", KEY), limits)


@asynccontextmanager
async def watched(work: HeadlessExecutor) -> AsyncIterator[None]:
    """Say that the kernel has died when it has, as its queue does while a cell runs."""
    link = await work.executor.link(NOTEBOOK)

    async def watch() -> None:
        for _ in range(1000):
            if not await work.kernels.port.alive(link.kernel_id):
                break
            await asyncio.sleep(0.1)
        link.lose("kernel_died")

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
