"""A workspace with a notebook, its kernel where one is wanted, and its time line: all of them real."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from hdsp_agent.checkpoints import AsyncFileCheckpoints, CheckpointRecord, FileLimits
from hdsp_agent.checkpoints.timeline import Parts, Timeline, TimelineLimits
from hdsp_agent.checkpoints.variables import VariableCheckpoints, VariableLimits, VariableStore
from hdsp_agent.messages import CellId, JsonObject, TaskId
from hdsp_agent.notebooks import EditSource, Notebooks
from hdsp_agent.notebooks.kernels import CellRunSpec

from ...._helpers.timing import until
from ....notebooks._helpers.headless import headless_notebooks
from ....notebooks._helpers.pages import Page, Tabs, code, notebook, sources_in

KEY = b"a key for the tests of checkpoints"
PATH = "work.ipynb"
EVERYTHING = Parts(files=True, notebooks=True, variables=True, conversation=True)
CELLS = Parts(notebooks=True)
TASK = TaskId("0190a1b2-0000-7000-8000-000000000001")


class TimelineSetup:
    """The workspace, and what tests do in it."""

    def __init__(
        self, root: Path, store_dir: Path, notebooks: Notebooks, tabs: Tabs, limits: FileLimits | None
    ) -> None:
        self.root = root
        self.store_dir = store_dir
        self.notebooks = notebooks
        self.tabs = tabs
        self.files = AsyncFileCheckpoints(root, store_dir, limits)
        store = VariableStore(self.files.folder / "variables", KEY)
        # On a busy machine a kernel takes its time to look at what a cell changed.
        self.values = VariableCheckpoints(store, VariableLimits(last_seconds=60))
        self.line = self.line_on(self.files)

    def another_line(self, limits: TimelineLimits | None = None) -> Timeline:
        """As another server, or this one after a crash, has it."""
        return self.line_on(AsyncFileCheckpoints(self.root, self.store_dir), limits)

    def line_on(self, files: AsyncFileCheckpoints, limits: TimelineLimits | None = None) -> Timeline:
        """A time line with these checkpoints of files."""
        return Timeline(
            files, files.folder, notebooks=self.notebooks, variables=self.values, root=self.root, limits=limits
        )

    # ---- what there is

    @property
    def file(self) -> Path:
        return self.root / PATH

    @property
    def sources(self) -> list[str]:
        """Of the cells, as the file has them."""
        return sources_in(self.file)

    @property
    def outputs(self) -> list[list[JsonObject]]:
        """Of the code cells."""
        return [cell["outputs"] for cell in json.loads(self.file.read_text("utf-8"))["cells"] if "outputs" in cell]

    @property
    def csv(self) -> str:
        return (self.root / "data.csv").read_text("utf-8")

    async def value(self, expression: str) -> str:
        """What an expression is in the kernel, without a trace."""
        return await self._output(f"print({expression})", store_history=False)

    # ---- what people and agents do

    def open(self) -> Page:
        """Open the notebook in a tab."""
        page = Page(self.file)
        self.tabs.pages.append(page)
        return page

    async def run(self, source: str) -> None:
        """Run code in the notebook's kernel, which is started if there is none."""
        await self._output(source, store_history=True)

    async def until_it_runs(self) -> None:
        """Wait until the notebook's kernel works on a cell."""
        await until(lambda: any(run.cells[0].state == "running" for run in self.notebooks.executor.runs(PATH)))

    async def edit(self, cell_id: str, old: str, new: str) -> None:
        """Change a cell as the agent does it."""
        await self.notebooks.access.document(PATH).apply([EditSource(CellId(cell_id), old, new)])

    async def save(
        self,
        reason: str = "before run_cell",
        *,
        by: Literal["person", "agent"] = "person",
        code: Literal["none", "thorough", "after"] = "none",
        notebooks: Sequence[str] = (PATH,),
        message_ts: int | None = None,
        always: bool = False,
    ) -> CheckpointRecord:
        """A checkpoint."""
        task_id = TASK if message_ts is not None else None
        return await self.line.save(
            reason,
            changes_by=by,
            notebooks=notebooks,
            code=code,
            task_id=task_id,
            message_ts=message_ts,
            always=always,
        )

    async def _output(self, source: str, *, store_history: bool) -> str:
        specs = [CellRunSpec(CellId("run"), source)]
        run = await self.notebooks.executor.run(PATH, specs, store_history=store_history)
        assert await run.wait(60)
        cell = run.cells[0]
        assert cell.state == "ok", cell.error
        return "".join(str(output.get("text", "")) for output in cell.outputs.outputs).strip()


def lay_out(root: Path, *cells: JsonObject) -> None:
    """Make the folder with its notebook and its data."""
    root.mkdir()
    made = notebook(*(cells or (code("one", "a = 1"), code("two", "b = 2"))))
    (root / PATH).write_text(json.dumps(made, indent=1), "utf-8")
    (root / "data.csv").write_text("x\n1\n", "utf-8")


@asynccontextmanager
async def timeline_setup(
    tmp_path: Path, *cells: JsonObject, limits: FileLimits | None = None
) -> AsyncIterator[TimelineSetup]:
    """A folder that Jupyter serves, with ``work.ipynb`` and ``data.csv``; kernels end with the block."""
    root = tmp_path / "workspace"
    lay_out(root, *cells)
    tabs = Tabs()
    async with headless_notebooks(root, tabs=tabs) as notebooks:
        here = TimelineSetup(root, tmp_path / "home" / "checkpoints", notebooks, tabs, limits)
        yield here
        await here.line.close()
