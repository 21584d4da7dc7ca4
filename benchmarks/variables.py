"""What checkpoints of variables cost each cell, beside Kishu and beside pickling the whole namespace with cloudpickle.

All three work on the same cells in kernels of one throwaway environment, in turns, and so does a kernel that only runs them.
Kishu takes seconds for each cell: it runs each edit once, and is left out once a cell takes longer than ``KISHU_SECONDS``.
"""

from __future__ import annotations

import asyncio
import os
import queue
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager

from hdsp_agent.checkpoints.variables import VariableCheckpoints, VariableStore
from hdsp_agent.messages import JsonObject
from tests.checkpoints.variables._helpers.kernel_client import AskedKernel

from .results import Result, result

PACKAGES: Final = ("kishu", "cloudpickle", "ipykernel", "numpy", "pandas")
ROUNDS = 3
KISHU_ROUNDS = 1
KISHU_SECONDS: Final = 60.0
_CELL_SECONDS: Final = 600.0
CELLS: Final = (
    "import numpy as np, pandas as pd\nr = np.random.default_rng(1)",
    (
        "df = pd.DataFrame({'a': r.random(1_000_000), 'b': r.random(1_000_000), 'c': r.integers(0, 9, 1_000_000),"
        " 's': np.array(['red', 'green', 'blue'], object)[r.integers(0, 3, 1_000_000)]})"
    ),
    "arr = r.random(5_000_000)",
    "class Pt:\n    def __init__(self, x): self.x = x\npts = [Pt(n) for n in range(100_000)]; alias = pts",
)
LIGHT: Final = "x = 1"
IN_PLACE: Final = "arr[0] += 1"
DEEP: Final = "pts[5].x -= 1"
COLUMN: Final = "df['d'] = df.a * 2"
CHECK: Final = "(float(arr[0]), 'd' in df.columns, pts[5].x, pts is alias)"
_NOTEBOOK: Final = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
_CLOUDPICKLE: Final = """
def _save(result, shell=get_ipython()):
    import cloudpickle, types
    hidden = shell.user_ns_hidden
    whole = {k: v for k, v in shell.user_ns.items()
             if not k.startswith('_') and k not in hidden and not isinstance(v, types.ModuleType)}
    with open('whole.pkl', 'wb') as file:
        cloudpickle.dump(whole, file)
get_ipython().events.register('post_run_cell', _save)
"""


class _Kernel(AskedKernel):
    """One kernel, and the folder it works in."""

    def __init__(self, kernel_id: str, client: AsyncKernelClient, folder: Path) -> None:
        super().__init__(kernel_id, client)
        self.folder = folder
        self.seconds = _CELL_SECONDS
        """How long a cell may take."""

    async def run(self, code: str) -> float:
        """Run a cell; how long it took, in milliseconds. TimeoutError when it takes too long."""
        started = time.perf_counter()
        content: JsonObject = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        try:
            told = await self.ask("execute_request", content, seconds=self.seconds)
        except queue.Empty:
            raise TimeoutError(f"{self.kernel_id} took more than {self.seconds:g} s for {code!r}.") from None
        if told["status"] != "ok":
            raise RuntimeError(f"{code!r} failed: {told.get('evalue')}")
        return (time.perf_counter() - started) * 1000


@asynccontextmanager
async def _kernel(python: Path, folder: Path) -> AsyncIterator[_Kernel]:
    # Kishu finds its kernel by the usual name of this file.
    manager = AsyncKernelManager(connection_file=str(folder.parent / f"kernel-{uuid.uuid4()}.json"))
    spec = manager.kernel_spec
    assert spec is not None
    spec.argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    await manager.start_kernel(cwd=str(folder), env={**os.environ, "ENV_KISHU_TEST_MODE": "true"})
    client = manager.client()
    assert isinstance(client, AsyncKernelClient)
    client.start_channels()
    try:
        await client.wait_for_ready(timeout=120)
        yield _Kernel(folder.name, client, folder)
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)


class _Ours:
    """Sweeps after each run, as the product has them."""

    def __init__(self, kernel: _Kernel, store: Path) -> None:
        self.kernel = kernel
        self.store = VariableStore(store, b"a key for the benchmark")
        self.checkpoints = VariableCheckpoints(self.store)

    async def begin(self) -> None:
        """Follow the kernel's runs."""
        await self.checkpoints.follow(self.kernel)

    async def settle(self) -> None:
        """Wait until what was saved is on disk."""
        await self.target()

    async def target(self) -> str:
        """Where to come back to."""
        return (await self.checkpoints.capture(self.kernel, thorough=False)).id

    async def back(self, target: str) -> None:
        """Go there, with all that belongs to it: a plan, and a capture that undoes it."""
        await self.checkpoints.restore(target, self.kernel)

    def bytes(self) -> int:
        """What is on disk."""
        return sum(path.stat().st_size for path in self.store.folder.rglob("*") if path.is_file())


class _Kishu:
    """Kishu in a notebook's folder, in its test mode: without waiting for a page that would save the notebook."""

    def __init__(self, kernel: _Kernel) -> None:
        self.kernel = kernel

    async def begin(self) -> None:
        """Attach it."""
        await self.kernel.run("import kishu; kishu.init_kishu('k.ipynb')")

    async def settle(self) -> None:
        """It has written everything when a cell ends."""

    async def target(self) -> str:
        """The newest commit."""
        told = await self.kernel.told("get_ipython().user_ns['_kishu']._kishu_branch.get_head().commit_id")
        return told.strip("'")

    async def back(self, target: str) -> None:
        """Check it out, variables only."""
        code = f"get_ipython().user_ns['_kishu'].checkout({target!r}, skip_notebook=True)"
        assert "Checkout" in await self.kernel.told(code)

    def bytes(self) -> int:
        """Everything in its folder but the notebook."""
        return sum(path.stat().st_size for path in self.kernel.folder.rglob("*") if path.is_file())


def _environment(folder: Path) -> Path:
    """Its own Python: the product does not depend on what it is compared with."""
    given = os.environ.get("HDSP_BENCH_KISHU")
    if given:
        return Path(given)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=True, capture_output=True)
    return python


@dataclass
class _Times:
    """Milliseconds of each cell, in each kernel."""

    light: dict[str, float]
    in_place: dict[str, float]
    deep: dict[str, float]
    restore: dict[str, float]
    cold: float
    """A restore into a fresh kernel."""
    again: float
    """Running everything again in a fresh kernel."""
    imports: float
    """The part of it that imports numpy and pandas, which a restore into a fresh kernel has to do as well."""
    bytes: dict[str, int]


async def _rounds(
    kernels: dict[str, _Kernel], code: str, settle: Callable[[], Awaitable[None]], rounds: int = ROUNDS
) -> dict[str, float]:
    times: dict[str, list[float]] = {}
    for number in range(rounds):
        for name, kernel in list(kernels.items()):
            if name == "kishu" and number >= KISHU_ROUNDS:
                continue
            try:
                times.setdefault(name, []).append(await kernel.run(code))
            except TimeoutError as error:
                if name != "kishu":
                    raise
                print(f"{error} It is left out from here on.", file=sys.stderr, flush=True)
                del kernels[name], times[name]
            await settle()
    return {name: median(found) for name, found in times.items()}


def _prepare(folder: Path) -> Path:
    for name in ("bare", "ours", "kishu", "cloudpickle", "cold", "again"):
        (folder / name).mkdir()
    (folder / "kishu" / "k.ipynb").write_text(_NOTEBOOK, encoding="utf-8")
    return _environment(folder / "environment")


async def _race(folder: Path, python: Path) -> _Times:
    async with (
        _kernel(python, folder / "bare") as bare,
        _kernel(python, folder / "ours") as with_ours,
        _kernel(python, folder / "kishu") as with_kishu,
        _kernel(python, folder / "cloudpickle") as with_cloudpickle,
    ):
        ours, kishu = _Ours(with_ours, folder / "store"), _Kishu(with_kishu)
        with_kishu.seconds = KISHU_SECONDS
        kernels = {"bare": bare, "ours": with_ours, "kishu": with_kishu, "cloudpickle": with_cloudpickle}
        await ours.begin()
        await kishu.begin()
        await with_cloudpickle.run(_CLOUDPICKLE)
        for code in CELLS:
            await _rounds(kernels, code, ours.settle, 1)
        light = await _rounds(kernels, LIGHT, ours.settle)
        in_place = await _rounds(kernels, IN_PLACE, ours.settle)
        deep = await _rounds(kernels, DEEP, ours.settle)
        disk, restore = {"ours": ours.bytes()}, {}
        if "kishu" in kernels:
            disk["kishu"], restore["kishu"] = kishu.bytes(), await _back(kishu)
        warm, fresh, anew, imports = [], [], [], []
        for _ in range(ROUNDS):
            warm.append(await _back(ours))
            fresh.append(await _cold(ours, python, folder / "cold"))
            whole, first = await _again(python, folder / "again")
            anew.append(whole)
            imports.append(first)
    restore["ours"] = median(warm)
    return _Times(light, in_place, deep, restore, median(fresh), median(anew), median(imports), disk)


async def _back(way: _Ours | _Kishu) -> float:
    """Change an array, a frame and an object, and go back; the values are looked at."""
    target, before = await way.target(), await way.kernel.told(CHECK)
    for code in (IN_PLACE, COLUMN, DEEP):
        await way.kernel.run(code)
    assert await way.kernel.told(CHECK) != before
    await way.settle()
    started = time.perf_counter()
    await way.back(target)
    took = (time.perf_counter() - started) * 1000
    assert await way.kernel.told(CHECK) == before
    return took


async def _cold(ours: _Ours, python: Path, folder: Path) -> float:
    """Go where it is now in a fresh kernel."""
    target, expected = await ours.target(), await ours.kernel.told(CHECK)
    async with _kernel(python, folder) as cold:
        started = time.perf_counter()
        await ours.checkpoints.restore(target, cold)
        took = (time.perf_counter() - started) * 1000
        assert await cold.told(CHECK) == expected
    return took


async def _again(python: Path, folder: Path) -> tuple[float, float]:
    """Run everything in a fresh kernel; how long that took, and how long the first cell with its imports."""
    async with _kernel(python, folder) as again:
        started = time.perf_counter()
        imports = await again.run(CELLS[0])
        for code in (*CELLS[1:], *[LIGHT] * ROUNDS, *[IN_PLACE] * ROUNDS, *[DEEP] * ROUNDS):
            await again.run(code)
        return (time.perf_counter() - started) * 1000, imports


def _overhead(name: str, what: str, times: dict[str, float], beside: str, most: float) -> Result:
    value, baseline = times["ours"] - times["bare"], times[beside] - times["bare"]
    return result(
        f"variables.{name}.{beside}",
        f"what a checkpoint adds to {what}, beside {beside}",
        value,
        "ms",
        goal=f"<= {most:g} ms",
        met=value <= most,
        runs=KISHU_ROUNDS if beside == "kishu" else ROUNDS,
        baseline=baseline,
    )


def measure() -> list[Result]:
    """All claims about checkpoints of variables."""
    with tempfile.TemporaryDirectory(prefix="hdsp-bench-") as folder:
        times = asyncio.run(_race(Path(folder), _prepare(Path(folder))))
    ours, without_imports = times.restore["ours"], times.again - times.imports
    beside_kishu = [] if "kishu" not in times.restore else [
        result(
            "variables.restore.kishu", "restore with an undo, beside Kishu's checkout", ours, "ms",
            goal="<= 0.25x", met=ours <= 0.25 * times.restore["kishu"], runs=1, baseline=times.restore["kishu"],
        ),
        result(
            "variables.disk", "bytes on disk, beside Kishu", times.bytes["ours"], "bytes",
            goal="<= 0.5x", met=times.bytes["ours"] <= 0.5 * times.bytes["kishu"], runs=1, baseline=times.bytes["kishu"],
        ),
    ]  # fmt: skip
    return [
        *[
            _overhead(name, what, found, beside, most)
            for name, what, found, most in (
                ("light", "a light cell", times.light, 10),
                ("in_place", "an edit in place of 40 MB", times.in_place, 250),
                ("deep", "an edit deep in 100,000 objects", times.deep, 350),
            )
            for beside in ("kishu", "cloudpickle")
            if beside in found
        ],
        *beside_kishu,
        result(
            "variables.restore.again",
            "restore with an undo, beside running the cells again, both where the libraries are imported", ours, "ms",
            goal="<= 0.5x", met=ours <= 0.5 * without_imports, runs=ROUNDS, baseline=without_imports,
        ),
        result(
            "variables.restore.cold",
            "restore into a fresh kernel, beside running the cells in one; of both,"
            f" {times.imports:.0f} ms are imports of numpy and pandas",
            times.cold, "ms",
            goal="<= 0.5x", met=times.cold <= 0.5 * times.again, runs=ROUNDS, baseline=times.again,
        ),
    ]  # fmt: skip
