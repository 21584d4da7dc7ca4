"""Which files differ, as Git lists them, and which of those the agent may see. Everything here blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from ...tools import PathPolicy, ToolFailed
from ._program import Git

__all__ = ["DIFF_OPTIONS", "ChangedFile", "between", "may_be_read", "status", "without_hidden"]

DIFF_OPTIONS: Final = (
    "--no-ext-diff", "--no-textconv", "--no-color", "--relative", "--find-renames", "--ignore-submodules=dirty", "--submodule=short",
    "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
"""Nothing that a setting or an attribute says is run, and nothing outside the folder is told."""
_MOST_NAMES: Final = 1_000_000
_STATES: Final = {
    "?": "new", "A": "added", "M": "changed", "D": "deleted", "R": "renamed", "C": "copied", "U": "in conflict", "T": "of another type"
}  # fmt: skip


@dataclass(frozen=True)
class ChangedFile:
    """A file of the workspace that differs; the names are relative to it, as in the file system."""

    state: str
    name: str
    old_name: str | None = None
    """What it was called before, where that is in the workspace too."""
    is_tracked: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """All its names."""
        return (self.name,) if self.old_name is None else (self.old_name, self.name)


def status(git: Git) -> tuple[list[ChangedFile], bool]:
    """What differs from the last commit, with files Git does not track, and whether that is all. Raises ToolFailed."""
    output = git.read("status", "--porcelain=v1", "-z", "--", ".", most=_MOST_NAMES)
    # Its names are relative to the top of the repository.
    prefix = "" if git.folder == git.top else f"{git.folder.relative_to(git.top).as_posix()}/"
    return list(_of_status(output.fields, prefix)), not output.is_cut


def _of_status(fields: Sequence[str], prefix: str) -> Iterator[ChangedFile]:
    rows = iter(fields)
    for row in rows:
        state, name = row[:2], row[3:]
        letter = "U" if state in ("AA", "DD") else next((each for each in state if each.strip()), "")
        before = None
        if "R" in state or "C" in state:
            old = next(rows, "")
            # From outside of the folder it came as a new one.
            before, letter = (old.removeprefix(prefix), letter) if old.startswith(prefix) else (None, "A")
        name = name.removeprefix(prefix)
        yield ChangedFile(_STATES.get(letter, "changed"), name, before, is_tracked=letter != "?")


def between(git: Git, old: str, new: str) -> tuple[list[ChangedFile], bool]:
    """What differs between two commits in the folder, and whether that is all. Raises ToolFailed."""
    output = git.read("diff", "--name-status", "-z", *DIFF_OPTIONS, old, new, "--", most=_MOST_NAMES)
    changes: list[ChangedFile] = []
    fields = iter(output.fields)
    for state in fields:
        name = next(fields, "")
        before = None
        if state[:1] in ("R", "C"):
            before, name = name, next(fields, "")
        if name:
            changes.append(ChangedFile(_STATES.get(state[:1], "changed"), name, before))
    return changes, not output.is_cut


def without_hidden(changes: Sequence[ChangedFile], paths: PathPolicy) -> list[ChangedFile]:
    """Those of which the agent may see all: what a file contained before it was renamed, too."""
    shown: list[ChangedFile] = []
    # Where a folder took the place of a file, the name of the file stands for all that is in the folder.
    above_hidden: set[str] = set()
    for change in changes:
        if all(may_be_read(name, paths) for name in change.names):
            shown.append(change)
        else:
            above_hidden.update(str(parent) for name in change.names for parent in PurePosixPath(name).parents)
    return [change for change in shown if above_hidden.isdisjoint(change.names)]


def may_be_read(name: str, paths: PathPolicy) -> bool:
    """Whether the agent may read a file of the workspace without asking."""
    try:
        return paths.resolve(str(paths.workspace / name)).read_risks == {"read"}
    except ToolFailed:
        return False
