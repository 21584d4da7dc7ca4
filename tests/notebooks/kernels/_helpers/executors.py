"""Executors with real kernels for tests, and what tests do with them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hdsp_agent.messages import CellId
from hdsp_agent.notebooks.kernels import CellRun, CellRunSpec, Executor, Run, RunLimits
from hdsp_agent.notebooks.kernels.headless import HeadlessKernels

NOTEBOOK = "work.ipynb"


class HeadlessExecutor:
    """An executor, and the managers behind it."""

    def __init__(self, kernels: HeadlessKernels, executor: Executor) -> None:
        self.kernels = kernels
        self.executor = executor

    async def start(self, *codes: str, path: str = NOTEBOOK, **options: object) -> Run:
        """Give these cells to the kernel; their ids are c0, c1 …"""
        specs = [CellRunSpec(CellId(f"c{number}"), code) for number, code in enumerate(codes)]
        return await self.executor.run(path, specs, **options)  # type: ignore[arg-type]  # tests pass what they mean

    async def run(self, *codes: str, seconds: float = 60, path: str = NOTEBOOK, **options: object) -> Run:
        """Run these cells to their end."""
        run = await self.start(*codes, path=path, **options)
        assert await run.wait(seconds), [cell.state for cell in run.cells]
        return run

    async def cell(self, code: str, *, seconds: float = 60, path: str = NOTEBOOK, **options: object) -> CellRun:
        """Run one cell to its end."""
        return (await self.run(code, seconds=seconds, path=path, **options)).cells[0]

    async def kernel_id(self, path: str = NOTEBOOK) -> str:
        """The kernel that runs for this notebook."""
        return next(one.id for one in await self.executor.kernels() if one.path == path)


@asynccontextmanager
async def headless_executor(root: Path, limits: RunLimits | None = None) -> AsyncIterator[HeadlessExecutor]:
    """Kernels without a server, ended with the block."""
    kernels = HeadlessKernels(root)
    executor = Executor(kernels.port, limits=lambda: limits or RunLimits())
    try:
        yield HeadlessExecutor(kernels, executor)
    finally:
        await executor.close()
        await kernels.close()


def text_of(cell: CellRun) -> str:
    """What a person sees of the cell's streams and plain texts."""
    parts: list[str] = []
    for output in cell.outputs.outputs:
        data = output.get("data")
        text = data.get("text/plain", "") if isinstance(data, dict) else output.get("text", "")
        parts.append(str(text))
    return "".join(parts)


async def until(holds: object, seconds: float = 60) -> None:
    """Wait until ``holds()`` is true."""
    import asyncio
    import time

    assert callable(holds)
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "this did not come about"
        await asyncio.sleep(0.02)
