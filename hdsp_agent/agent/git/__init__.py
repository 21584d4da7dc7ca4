"""What Git knows of a workspace: what differs from the last commit, commits, and finding them. It never runs a program of the folder's own."""

from __future__ import annotations

from ._changed_files import ChangedFile, may_be_read, status
from ._commit_search import search_commits
from ._mention_text import commit_text, working_tree_text
from ._program import Git, NoRepository

__all__ = [
    "ChangedFile",
    "Git",
    "NoRepository",
    "commit_text",
    "may_be_read",
    "search_commits",
    "status",
    "working_tree_text",
]
