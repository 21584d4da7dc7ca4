"""What files the workspace has, and which of them Git finds changed. Everything here blocks."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from ...tools import PathPolice, ToolFailed
from ...tools._process import command_environment
from ...tools._walk import Walk
from ..approval import git_settings_problem
from ._dimensions import Dimension, Entry

__all__ = ["git_status_part", "workspace_files_part"]

_WALK_SECONDS: Final = 0.5
_MOST_COUNTED: Final = 5_000
_GIT_SECONDS: Final = 5.0
_LARGEST_STATUS: Final = 1_000_000
_STATES: Final = {
    "?": "new", "A": "added", "M": "changed", "D": "deleted", "R": "renamed", "C": "copied", "U": "in conflict", "T": "of another type"
}  # fmt: skip


def workspace_files_part(paths: PathPolice, most: int) -> Dimension:
    """The files the agent may see, the nearest first; folders stand for themselves only where there is nothing to see in them."""
    walk = Walk(paths.workspace, paths, seconds=_WALK_SECONDS)
    names: list[str] = []
    with suppress(OSError):
        for entry in walk.entries(lambda: False):
            if entry.is_hidden_from_agent or entry.is_directory:
                continue
            names.append(entry.path.relative_to(paths.workspace).as_posix())
            if len(names) == _MOST_COUNTED:
                break
    is_partial = walk.stopped_early or len(names) == _MOST_COUNTED
    entries = tuple(Entry(name, name) for name in names[:most])
    return Dimension("workspace_files", entries, others=len(names[most:]), is_partial=is_partial)


def git_status_part(paths: PathPolice, most: int) -> Dimension | None:
    """The files that differ from the last commit; None where Git is not used, or could run a program of the folder's own."""
    output = _status(paths.workspace)
    if output is None:
        return None
    entries = [Entry(name, f"{state}: {name}") for state, name in _changes(output, paths)]
    return Dimension("git_status", tuple(entries[:most]), others=len(entries[most:]))


def _status(folder: Path) -> list[str] | None:
    program = shutil.which("git")
    if program is None or git_settings_problem(str(folder)) is not None:
        return None
    command = [program, "-c", "core.fsmonitor=false", "status", "--porcelain=v1", "-z", "--", "."]
    try:
        done = subprocess.run(  # noqa: S603 -- fixed words
            command, cwd=folder, env=command_environment(os.environ, unasked=True), stdin=subprocess.DEVNULL, capture_output=True, timeout=_GIT_SECONDS, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    # Its names are relative to the top of the repository.
    return os.fsdecode(done.stdout[:_LARGEST_STATUS]).split("\0")[:-1]


def _changes(output: list[str], paths: PathPolice) -> Iterator[tuple[str, str]]:
    top = _top(paths.workspace)
    rows = iter(output)
    for row in rows:
        state, name = row[:2], row[3:]
        if "R" in state or "C" in state:
            # The name it had before.
            next(rows, None)
        letter = next((each for each in state if each.strip()), "")
        with suppress(ToolFailed):
            place = paths.resolve(str(top / name))
            if not place.is_outside:
                yield _STATES.get("U" if state in ("AA", "DD") else letter, "changed"), place.shown


def _top(folder: Path) -> Path:
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
