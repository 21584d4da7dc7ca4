"""How files differ between two checkpoints, as a text for the model."""

from __future__ import annotations

from collections.abc import Sequence

from ...checkpoints import FileDiff, Hunk
from ...tools import PathPolicy
from ..git import may_be_read

__all__ = ["file_diff_text", "may_be_shown"]


def may_be_shown(file: FileDiff, paths: PathPolicy) -> bool:
    """Whether the agent may read it with leave to read the workspace, by the name it had before, too. Blocks."""
    names = [file.path] if file.renamed_from is None else [file.path, file.renamed_from.path]
    return all(may_be_read(name, paths) for name in names)


def file_diff_text(file: FileDiff) -> str:
    """Line by line, a notebook cell by cell; empty where there is nothing to show."""
    if file.notebook is None:
        return _hunks(file.hunks)
    parts: list[str] = []
    for cell in file.notebook.cells:
        index = cell.new_index if cell.new_index is not None else cell.old_index
        number = "" if index is None else f" {index + 1}"
        outputs = ", outputs changed" if cell.outputs_changed else ""
        parts.append(f"cell{number} {cell.cell_id or ''} ({cell.cell_type}): {cell.change}{outputs}")
        parts += [hunk for hunk in (_hunks(cell.source),) if hunk]
    return "\n".join(parts)


def _hunks(hunks: Sequence[Hunk]) -> str:
    lines: list[str] = []
    for hunk in hunks:
        lines.append(f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@")
        lines += [line.rstrip("\n") for line in hunk.lines]
    return "\n".join(lines)
