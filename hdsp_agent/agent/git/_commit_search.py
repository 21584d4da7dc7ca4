"""Finding commits while a person types. Everything here blocks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...messages import GitCommit
from ._commits import LOG_OPTIONS, commit_named
from ._program import Git

__all__ = ["search_commits"]

_SECONDS: Final = 5.0
_MOST_FOUND: Final = 10
_MOST_SEARCHED: Final = 5_000
_LARGEST_LOG: Final = 2_000_000


def search_commits(folder: Path, query: str) -> list[GitCommit]:
    """Commits by the beginning of their hash or words of their subject, the newest first. Raises ToolFailed."""
    git = Git(folder, seconds=_SECONDS)
    if git.commit("HEAD") is None:
        return []
    wanted = query.strip().lstrip("@").casefold()
    found: list[GitCommit] = []
    for commit in _newest(git, "HEAD", _MOST_SEARCHED if wanted else _MOST_FOUND):
        if commit.hash.startswith(wanted) or wanted in commit.subject.casefold():
            found.append(commit)
            if len(found) == _MOST_FOUND:
                break
    if not found and (named := commit_named(git, wanted)) is not None:
        # An old one, or one of another branch.
        found += _newest(git, named, 1)
    return found


def _newest(git: Git, revision: str, most: int) -> Iterator[GitCommit]:
    output = git.read(
        "log", *LOG_OPTIONS, f"--max-count={most}", "--date=short", "--format=%H%x1f%h%x1f%an%x1f%ad%x1f%s", revision, "--", most=_LARGEST_LOG
    )  # fmt: skip
    for row in output.data.decode("utf-8", "replace").split("\0"):
        parts = row.split("\x1f", 4)
        if len(parts) == 5:
            hash_, short, author, date, subject = parts
            yield GitCommit(hash=hash_, short_hash=short, subject=subject, author=author, date=date)
