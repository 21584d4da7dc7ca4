"""Creating a notebook, with its first cells."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from ..._threads import in_thread
from ...config import ToolGroup
from ...messages import CellEdit, CellId, ClineSayTool, InsertCell, JsonObject
from ...notebooks import new_cell_id, outline_of, source_hash
from ...notebooks.kernels import KernelSpec
from .._action import ActionRequest
from .._edit_check import unified_diff
from .._tool import SimpleTool, ToolArguments, ToolContext, ToolResult, answered, denied
from .._tool_failed import ToolFailed
from ._cell_states import outline_text
from ._notebook_location import NotebookPath, place_of, still_allowed
from ._outputs import CellsChanged, InsertedCell
from ._remote_risks import remote_risks, united

__all__ = ["CreateNotebook", "CreateNotebookArguments"]


class NewCell(BaseModel):
    """A cell to begin with."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    source: str
    """The whole source."""
    cell_type: Literal["code", "markdown", "raw"] = "code"
    """What it is."""


class CreateNotebookArguments(ToolArguments):
    """The arguments of ``create_notebook``."""

    path: NotebookPath
    """The new notebook, relative to the workspace; its name ends in .ipynb and its folder exists."""
    cells: Annotated[list[NewCell], Field(default_factory=list, max_length=200)]
    """The first cells, in order."""
    kernel: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    """The name of its kernel, as list_kernels shows it; absent for the usual one."""


class CreateNotebook(SimpleTool[CreateNotebookArguments]):
    """Creates a notebook."""

    name: ClassVar[str] = "create_notebook"
    group: ClassVar[ToolGroup | None] = "edit"
    description: ClassVar[str] = "Create a notebook with its first cells. Nothing is run: use run_cells afterwards."
    Output = CellsChanged

    async def _run(self, arguments: CreateNotebookArguments, context: ToolContext) -> ToolResult:
        place = await place_of(arguments.path, context)
        if await in_thread(lambda _stop: place.checked.path.exists()):
            raise ToolFailed(f"There is something at {place.shown} already. Choose another name, or edit that.")
        spec = await context.notebooks.executor.kernel_spec(arguments.kernel)
        unmasked = [context.vault.unmask(cell.source) for cell in arguments.cells]
        shown = ClineSayTool(
            tool="createNotebook",
            path=place.shown,
            kernel=spec.display_name,
            cell_edits=[_shown(cell, context) for cell in arguments.cells],
            is_outside_workspace=place.checked.is_outside or None,
            is_protected=place.checked.is_protected or None,
        )
        puts_back = any(text != cell.source for text, cell in zip(unmasked, arguments.cells, strict=True))
        ways = (unmasked, [cell.source for cell in arguments.cells])
        remote = await in_thread(
            lambda _stop: united(remote_risks((), _insertions(arguments.cells, sources)) for sources in ways)
        )
        action = ActionRequest(
            risks=place.checked.write_risks | remote.risks,
            tool=self.name,
            path=place.shown,
            puts_back_masked=puts_back,
            flags=remote.flags,
        )
        approval = await context.approve(action, "tool", shown.to_json())
        if not approval.approved:
            return denied(approval)
        await still_allowed(place, context)
        await context.notebooks.access.create(place.path, kernelspec=_kernelspec(spec))
        sources = unmasked if approval.by_person else [cell.source for cell in arguments.cells]
        operations = _insertions(arguments.cells, sources)
        if operations:
            await place.document.apply(operations, task_id=context.task_id)
        ids: list[str] = [one.cell_id for one in operations]
        context.state.cells.saw(place.document.path, [(one.cell_id, source_hash(one.source)) for one in operations])
        lines = outline_of(await place.document.snapshot())
        told = f"Created {place.shown} for {spec.display_name}"
        text = f"{told}:\n{context.mask(outline_text(lines))}" if lines else f"{told}. It has no cells yet."
        created = CellsChanged(
            path=place.shown,
            saved=True,
            inserted=[InsertedCell(id=one) for one in ids],
            changed=ids,
            cell_count=len(lines),
            summary=text,
        )
        return answered(approval, ToolResult(text, structured=lambda: created.model_dump(exclude_none=True)))

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        path = partial.get("path")
        return ClineSayTool(tool="createNotebook", path=path).to_json() if isinstance(path, str) and path else None


def _shown(cell: NewCell, context: ToolContext) -> CellEdit:
    diff, stats = unified_diff("", context.mask(context.vault.unmask(cell.source)), "new cell")
    return CellEdit(op="insert", cell_type=cell.cell_type, diff=diff or None, added=stats.added or None)


def _kernelspec(spec: KernelSpec) -> JsonObject:
    return {"name": spec.name, "display_name": spec.display_name, "language": spec.language}


def _insertions(cells: list[NewCell], sources: list[str]) -> list[InsertCell]:
    operations: list[InsertCell] = []
    last: CellId | None = None
    for cell, source in zip(cells, sources, strict=True):
        made = new_cell_id({one.cell_id for one in operations})
        text = source.replace("\r\n", "\n")
        operations.append(InsertCell(cell_id=made, after=last, cell_type=cell.cell_type, source=text))
        last = made
    return operations
