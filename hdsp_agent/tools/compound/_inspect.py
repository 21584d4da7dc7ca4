"""Looking closer: a cell, or a variable."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import Field, StringConstraints

from ...config import ToolGroup
from .._tool import ToolArguments, ToolContext, ToolResult
from ..notebook._inspect_variables import InspectVariables, InspectVariablesArguments
from ..notebook._read_notebook import ReadNotebook, ReadNotebookArguments
from ._cell_runner import CellRunner
from ._cells import CompoundTool
from ._step_report import shortened, shown_text

__all__ = ["InspectVariable", "ReadCell"]

_MOST: Final = 1_500


class ReadCellArguments(ToolArguments):
    """The arguments of ``read_cell``."""

    cell: Annotated[int, Field(ge=1, le=100_000)]
    """Its number."""


class ReadCell(CompoundTool[ReadCellArguments]):
    """Shows a cell with what it printed."""

    name: ClassVar[str] = "read_cell"
    group: ClassVar[ToolGroup | None] = "read"
    parts: ClassVar[tuple[str, ...]] = ("read_notebook",)
    description: ClassVar[str] = "the number of a cell that is listed in part only; you are shown all of it."

    async def _run(self, arguments: ReadCellArguments, context: ToolContext) -> ToolResult:
        runner = await CellRunner.of(context)
        named = runner.cell(arguments.cell).id
        asked = await ReadNotebook().run(ReadNotebookArguments(view="cells", cells=[named]), context)
        if asked.is_error:
            return asked
        snapshot = await runner.place.document.snapshot(outputs="full")
        cell = snapshot.cell(named)
        printed = shown_text(cell.outputs)
        text = f"Cell {arguments.cell}:\n{shortened(cell.source, _MOST)}" + (f"\nOutput:\n{printed}" if printed else "")
        return ToolResult(context.mask(text))


class InspectVariableArguments(ToolArguments):
    """The arguments of ``inspect_variable``."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
    """Its name."""


class InspectVariable(CompoundTool[InspectVariableArguments]):
    """Shows a variable."""

    name: ClassVar[str] = "inspect_variable"
    group: ClassVar[ToolGroup | None] = "read"
    parts: ClassVar[tuple[str, ...]] = ("inspect_variables",)
    description: ClassVar[str] = "the name of a variable; you are shown its type, columns and first values."

    async def _run(self, arguments: InspectVariableArguments, context: ToolContext) -> ToolResult:
        result = await InspectVariables().run(InspectVariablesArguments(names=[arguments.name]), context)
        if result.is_error or not isinstance(result.content, str):
            return result
        return ToolResult(shortened(result.content, _MOST))
