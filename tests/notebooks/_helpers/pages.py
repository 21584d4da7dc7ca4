"""Pages of the browser without a browser: notebooks in memory that do what the server asks, by the real rules."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hdsp_agent.messages import (
    ApplyNotebookOperationsMessage,
    CellMismatch,
    ChangeOutputsMessage,
    ExtendStream,
    InsertCell,
    JsonObject,
    NotebookOperationsResultRequest,
    NotebookPageRequest,
    NotebookPointer,
    OpenNotebook,
    PutOutput,
    ReadNotebookMessage,
    ReplaceSource,
    SetCellMetadata,
    SetNotebookMetadata,
    SetOutputs,
    TruncateOutputs,
)
from hdsp_agent.notebooks import CellConflict, TabGone, TabView, apply_operations, source_hash

__all__ = ["Page", "Tabs", "code", "file_hash", "notebook", "sources_in", "text"]


def notebook(*cells: JsonObject) -> JsonObject:
    return {"cells": [*cells], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def code(cell_id: str, source: str) -> JsonObject:
    return {
        "cell_type": "code",
        "id": cell_id,
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def text(cell_id: str, source: str) -> JsonObject:
    return {"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": source}


def sources_in(file: Path) -> list[str]:
    """The sources of the cells in a file."""
    return ["".join(cell["source"]) for cell in json.loads(file.read_text("utf-8"))["cells"]]


def file_hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


class Page:
    """One notebook, open in one page. It saves to ``file``."""

    def __init__(self, file: Path, path: str | None = None) -> None:
        self.file = file
        self.path = path or file.name
        self.content: JsonObject = json.loads(file.read_text("utf-8"))
        self.content_hash = file_hash(file)
        self.revision = 0
        self.dirty = False
        self.collaborative = False
        self.read_only = False
        self.visible = True
        self.saves = True
        self.exact = False
        """Whether a hash must be the one when it is the operation's turn, as in a browser."""
        self.cells_a_page = 1000
        self.asked: list[str] = []
        """The operations asked for, by their op ids, repeated ones as well."""
        self.done: dict[str, dict[str, Any]] = {}
        self.reads = 0
        self.shown: list[ChangeOutputsMessage] = []
        self.held: list[NotebookPointer] = []
        """What the next save takes along."""
        self._versions: dict[str, tuple[str, int]] = {}

    # ---- what a person does

    def type_in(self, index: int, source: str) -> None:
        """Change a cell without saving."""
        self.cells[index]["source"] = source
        self.revision += 1
        self.dirty = True

    def save(self) -> None:
        there = {cell["id"] for cell in self.cells}
        held = [one for one in self.held if not isinstance(one, SetCellMetadata) or one.cell_id in there]
        self.content, self.held = apply_operations(self.content, held).notebook, []
        self.file.write_text(json.dumps(self.content), "utf-8")
        self.content_hash = file_hash(self.file)
        self.dirty = False

    def reload(self) -> None:
        self.content = json.loads(self.file.read_text("utf-8"))
        self.content_hash = file_hash(self.file)
        self.revision += 1
        self.dirty = False

    @property
    def cells(self) -> list[Any]:
        cells = self.content["cells"]
        assert isinstance(cells, list)
        return cells

    @property
    def sources(self) -> list[str]:
        return ["".join(cell["source"]) for cell in self.cells]

    def told(self) -> OpenNotebook:
        return OpenNotebook(
            path=self.path,
            revision=self.revision,
            dirty=self.dirty,
            content_hash=self.content_hash,
            visible=self.visible,
            read_only=self.read_only,
            collaborative=self.collaborative,
        )

    # ---- what the server asks

    def apply(self, message: ApplyNotebookOperationsMessage) -> NotebookOperationsResultRequest:
        self.asked.append(message.op_id)
        if message.op_id not in self.done:
            self.done[message.op_id] = self._do(message)
        return NotebookOperationsResultRequest(
            request_id=f"r{len(self.asked)}", op_id=message.op_id, **self.done[message.op_id]
        )

    def read(self, message: ReadNotebookMessage) -> NotebookPageRequest:
        self.reads += 1
        if message.path != self.path:
            return NotebookPageRequest(request_id=f"p{self.reads}", op_id=message.op_id, status="notOpen")
        cells = self.cells[message.first : message.first + self.cells_a_page]
        if message.outputs == "none":
            cells = [{key: value for key, value in cell.items() if key != "outputs"} for cell in cells]
        return NotebookPageRequest(
            request_id=f"p{self.reads}",
            op_id=message.op_id,
            status="read",
            revision=self.revision,
            first=message.first,
            total=len(self.cells),
            cells=cells,
            metadata=self.content["metadata"],
            nbformat=4,
            nbformat_minor=5,
        )

    def show(self, message: ChangeOutputsMessage) -> None:
        """As the page's RunningOutputs does it."""
        self.shown.append(message)
        cell = next((cell for cell in self.cells if cell["id"] == message.cell_id), None)
        if cell is None:
            return
        if message.base == 0:
            cell["outputs"], cell["execution_count"] = [], None
        elif self._versions.get(message.cell_id) != (message.run_id, message.base):
            return
        outputs = cell["outputs"]
        for change in message.changes:
            match change:
                case PutOutput():
                    outputs[change.index : change.index + 1] = [change.output]
                case ExtendStream():
                    outputs[change.index]["text"] = outputs[change.index]["text"][: change.keep] + change.text
                case TruncateOutputs():
                    del outputs[change.count :]
        self._versions[message.cell_id] = message.run_id, message.version
        if message.state not in ("queued", "running"):
            cell["execution_count"] = message.execution_count

    def _compare(self, message: ApplyNotebookOperationsMessage) -> None:
        sources = dict(zip((cell["id"] for cell in self.cells), self.sources, strict=True))
        for index, operation in enumerate(message.operations):
            if isinstance(operation, ReplaceSource):
                source = sources[operation.cell_id]
                if operation.expect not in (None, source_hash(source)):
                    miss = CellMismatch(index=index, cell_id=operation.cell_id, source=source)
                    raise CellConflict("as the page says", path=self.path, mismatches=[miss])
                sources[operation.cell_id] = operation.source

    def _do(self, message: ApplyNotebookOperationsMessage) -> dict[str, Any]:
        if message.path != self.path:
            return {"status": "notOpen"}
        if self.read_only:
            return {"status": "readOnly"}
        try:
            if self.exact:
                self._compare(message)
            self.content = apply_operations(self.content, message.operations, path=self.path).notebook
        except CellConflict as error:
            return {"status": "mismatch", "mismatches": list(error.mismatches)}
        for one in message.operations:
            if isinstance(one, InsertCell | SetOutputs) and one.trusted is not None:
                next(cell for cell in self.cells if cell["id"] == one.cell_id)["metadata"]["trusted"] = one.trusted
        if message.pointers is not None:
            new = {_is_conversation(one) for one in message.pointers}
            self.held = [*(one for one in self.held if _is_conversation(one) not in new), *message.pointers]
        if message.operations:
            self.revision += 1
            self.dirty = True
        if message.save and self.saves:
            self.save()
        saved = message.save and self.saves
        return {
            "status": "applied",
            "revision": self.revision,
            "saved": saved,
            "content_hash": self.content_hash if saved else None,
        }


def _is_conversation(pointer: NotebookPointer) -> bool:
    return isinstance(pointer, SetNotebookMetadata) and pointer.key == "hdsp_conversation"


class Tabs:
    """The browser: pages that have notebooks open, of which the first of a path is asked."""

    def __init__(self) -> None:
        self.pages: list[Page] = []
        self.dirty_elsewhere: list[TabView] = []
        self.before: Callable[[], None] = lambda: None
        self.after: Callable[[], None] = lambda: None
        self.saves: list[tuple[str, str | None, bool]] = []

    def paths(self) -> set[str]:
        return {page.path for page in self.pages} | {view.notebook.path for view in self.dirty_elsewhere}

    async def holder(self, path: str) -> TabView | None:
        page = self._page(path)
        return TabView("me", "tab", page.told()) if page is not None else None

    def unsaved(self, path: str) -> list[TabView]:
        return [view for view in self.dirty_elsewhere if view.notebook.path == path]

    async def apply(self, tab: TabView, message: ApplyNotebookOperationsMessage) -> NotebookOperationsResultRequest:
        self.before()
        answer = self._there(message.path).apply(message)
        self.after()
        return answer

    async def read(self, tab: TabView, message: ReadNotebookMessage) -> NotebookPageRequest:
        await asyncio.sleep(0)
        return self._there(message.path).read(message)

    async def show(self, tab: TabView, message: ChangeOutputsMessage) -> None:
        self._there(message.path).show(message)

    def saved(self, path: str, content_hash: str | None, *, by: TabView | None) -> None:
        self.saves.append((path, content_hash, by is not None))

    def _page(self, path: str) -> Page | None:
        return next((page for page in self.pages if page.path == path), None)

    def _there(self, path: str) -> Page:
        page = self._page(path)
        if page is None:
            raise TabGone
        return page

    def leave(self) -> None:
        """The page goes while it is asked."""
        self.pages.clear()
        raise TabGone
