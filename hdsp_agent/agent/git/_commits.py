"""Commits of the repository that a workspace is in. Everything here blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ._program import Git

__all__ = ["LOG_OPTIONS", "CommitHeader", "commit_header", "commit_named"]

_LARGEST_HEADER: Final = 20_000
_HASH: Final = re.compile(r"[0-9a-f]{7,64}")
# Short hashes have at least seven digits, whatever is set: as many as a mention needs.
LOG_OPTIONS: Final = ("--no-show-signature", "--no-color", "--no-notes", "--abbrev=7", "-z")


@dataclass(frozen=True)
class CommitHeader:
    """What a commit says of itself."""

    hash: str
    parents: tuple[str, ...]
    author: str
    date: str
    message: str


def commit_named(git: Git, given: str) -> str | None:
    """The whole hash of the commit whose hash begins so; None if there is none, or several. Raises ToolFailed."""
    wanted = given.lower()
    if not _HASH.fullmatch(wanted):
        return None
    found = git.commit(wanted)
    # A branch may be called like a hash.
    return found if found is not None and found.startswith(wanted) else None


def commit_header(git: Git, hash_: str) -> CommitHeader:
    """What a commit says of itself. Raises ToolFailed."""
    output = git.read(
        "log", *LOG_OPTIONS, "--max-count=1", "--date=iso-strict", "--format=%P%x1f%an <%ae>%x1f%ad%x1f%B", hash_, "--", most=_LARGEST_HEADER
    )  # fmt: skip
    text = output.data.decode("utf-8", "replace").rstrip("\0")
    parents, author, date, message = (*text.split("\x1f", 3), "", "", "")[:4]
    if output.is_cut:
        message = f"{message.rpartition(chr(10))[0]}\n[… the rest of the message is left out: it is too long …]"
    return CommitHeader(hash_, tuple(parents.split()), author, date, message.strip("\n"))
