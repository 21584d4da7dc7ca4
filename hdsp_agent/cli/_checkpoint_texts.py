"""Checkpoints, their differences and what restoring does, as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from ._amounts import bytes_text, count_text, time_text
from ._columns import table

if TYPE_CHECKING:
    from ..checkpoints import (
        CellDiff,
        CheckpointDiff,
        CheckpointRecord,
        FileDiff,
        FileRestorePlan,
        Hunk,
        OperationRecord,
        PlannedChange,
        StoreStatistics,
    )
    from ._terminal import Colour, Terminal

__all__ = ["checkpoint_lines", "diff_lines", "operation_lines", "plan_lines", "restored_line", "statistics_lines"]

_COLOURS: Final[dict[str, Colour]] = {"+": "green", "-": "red"}
_SCOPES: Final = {
    "files": "it has too many files",
    "seconds": "scanning it takes too long",
    "home": "it is a home folder",
    "network": "it is on a network",
    "setting": "a setting requires it",
}


def checkpoint_lines(records: Sequence[CheckpointRecord], width: int | None) -> Iterator[str]:
    """The checkpoints as a table."""
    rows = [
        (
            record.id,
            _time(record.ts),
            record.author,
            count_text(record.files),
            bytes_text(record.bytes),
            _kept_besides(record),
            record.task_id[:8] if record.task_id else "-",
            record.reason,
        )
        for record in records
    ]
    heads = ("CHECKPOINT", "MADE", "CHANGED BY", "FILES", "SIZE", "ALSO", "TASK", "REASON")
    yield from table(heads, rows, right=frozenset({3, 4}), width=width)


def operation_lines(operations: Sequence[OperationRecord], width: int | None) -> Iterator[str]:
    """Everything that was done as a table."""
    rows = [
        (
            done.id,
            _time(done.ts),
            done.kind,
            done.status,
            done.target or "-",
            done.checkpoint.id if done.checkpoint else "-",
            done.error or (done.checkpoint.reason if done.checkpoint else ""),
        )
        for done in operations
    ]
    heads = ("OPERATION", "WHEN", "WHAT", "STATE", "BACK TO", "LED TO", "WHY")
    yield from table(heads, rows, width=width)


def diff_lines(terminal: Terminal, diff: CheckpointDiff, *, names_only: bool) -> Iterator[str]:
    """What differs, file by file."""
    for file in diff.files:
        yield terminal.paint(_heading(file), "bold")
        if not names_only:
            yield from _content_lines(terminal, file)


def plan_lines(plan: FileRestorePlan) -> Iterator[str]:
    """What restoring would do, and what it would leave."""
    for title, changes in (
        ("", plan.changes),
        ("kept, because you changed it: ", plan.conflicts),
        ("left: ", plan.left),
    ):
        for change in changes:
            yield f"{title}{_planned(change)}"
    yield f"{count_text(len(plan.changes))} changes, {bytes_text(plan.bytes)} to write."


def restored_line(done: OperationRecord) -> str:
    """What a restore did."""
    text = f"{count_text(done.written)} files written, {count_text(done.deleted)} deleted"
    return text + (f", {count_text(done.kept)} kept because you changed them." if done.kept else ".")


def statistics_lines(found: StoreStatistics) -> Iterator[str]:
    """What checkpoints take."""
    yield (
        f"{count_text(found.checkpoints)} checkpoints of {count_text(found.states)} states use {bytes_text(found.bytes)} of "
        f"{bytes_text(found.quota_bytes)}."
    )
    if found.scope == "touched":
        why = _SCOPES.get(found.scope_reason or "", "")
        yield f"Only files that the agent touches are saved in this workspace: {why}."
    if found.interrupted is not None:
        yield "A restore was interrupted. Run hdsp-agent checkpoint recover roll-back, or recover keep."


def _kept_besides(record: CheckpointRecord) -> str:
    """What is kept besides files, which only a server with the notebook's kernel can bring back."""
    parts = [name for name, kept in (("cells", record.notebooks), ("variables", record.variables)) if kept]
    return ", ".join(parts) or "-"


def _time(ts: int) -> str:
    return time_text(datetime.fromtimestamp(ts / 1000, UTC))


def _heading(file: FileDiff) -> str:
    name = f"{file.renamed_from.path} -> {file.path}" if file.renamed_from else file.path
    sizes = " -> ".join(bytes_text(size) for size in (file.old_size, file.new_size) if size is not None)
    return f"{file.change} {name} ({file.kind}, {sizes})"


def _content_lines(terminal: Terminal, file: FileDiff) -> Iterator[str]:
    if file.too_large:
        yield "  too large to compare line by line"
    if file.notebook is not None:
        for cell in file.notebook.cells:
            yield f"  {_cell(cell)}"
            yield from _hunk_lines(terminal, cell.source)
        if file.notebook.metadata_changed:
            yield "  the notebook's metadata changed"
    yield from _hunk_lines(terminal, file.hunks)


def _hunk_lines(terminal: Terminal, hunks: Sequence[Hunk]) -> Iterator[str]:
    for hunk in hunks:
        yield terminal.paint(f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@", "cyan")
        for line in hunk.lines:
            colour = _COLOURS.get(line[:1])
            yield terminal.paint(line, colour) if colour else line


def _cell(cell: CellDiff) -> str:
    index = cell.new_index if cell.new_index is not None else cell.old_index
    more = [
        name
        for name, changed in (
            ("outputs", cell.outputs_changed), ("metadata", cell.metadata_changed), ("type", cell.type_changed)
        )
        if changed
    ]  # fmt: skip
    text = f"{cell.change} {cell.cell_type} cell {(index or 0) + 1}"
    return text + (f" (also {', '.join(more)})" if more else "")


def _planned(change: PlannedChange) -> str:
    text = f"{change.action.replace('_', ' ')} {change.path}"
    if change.action in ("create", "overwrite"):
        text += f" ({bytes_text(change.size)})"
    return text + (f": {change.reason}" if change.reason and not change.conflict else "")
