"""A notebook as passages: its cells, and what they wrote. Everything here blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..._regular_files import open_regular_file
from ...config import ALL_MASKED_KINDS
from ...persistence import Masker
from ...recall import Passage, split_text
from ...tools import FolderWalk, PathPolicy

__all__ = ["FoundNotebook", "find_notebooks", "notebook_passages"]

_LARGEST: Final = 20_000_000
_MOST_NOTEBOOKS: Final = 2_000
_WALK_SECONDS: Final = 5.0
_MOST_OUTPUT: Final = 2_000
_MOST_CELLS: Final = 2_000


@dataclass(frozen=True)
class FoundNotebook:
    """A notebook of the workspace, and which version of it there is."""

    path: str
    """From the workspace on."""
    version: str
    changed_at: int
    """In milliseconds."""


def find_notebooks(paths: PathPolicy) -> list[FoundNotebook]:
    """The notebooks that the agent may see."""
    found: list[FoundNotebook] = []
    walk = FolderWalk(paths.workspace, paths, seconds=_WALK_SECONDS)
    with suppress(OSError):
        for entry in walk.entries(lambda: False):
            if entry.is_hidden_from_agent or entry.is_directory or entry.path.suffix != ".ipynb":
                continue
            with suppress(OSError):
                status = entry.path.stat()
                if status.st_size <= _LARGEST:
                    name = entry.path.relative_to(paths.workspace).as_posix()
                    version = f"{status.st_mtime_ns}:{status.st_size}"
                    found.append(FoundNotebook(name, version, status.st_mtime_ns // 1_000_000))
            if len(found) == _MOST_NOTEBOOKS:
                break
    return found


def notebook_passages(workspace: Path, notebook: FoundNotebook) -> list[Passage]:
    """What can be found of a notebook; nothing of one that cannot be read."""
    try:
        with open_regular_file(workspace / notebook.path) as file:
            content = json.loads(file.read(_LARGEST + 1))
        cells = content["cells"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    if not isinstance(cells, list):
        return []
    masker = Masker(ALL_MASKED_KINDS)
    passages: list[Passage] = []
    for number, cell in enumerate(cells[:_MOST_CELLS], 1):
        if not isinstance(cell, dict):
            continue
        place = str(cell.get("id") or number)
        for text in (_joined(cell.get("source")), _outputs(cell.get("outputs"))):
            for piece in split_text(masker.mask(text).strip()) if text.strip() else ():
                passages.append(Passage(piece, place, notebook.changed_at))
    return passages


def _outputs(outputs: object) -> str:
    texts = [text for output in (outputs if isinstance(outputs, list) else ()) for text in _output(output)]
    return "\n".join(texts)[:_MOST_OUTPUT]


def _output(output: object) -> Iterator[str]:
    if not isinstance(output, dict):
        return
    if output.get("output_type") == "stream":
        yield _joined(output.get("text"))
    elif output.get("output_type") == "error":
        yield f"{output.get('ename')}: {output.get('evalue')}"
    elif isinstance(data := output.get("data"), dict):
        yield _joined(data.get("text/plain"))


def _joined(text: object) -> str:
    if isinstance(text, str):
        return text
    return "".join(part for part in text if isinstance(part, str)) if isinstance(text, Sequence) else ""
