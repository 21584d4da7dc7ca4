"""Looking at a kernel's variables without touching them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final

from pydantic import BeforeValidator, Field, StringConstraints

from ...config import ToolGroup
from ...errors import HdspAgentError
from ...messages import ClineSayTool, JsonObject
from ...notebooks.kernels import Executor, Variable, VariablesReport, schema_text
from .._action import ActionRequest
from .._output_buffer import middle_left_out
from .._tool import SimpleTool, ToolArguments, ToolContext, ToolResult, answered, denied
from ._cell_selection import as_list
from ._model_outputs import most_characters
from ._notebook_location import NotebookPath, place_of, still_allowed
from ._outputs import ColumnEntry, InspectedVariable, VariableList

__all__ = ["InspectVariables", "InspectVariablesArguments"]

_MOST_LISTED: Final = 2
"""Entries take more room than lines."""


class InspectVariablesArguments(ToolArguments):
    """The arguments of ``inspect_variables``."""

    names: (
        Annotated[
            list[Annotated[str, StringConstraints(min_length=1, max_length=200)]],
            BeforeValidator(as_list),
            Field(min_length=1, max_length=100),
        ]
        | None
    ) = None
    """Which variables; absent for all, the newest first."""
    path: NotebookPath | None = None
    """The notebook whose kernel to look at, relative to the workspace; absent for the one the task is about."""


class InspectVariables(SimpleTool[InspectVariablesArguments]):
    """Tells the variables."""

    name: ClassVar[str] = "inspect_variables"
    group: ClassVar[ToolGroup | None] = "read"
    description: ClassVar[str] = (
        "See the variables of a notebook's Python kernel: types, shapes, columns with their types, memory and the first "
        "values; of connections to databases (SQLAlchemy, DuckDB, sqlite3) that you name, the tables and their columns. "
        "Changes nothing, and mostly works while a cell runs. Prefer it to printing things."
    )
    Output = VariableList

    async def _run(self, arguments: InspectVariablesArguments, context: ToolContext) -> ToolResult:
        place = await place_of(arguments.path, context)
        shown = ClineSayTool(
            tool="inspectVariables",
            path=place.shown,
            reason=", ".join(arguments.names) if arguments.names else None,
            is_outside_workspace=place.checked.is_outside or None,
        )
        action = ActionRequest(risks=place.checked.read_risks, tool=self.name, path=place.shown)
        approval = await context.approve(action, "tool", shown.to_json())
        if not approval.approved:
            return denied(approval)
        await still_allowed(place, context)
        executor = context.notebooks.executor
        report = await executor.inspect(place.document.path, names=arguments.names)
        tables = await _tables(executor, place.document.path, report)
        text = context.mask(_text(report, tables))
        most = 2 * most_characters(context.settings)
        if len(text) > most:
            note = f"[… the middle of {len(text):,} characters is left out: ask for fewer variables …]"
            text = middle_left_out(text, most, note)
        return answered(approval, ToolResult(text, structured=lambda: _listed(report, tables, place.shown, most)))


async def _tables(executor: Executor, path: str, report: VariablesReport) -> dict[str, str]:
    """What the databases hold that variables are connected to, by the variable."""
    found: dict[str, str] = {}
    for variable in report.variables:
        if variable.is_database:
            try:
                found[variable.name] = schema_text(await executor.schema(path, variable.name, may_connect=False))
            except HdspAgentError as error:
                found[variable.name] = f"(Its tables are not known: {error.message})"
    return found


def _listed(report: VariablesReport, tables: Mapping[str, str], path: str, most: int) -> JsonObject:
    """The same as entries, as many as have room."""
    entries: list[InspectedVariable] = []
    size, left_out = 0, list(report.unseen)
    for variable in report.variables:
        entry = _entry(variable, tables.get(variable.name))
        size += len(entry.model_dump_json(exclude_none=True))
        if entries and size > _MOST_LISTED * most:
            left_out.append(variable.name)
        else:
            entries.append(entry)
    told = VariableList(path=path, variables=entries, missing=list(report.missing), unseen=left_out)
    return told.model_dump(exclude_none=True)


def _entry(variable: Variable, tables: str | None) -> InspectedVariable:
    return InspectedVariable(
        name=variable.name,
        type=variable.type,
        shape=None if variable.shape is None else list(variable.shape),
        length=variable.length,
        dtype=variable.dtype,
        device=variable.device,
        memory=variable.memory,
        columns=[ColumnEntry(name=name, dtype=dtype) for name, dtype in variable.columns] or None,
        head=variable.head,
        tables=tables,
        error=variable.error,
    )


def _text(report: VariablesReport, tables: Mapping[str, str]) -> str:
    parts = [_variable(variable, tables.get(variable.name)) for variable in report.variables]
    if report.missing:
        parts.append(f"There is no variable {', '.join(report.missing)}.")
    if report.unseen:
        parts.append(f"Not looked at, for want of time or room: {', '.join(report.unseen)}.")
    return "\n".join(parts) or "The kernel has no variables yet."


def _variable(variable: Variable, tables: str | None) -> str:
    facts = [variable.type]
    if variable.shape is not None:
        facts.append(f"shape ({', '.join('?' if side is None else str(side) for side in variable.shape)})")
    elif variable.length is not None:
        facts.append(f"length {variable.length}")
    facts += [fact for fact in (variable.dtype, variable.device) if fact]
    if variable.memory is not None:
        facts.append(f"{variable.memory:,} bytes")
    lines = [f"{variable.name}: {', '.join(facts)}"]
    if variable.columns:
        lines.append(f"  columns: {', '.join(f'{name} {dtype}' for name, dtype in variable.columns)}")
    if variable.head:
        lines += [f"  {line}" for line in variable.head.split("\n")]
    if tables:
        lines += [f"  {line}" for line in tables.split("\n")]
    if variable.error:
        lines.append(f"  ({variable.error})")
    return "\n".join(lines)
