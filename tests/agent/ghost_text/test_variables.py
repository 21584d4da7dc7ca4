"""What ghost text knows of a kernel is that of the notebook that is written in, whichever kernel answers first."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from hdsp_agent.agent.ghost_text import GhostText
from hdsp_agent.config import ContextProxy
from hdsp_agent.local import LocalModels
from hdsp_agent.notebooks import Notebooks
from hdsp_agent.notebooks.kernels import Variable
from hdsp_agent.tools import PathPolicy


class TwoKernels:
    """Two notebooks, and the kernel of one that has come to be busy before it answers."""

    def __init__(self) -> None:
        self.executor = self
        self.free = asyncio.Event()
        self.asked = asyncio.Event()
        self.answered = 0

    async def kernel(self, _path: str) -> SimpleNamespace:
        return SimpleNamespace(language="python", state="idle")

    def stirred(self, path: str, _kernel: object) -> str:
        return path

    async def inspect(self, path: str, *, limits: object) -> SimpleNamespace:
        if path == "busy.ipynb":
            self.asked.set()
            await self.free.wait()
        self.answered += 1
        return SimpleNamespace(variables=[Variable(name=path.partition(".")[0], type="int")])


async def looked_at_both(root: Path, kernels: TwoKernels) -> GhostText:
    """The busy one is being looked at, and the look at the other one has not begun."""
    config = cast("ContextProxy", SimpleNamespace(home=root))
    ghost = GhostText(
        config,
        cast("LocalModels", None),
        notebooks=cast("Notebooks", kernels),
        paths=lambda: PathPolicy(root),
    )
    await ghost._variables("busy.ipynb")
    await kernels.asked.wait()
    await ghost._variables("quick.ipynb")
    return ghost


async def test_a_kernel_that_answers_late_takes_no_names_from_the_notebook_that_is_written_in(tmp_path: Path) -> None:
    kernels = TwoKernels()
    ghost = await looked_at_both(tmp_path, kernels)
    await asyncio.wait(ghost._looks)
    kernels.free.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert [one.name for one in await ghost._variables("quick.ipynb")] == ["quick"]
    await ghost.stop()
    assert kernels.answered == 1


async def test_stopping_ends_all_looks_also_before_the_last_has_begun(tmp_path: Path) -> None:
    kernels = TwoKernels()
    ghost = await looked_at_both(tmp_path, kernels)
    await ghost.stop()
    assert {task.get_name() for task in asyncio.all_tasks()}.isdisjoint({"variables for ghost text"})
    assert kernels.answered == 0
