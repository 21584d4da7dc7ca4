"""Reading a notebook: its outline, its cells, or what they printed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from ...config import ToolGroup
from ...messages import ClineSayTool, JsonObject
from ...notebooks import Cell, NotebookSnapshot, OutlineLine, RunMemory, for_cells, freshness_of, outline_of
from ...notebooks.kernels import KernelInfo
from .._action import ActionRequest
from .._output_buffer import middle_left_out
from .._tool import SimpleTool, ToolArguments, ToolContext, ToolResult, answered, denied
from ._cell_selection import CellNames, chosen_cells, numbers_of
from ._cell_states import outline_text, state_words
from ._model_outputs import MOST_IMAGES, shown_texts, told_outputs, with_outputs
from ._notebook_location import NotebookLocation, NotebookPath, place_of, still_allowed
from ._outputs import NotebookCell, NotebookContent, running_kernel

__all__ = ["ReadNotebook", "ReadNotebookArguments"]

_MOST_SOURCE: Final = 100_000
_LONGEST_SOURCE: Final = 40_000
_MOST_LINES: Final = 2_000
"""Cells of which an outline tells, and of which sources are told, at a time."""


class ReadNotebookArguments(ToolArguments):
    """The arguments of ``read_notebook``."""

    path: NotebookPath | None = None
    """The notebook, relative to the workspace; absent for the one the task is about."""
    view: Literal["outline", "cells", "outputs"] = "outline"
    """outline: one line a cell, with its id, state and first line. cells: sources too. outputs: sources, what the cells printed, and images."""
    cells: CellNames | None = None
    """Which cells: ids, numbers from 1, or ranges such as "3-7", "5.." or "..a1b2c3d4"; absent for all."""


class ReadNotebook(SimpleTool[ReadNotebookArguments]):
    """Reads a notebook."""

    name: ClassVar[str] = "read_notebook"
    group: ClassVar[ToolGroup | None] = "read"
    description: ClassVar[str] = (
        "Read a notebook as it is now, unsaved changes in the person's browser included. Begin with the outline; then read "
        "the cells you need. Cells have ids that stay when others are inserted or moved: name cells by them. The state of "
        "a code cell says whether its output is what it would show now: fresh, stale (and why), failed, never ran, or "
        "unknown (it ran before the agent looked)."
    )
    parallel_safe: ClassVar[bool] = True
    Output = NotebookContent

    async def _run(self, arguments: ReadNotebookArguments, context: ToolContext) -> ToolResult:
        place = await place_of(arguments.path, context)
        # What cannot be read is told before anybody is asked.
        snapshot = await place.document.snapshot()
        named = await for_cells(len(snapshot.cells), lambda: _named(arguments, snapshot, place))
        shown = ClineSayTool(
            tool="readNotebook",
            path=place.shown,
            content=str(place.checked.path),
            reason=named,
            is_outside_workspace=place.checked.is_outside or None,
        )
        action = ActionRequest(risks=place.checked.read_risks, tool=self.name, path=place.shown)
        approval = await context.approve(action, "tool", shown.to_json())
        if not approval.approved:
            return denied(approval)
        await still_allowed(place, context)
        return answered(approval, await _read(arguments, place, context))

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        path = partial.get("path")
        return ClineSayTool(tool="readNotebook", path=path).to_json() if isinstance(path, str) and path else None


async def _read(arguments: ReadNotebookArguments, place: NotebookLocation, context: ToolContext) -> ToolResult:
    snapshot = await place.document.snapshot(outputs="full" if arguments.view == "outputs" else "none")
    kernel = await context.notebooks.kernel(place.path)
    memory = context.notebooks.memory(place.path, kernel)
    count = len(snapshot.cells)
    before = await for_cells(count, lambda: _about(snapshot, place, kernel))
    seen = _Seen(snapshot, memory, kernel, place)
    if arguments.view == "outline":
        text = await for_cells(count, lambda: context.mask(f"{before}\n{_outline(arguments, snapshot, memory, place)}"))
        return ToolResult(text, structured=lambda: _outlined(arguments, seen))
    chosen, cells, headers = await for_cells(count, lambda: _told_cells(arguments, snapshot, memory, place, context))
    context.state.cells.saw(place.document.path, [(cell.id, cell.hash) for cell in chosen])
    left_out = len(chosen) - len(cells)
    pictured = [cell.id for cell in cells if cell.output_summary.images][-MOST_IMAGES:]
    told = [
        await told_outputs(header, cell.outputs, context, images=cell.id in pictured)
        for cell, header in zip(cells, headers, strict=True)
    ]
    after = f"[… {left_out} more cells: read them with `cells` …]" if left_out else ""
    shown = await shown_texts(told, context)
    return ToolResult(
        with_outputs(told, shown, before=context.mask(before), after=after),
        structured=lambda: _told(cells, shown, left_out, seen, context),
    )


@dataclass(frozen=True)
class _Seen:
    snapshot: NotebookSnapshot
    memory: RunMemory
    kernel: KernelInfo | None
    place: NotebookLocation

    def content(self, cells: list[NotebookCell], left_out: int) -> JsonObject:
        """The notebook with these of its cells."""
        snapshot, kernel = self.snapshot, self.kernel
        content = NotebookContent(
            path=self.place.shown,
            cell_count=len(snapshot.cells),
            kernel=None if kernel is None else running_kernel(kernel, self.place.shown),
            open_in_browser=snapshot.source != "disk",
            unsaved_changes=bool(snapshot.dirty),
            cells=cells,
            left_out=left_out,
        )
        return content.model_dump(exclude_none=True)


def _outlined(arguments: ReadNotebookArguments, seen: _Seen) -> JsonObject:
    chosen = chosen_cells(arguments.cells or ["all"], seen.snapshot, seen.place.shown)
    lines, numbers = _chosen_lines(seen.snapshot, seen.memory, chosen), numbers_of(seen.snapshot)
    told = [
        NotebookCell(
            id=line.cell_id,
            number=line.number,
            cell_type=line.cell_type,
            execution_count=line.execution_count,
            state=None if line.freshness is None else state_words(line.freshness, numbers),
            error=line.outputs.error,
            title=line.title,
            lines=line.lines,
            images=line.outputs.images or None,
        )
        for line in lines[:_MOST_LINES]
    ]
    return seen.content(told, max(0, len(lines) - _MOST_LINES))


def _told(
    cells: Sequence[Cell], outputs: Sequence[str], left_out: int, seen: _Seen, context: ToolContext
) -> JsonObject:
    numbers, states = numbers_of(seen.snapshot), freshness_of(seen.snapshot.cells, seen.memory)
    told = [
        NotebookCell(
            id=cell.id,
            number=numbers[cell.id],
            cell_type=cell.cell_type,
            execution_count=cell.execution_count,
            state=state_words(states[cell.id], numbers) if cell.id in states else None,
            source=_told_source(cell, context),
            output=output or None,
            images=cell.output_summary.images or None,
        )
        for cell, output in zip(cells, outputs, strict=True)
    ]
    return seen.content(told, left_out)


def _named(arguments: ReadNotebookArguments, snapshot: NotebookSnapshot, place: NotebookLocation) -> str:
    """What is to be read, for the person."""
    chosen = chosen_cells(arguments.cells or ["all"], snapshot, place.shown)
    return f"{arguments.view}: {_in_numbers(chosen, snapshot)}" if arguments.cells else arguments.view


def _outline(
    arguments: ReadNotebookArguments, snapshot: NotebookSnapshot, memory: RunMemory, place: NotebookLocation
) -> str:
    chosen = chosen_cells(arguments.cells or ["all"], snapshot, place.shown)
    lines, left_out = _chosen_lines(snapshot, memory, chosen), 0
    if len(lines) > _MOST_LINES:
        lines, left_out = lines[:_MOST_LINES], len(lines) - _MOST_LINES
    after = f"\n[… {left_out:,} more lines: name the `cells` you want …]" if left_out else ""
    return outline_text(lines, numbers_of(snapshot)) + after


def _told_cells(
    arguments: ReadNotebookArguments,
    snapshot: NotebookSnapshot,
    memory: RunMemory,
    place: NotebookLocation,
    context: ToolContext,
) -> tuple[list[Cell], list[Cell], list[str]]:
    """The cells that were asked for, those that have room, and what is said of each."""
    chosen = chosen_cells(arguments.cells or ["all"], snapshot, place.shown)
    cells = _fitting(chosen)
    return chosen, cells, _headers(cells, snapshot, memory, context)


def _in_numbers(cells: Sequence[Cell], snapshot: NotebookSnapshot) -> str:
    """Cells as a person counts them: 1, 3-5."""
    numbers = numbers_of(snapshot)
    spans: list[list[int]] = []
    for number in (numbers[cell.id] for cell in cells):
        if spans and number == spans[-1][-1] + 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return ", ".join("-".join(map(str, span)) for span in spans)


def _about(snapshot: NotebookSnapshot, place: NotebookLocation, kernel: KernelInfo | None) -> str:
    code = sum(cell.cell_type == "code" for cell in snapshot.cells)
    runs = kernel.told if kernel is not None else "no kernel runs"
    wanted = f", made for {snapshot.kernel_name}" if kernel is None and snapshot.kernel_name else ""
    where = {"tab": ", open in the browser", "room": ", shared by several people", "disk": ""}[snapshot.source]
    dirty = ", with unsaved changes" if snapshot.dirty else ""
    return f"{place.shown}: {len(snapshot.cells)} cells, {code} of them code; {runs}{wanted}{where}{dirty}."


def _chosen_lines(snapshot: NotebookSnapshot, memory: RunMemory, chosen: Sequence[Cell]) -> list[OutlineLine]:
    wanted = {cell.id for cell in chosen}
    return [line for line in outline_of(snapshot, memory) if line.cell_id in wanted]


def _fitting(chosen: Sequence[Cell]) -> list[Cell]:
    """As many cells from the first on as have room, at least one."""
    taken: list[Cell] = []
    size = 0
    for cell in chosen:
        size += min(len(cell.source), _LONGEST_SOURCE)
        if taken and (size > _MOST_SOURCE or len(taken) >= _MOST_LINES):
            break
        taken.append(cell)
    return taken


def _headers(cells: Sequence[Cell], snapshot: NotebookSnapshot, memory: RunMemory, context: ToolContext) -> list[str]:
    numbers, states = numbers_of(snapshot), freshness_of(snapshot.cells, memory)
    headers: list[str] = []
    for cell in cells:
        facts = [f"id={json.dumps(cell.id)}", f"type={cell.cell_type}"]
        if cell.execution_count is not None:
            facts.append(f"execution_count={cell.execution_count}")
        if cell.id in states:
            facts.append(f'state="{state_words(states[cell.id], numbers)}"')
        source = _told_source(cell, context)
        outputs = "\nOutput:" if cell.outputs else ""
        headers.append(f"<cell number={numbers[cell.id]} {' '.join(facts)}>\n{source}\n</cell>{outputs}")
    return headers


def _told_source(cell: Cell, context: ToolContext) -> str:
    source = context.mask(cell.source)
    if len(source) > _LONGEST_SOURCE:
        return middle_left_out(source, _LONGEST_SOURCE, f"[… the middle of {len(source):,} characters …]")
    return source
