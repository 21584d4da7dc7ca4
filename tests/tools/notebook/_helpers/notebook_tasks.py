"""A task that works with notebooks: real files, real kernels, no server and no browser."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import nbformat

from hdsp_agent.config import GlobalSettings, ModeConfig
from hdsp_agent.messages import JsonObject, NotebookRef
from hdsp_agent.notebooks import TabPort
from hdsp_agent.notebooks.kernels import RunLimits

from ....notebooks._helpers.headless import headless_notebooks
from ..._helpers.recording_context import CODE_MODE, RecordingContext, ShownMessage

NAME = "work.ipynb"


class NotebookTask(RecordingContext):
    """A task whose notebook is ``work.ipynb``, until it is told otherwise."""

    def __init__(self, workspace: Path, settings: GlobalSettings | None, mode: ModeConfig) -> None:
        super().__init__(workspace, settings, mode)
        self.notebook = NotebookRef(path=NAME)

    def write(self, *sources: str | tuple[str, str], name: str = NAME, kernel: str | None = "python3") -> None:
        """A notebook of these cells, code unless they say otherwise; their ids are c1, c2 …"""
        cells = []
        for number, source in enumerate(sources, 1):
            kind, text = source if isinstance(source, tuple) else ("code", source)
            make = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}[kind]
            cells.append(make(text, id=f"c{number}"))
        metadata = {"kernelspec": {"name": kernel, "display_name": kernel}} if kernel else {}
        node = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
        nbformat.write(node, self.workspace / name)

    def file(self, name: str = NAME) -> JsonObject:
        """The notebook as it is on the disk; valid in any case."""
        node = nbformat.read(self.workspace / name, as_version=nbformat.NO_CONVERT)
        nbformat.validate(node)
        content: JsonObject = json.loads((self.workspace / name).read_text(encoding="utf-8"))
        return content

    def sources(self, name: str = NAME) -> list[str]:
        """The cells' sources on the disk."""
        return ["".join(cell["source"]) for cell in self.file(name)["cells"]]  # type: ignore[union-attr,index,call-overload,arg-type]  # it is valid

    def ids(self, name: str = NAME) -> list[str]:
        """The cells' ids on the disk."""
        return [str(cell["id"]) for cell in self.file(name)["cells"]]  # type: ignore[union-attr,index,call-overload]  # as above

    def change(self, cell_id: str, source: str, name: str = NAME) -> None:
        """What a person does in an editor of their own."""
        content = self.file(name)
        for cell in content["cells"]:  # type: ignore[union-attr]  # as above
            if cell["id"] == cell_id:  # type: ignore[index,call-overload]  # as above
                cell["source"] = source  # type: ignore[index,call-overload]  # as above
        (self.workspace / name).write_text(json.dumps(content), encoding="utf-8")

    def rows(self, say: str) -> list[ShownMessage]:
        """What was said of this kind, in order."""
        return [self.said[at] for at in sorted(self.said) if self.said[at].say == say]

    def executed(self) -> list[JsonObject]:
        """The rows of cells, read."""
        return [json.loads(row.text or "") for row in self.rows("cell_executed")]


@asynccontextmanager
async def notebook_task(
    workspace: Path,
    *cells: str | tuple[str, str],
    settings: GlobalSettings | None = None,
    mode: ModeConfig = CODE_MODE,
    limits: RunLimits | None = None,
    tabs: TabPort | None = None,
) -> AsyncIterator[NotebookTask]:
    """A task on a notebook of these cells; its kernels end with the block."""
    task = await asyncio.to_thread(NotebookTask, workspace, settings, mode)
    if cells:
        await asyncio.to_thread(task.write, *cells)
    async with headless_notebooks(workspace, limits, tabs) as notebooks:
        task.working_notebooks = notebooks
        try:
            yield task
        finally:
            await notebooks.executor.release(task.task_id)
            await task.state.close()


def texts(content: str | Sequence[JsonObject]) -> str:
    """The text of a result."""
    if isinstance(content, str):
        return content
    return "\n".join(str(block["text"]) for block in content if block["type"] == "text")
