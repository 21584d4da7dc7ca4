"""What a mention of Git stands for, as a text for the model. Everything here blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...tools import PathPolicy
from ._changed_files import ChangedFile, between, status, without_hidden
from ._commits import commit_header, commit_named
from ._diff_text import differences, printable
from ._program import Git

__all__ = ["commit_text", "working_tree_text"]

_SECONDS: Final = 10.0
_MOST_LISTED: Final = 500
_MOST_LOOKED_AT: Final = 2_000


def working_tree_text(paths: PathPolicy) -> str:
    """What differs from the last commit in the workspace. Raises ToolFailed."""
    git = Git(paths.workspace, seconds=_SECONDS)
    head = git.commit("HEAD")
    changes, is_all = status(git)
    if not changes:
        return "Nothing differs from the last commit." if head else "There is no commit yet, and no file."
    since = "Changes since the last commit:" if head else "There is no commit yet. Files:"
    shown, listed = _listed(changes, paths, is_all=is_all)
    parts = [f"{since}\n{listed}"]
    if any(not change.is_tracked for change in shown):
        parts.append("[Of new files only the names are here. Read them with the tools if you need them.]")
    if head is not None:
        parts.append(differences(git, paths, shown, head, None))
    return "\n\n".join(part for part in parts if part)


def commit_text(paths: PathPolicy, given: str) -> str | None:
    """What a commit says and changes in the workspace; None if there is no such commit. Raises ToolFailed."""
    git = Git(paths.workspace, seconds=_SECONDS)
    found = commit_named(git, given)
    if found is None:
        return None
    header = commit_header(git, found)
    old = header.parents[0] if header.parents else _empty_tree(git)
    changes, is_all = between(git, old, found)
    merged = " (a merge, compared with its first parent)" if len(header.parents) > 1 else ""
    parts = [f"commit {found}{merged}\nAuthor: {header.author}\nDate: {header.date}", header.message]
    if changes:
        shown, listed = _listed(changes, paths, is_all=is_all)
        parts += [f"Changes in the workspace:\n{listed}", differences(git, paths, shown, old, found)]
    else:
        parts.append("It changes nothing in the workspace.")
    return "\n\n".join(part for part in parts if part)


def _empty_tree(git: Git) -> str:
    """What the very first commit is compared with; its name depends on the kind of hashes."""
    return git.read("hash-object", "-t", "tree", "--stdin", most=200).data.decode("ascii").strip()


def _listed(changes: Sequence[ChangedFile], paths: PathPolicy, *, is_all: bool) -> tuple[list[ChangedFile], str]:
    """The changes that the agent may see, and a list of them that says what it leaves out."""
    looked_at = changes[:_MOST_LOOKED_AT]
    shown = without_hidden(looked_at, paths)
    lines = [_line(change) for change in shown[:_MOST_LISTED]]
    more = len(shown[_MOST_LISTED:]) + len(changes) - len(looked_at)
    if more or not is_all:
        lines.append(f"[… {'at least ' * (not is_all)}{max(more, 1):,} more …]")
    hidden = len(looked_at) - len(shown)
    if hidden:
        lines.append(
            f"[{hidden:,} more not shown: hidden from you, outside the workspace, another person's, or may hold passwords]"
        )
    return shown, "\n".join(lines)


def _line(change: ChangedFile) -> str:
    was = f" (was {printable(change.old_name)})" if change.old_name is not None else ""
    return f"{change.state}: {printable(change.name)}{was}"
