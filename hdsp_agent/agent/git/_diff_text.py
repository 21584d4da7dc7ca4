"""What the changes are, as a text: a diff by Git, and of notebooks one of their cells. Everything here blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from pydantic import JsonValue

from ...checkpoints import CellDiff, notebook_diff
from ...tools import PathPolicy, ToolFailed, open_file
from ._changed_files import DIFF_OPTIONS, ChangedFile
from ._program import Git

__all__ = ["differences", "printable"]

_MOST_FILES: Final = 200
_LARGEST_DIFF: Final = 400_000
_MOST_NOTEBOOKS: Final = 10
_LARGEST_NOTEBOOK: Final = 20_000_000
_MOST_CELLS: Final = 1_000
_MOST_SOURCE: Final = 200_000
_LARGEST_NOTEBOOK_DIFF: Final = 50_000
_NO_NOTEBOOK: Final = b'{"cells": []}'


class _NotCompared(Exception):
    """Why a notebook is not compared, as the end of a sentence."""


def differences(git: Git, paths: PathPolicy, changes: Sequence[ChangedFile], old: str, new: str | None) -> str:
    """How these files differ between a commit and another, or what they are now. Raises ToolFailed."""
    tracked = [change for change in changes if change.is_tracked]
    files = [change for change in tracked if not _is_notebook(change)]
    notebooks = [change for change in tracked if _is_notebook(change)]
    parts = [_of_files(git, files[:_MOST_FILES], old, new)]
    if len(files) > _MOST_FILES:
        parts.append(f"[… {len(files) - _MOST_FILES} more files: their differences are left out …]")
    parts += [_of_notebook(git, paths, change, old, new) for change in notebooks[:_MOST_NOTEBOOKS]]
    if len(notebooks) > _MOST_NOTEBOOKS:
        parts.append(f"[… {len(notebooks) - _MOST_NOTEBOOKS} more notebooks: their differences are left out …]")
    return "\n\n".join(part for part in parts if part)


def _is_notebook(change: ChangedFile) -> bool:
    return any(name.lower().endswith(".ipynb") for name in change.names)


def _of_files(git: Git, files: Sequence[ChangedFile], old: str, new: str | None) -> str:
    names = [name for change in files for name in change.names]
    if not names:
        return ""
    revisions = [old] if new is None else [old, new]
    output = git.read("diff", *DIFF_OPTIONS, *revisions, "--", *names, most=_LARGEST_DIFF)
    text = output.data.decode("utf-8", "replace")
    if not output.is_cut:
        return text.rstrip("\n")
    # A line that is cut may be the beginning of a key, which nobody would know for one.
    return f"{text.rpartition(chr(10))[0]}\n[… the rest of the diff is left out: it is too long …]"


def _of_notebook(git: Git, paths: PathPolicy, change: ChangedFile, old: str, new: str | None) -> str:
    name = change.name
    try:
        before = _NO_NOTEBOOK if change.state == "added" else _committed(git, old, change.old_name or name)
        if change.state == "deleted":
            after = _NO_NOTEBOOK
        else:
            after = _present(paths, name) if new is None else _committed(git, new, name)
        lines = _cells(_sources(before), _sources(after))
    except _NotCompared as problem:
        return f"[{printable(name)} {problem}]"
    text = "\n".join(lines) or "No source or type of a cell differs."
    if len(text) > _LARGEST_NOTEBOOK_DIFF:
        text = f"{text[:_LARGEST_NOTEBOOK_DIFF].rpartition(chr(10))[0]}\n[… the rest is left out: it is too long …]"
    return f"Notebook {printable(name)}, cell by cell, without outputs:\n{text}"


def _committed(git: Git, revision: str, name: str) -> bytes:
    try:
        output = git.read("cat-file", "blob", f"{revision}:./{name}", most=_LARGEST_NOTEBOOK)
    except ToolFailed as error:
        raise _NotCompared(f"is not compared: {error}") from error
    if output.is_cut:
        raise _NotCompared("is too large to be compared.")
    return output.data


def _present(paths: PathPolicy, name: str) -> bytes:
    try:
        with open_file(paths.resolve(str(paths.workspace / name))) as file:
            data = file.read(_LARGEST_NOTEBOOK + 1)
    except ToolFailed as error:
        raise _NotCompared(f"could not be read: {error}") from error
    if len(data) > _LARGEST_NOTEBOOK:
        raise _NotCompared("is too large to be compared.")
    return data


def _sources(data: bytes) -> bytes:
    """The notebook with nothing of its cells but their ids, types and sources. Raises _NotCompared."""
    try:
        notebook = json.loads(data)
    except (ValueError, RecursionError):
        notebook = None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise _NotCompared("is not compared: it is no readable notebook.")
    kept: list[JsonValue] = [
        {key: cell[key] for key in ("id", "cell_type", "source") if key in cell}
        for cell in islice(cells, _MOST_CELLS + 1)
    ]
    written = json.dumps({"cells": kept}).encode()
    if len(kept) > _MOST_CELLS or len(written) > _MOST_SOURCE:
        raise _NotCompared("is not compared: it has too many cells.")
    return written


def _cells(old: bytes, new: bytes) -> Iterator[str]:
    found = notebook_diff(old, new)
    for cell in found.cells if found is not None else ():
        yield _heading(cell)
        for hunk in cell.source:
            yield f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@"
            yield from hunk.lines


def _heading(cell: CellDiff) -> str:
    """Which cell it is and what became of it, counting from 1 as people do."""
    index = cell.old_index if cell.new_index is None else cell.new_index
    number = "" if index is None else f" {index + 1}"
    verb = {"added": "added", "removed": "removed", "modified": "changed", "moved": "moved"}[cell.change]
    was = ""
    if cell.old_index is not None and cell.new_index is not None and cell.old_index != cell.new_index:
        was = f", cell {cell.old_index + 1} before"
    type_ = f"{cell.cell_type}, another type before" if cell.type_changed else cell.cell_type
    return f"Cell{number} ({type_}{was}) {verb}:"


def printable(name: str) -> str:
    """A file's name as a text: what cannot be shown of it stands as a replacement character."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
