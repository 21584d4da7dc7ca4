"""The notebook as the browser tab has it that holds the lease: what the person sees is what is read and changed."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

from ...errors import Conflict, HdspAgentError, NotAllowed, Unavailable
from ...messages import (
    ApplyNotebookOperationsMessage,
    InsertCell,
    JsonObject,
    NotebookOperation,
    NotebookOperationsResultRequest,
    NotebookPageRequest,
    NotebookPointer,
    OutputDetail,
    ReadNotebookMessage,
    SetCellMetadata,
    TaskId,
)
from .._apply import changed_cells, resolve_edits
from .._cells import cells_of
from .._document import Applied, CellConflict, EditSource, NotebookSnapshot, Operation
from .._format import as_notebook
from .._many_cells import for_cells, require_few_cells
from .._snapshot import snapshot_of
from .._tab_port import TabGone, TabPort, TabView

__all__ = ["AttachedDocument"]

_LEAST_MINOR: Final = 5
"""A tab gives every cell an id, whatever the file has."""
_MOST_READS: Final = 5


class AttachedDocument:
    """Reads and changes a notebook through one tab. ``TabGone`` passes through: whoever asked chooses anew."""

    def __init__(self, tabs: TabPort, tab: TabView) -> None:
        self._tabs = tabs
        self._tab = tab

    @property
    def path(self) -> str:
        """Its path in the contents API."""
        return self._tab.notebook.path

    async def snapshot(self, *, outputs: OutputDetail = "none") -> NotebookSnapshot:
        """The notebook as the tab shows it now."""
        for _ in range(_MOST_READS):
            notebook, revision = await self._read(outputs)
            if notebook is not None:
                return await for_cells(
                    len(cells_of(notebook)), partial(self._seen, notebook, revision, outputs, self._tab.notebook.dirty)
                )
        raise Unavailable(
            f"{self.path} changes faster than it can be read. Wait until the changes stop.",
            path=self.path,
            why="notebook_changing",
        )

    async def apply(
        self,
        operations: Sequence[Operation],
        *,
        save: bool = True,
        task_id: TaskId | None = None,
        review: bool = False,
        signatures: Collection[str] | None = None,
    ) -> Applied:
        """Do all of them in the tab, as one step that Ctrl+Z takes back."""
        plain = _plain(operations)
        exact = plain if plain is not None else resolve_edits(await self.snapshot(), operations)
        answer = await self._ask(exact, save, task_id, review)
        if answer.status == "mismatch" and plain is not None:
            # Either it says better what does not fit, or the batch fits when its own changes are counted in.
            exact = resolve_edits(await self.snapshot(), operations)
            answer = await self._ask(exact, save, task_id, review)
        self._check(answer)
        if answer.saved:
            self._tabs.saved(self.path, answer.content_hash, by=self._tab)
        return Applied(
            snapshot_revision=None if answer.revision is None else f"tab:{answer.revision}",
            saved=answer.saved,
            changed=changed_cells(exact),
            content_hash=answer.content_hash,
        )

    async def hold(self, pointers: Sequence[NotebookPointer]) -> None:
        """Have the tab's next save take these along, whoever saves; until then the notebook stays as it is."""
        self._check(await self._ask([], save=False, task_id=None, review=False, pointers=pointers))

    async def _ask(
        self,
        operations: list[NotebookOperation],
        save: bool,
        task_id: TaskId | None,
        review: bool,
        pointers: Sequence[NotebookPointer] | None = None,
    ) -> NotebookOperationsResultRequest:
        message = ApplyNotebookOperationsMessage(
            op_id=uuid.uuid4().hex,
            path=self.path,
            operations=operations,
            save=save,
            task_id=task_id,
            review=review,
            pointers=None if pointers is None else [*pointers],
        )
        try:
            return await self._tabs.apply(self._tab, message)
        except TabGone:
            raise TabGone(operations) from None

    def _check(self, answer: NotebookOperationsResultRequest) -> None:
        match answer.status:
            case "applied":
                return
            case "mismatch":
                raise CellConflict(
                    f"{self.path} is no longer as expected, so nothing was changed.",
                    path=self.path,
                    mismatches=answer.mismatches or [],
                )
            case "notOpen":
                raise TabGone
            case "readOnly":
                raise NotAllowed(
                    f"{self.path} is read-only, so it cannot be changed.", path=self.path, why="notebook_read_only"
                )
            case "failed":
                raise HdspAgentError(
                    f"The browser could not change {self.path}: {answer.message or 'it does not say why'}.",
                    path=self.path,
                )

    def _seen(self, notebook: JsonObject, revision: int, outputs: OutputDetail, dirty: bool) -> NotebookSnapshot:
        return snapshot_of(
            as_notebook(notebook, self.path),
            path=self.path,
            revision=f"tab:{revision}",
            source="tab",
            outputs=outputs,
            dirty=dirty,
        )

    async def _read(self, outputs: OutputDetail) -> tuple[JsonObject | None, int]:
        """All pages of one revision; None when it changed meanwhile."""
        cells: list[JsonObject] = []
        revision: int | None = None
        while True:
            page = await self._page(len(cells), outputs)
            require_few_cells(page.total, self.path)
            if revision is not None and page.revision != revision:
                return None, 0
            revision = page.revision or 0
            got = page.cells or []
            cells.extend(got)
            if len(cells) >= page.total:
                notebook: JsonObject = {
                    "cells": list(cells),
                    "metadata": page.metadata or {},
                    "nbformat": page.nbformat or 4,
                    "nbformat_minor": max(_LEAST_MINOR, page.nbformat_minor or 0),
                }
                return notebook, revision
            if not got:
                return None, 0

    async def _page(self, first: int, outputs: OutputDetail) -> NotebookPageRequest:
        message = ReadNotebookMessage(op_id=uuid.uuid4().hex, path=self.path, first=first, outputs=outputs)
        page = await self._tabs.read(self._tab, message)
        if page.status == "notOpen":
            raise TabGone
        if page.status == "failed":
            raise Conflict(
                f"The browser could not read {self.path}: {page.message or 'it does not say why'}.", path=self.path
            )
        return page


def _plain(operations: Sequence[Operation]) -> list[NotebookOperation] | None:
    """The operations, if the tab alone can judge all of them: then the cells need not be looked at first."""
    plain: list[NotebookOperation] = []
    for operation in operations:
        if isinstance(operation, EditSource | SetCellMetadata):
            return None
        if isinstance(operation, InsertCell) and operation.metadata:
            return None
        plain.append(operation)
    return plain
