"""What Git knows of a workspace: what differs from the last commit, commits, and finding them. It never runs a program of the folder's own."""

from __future__ import annotations

from ._changes import Change, status
from ._messages import commit_text, working_tree_text
from ._program import Git, NoRepository
from ._search import search_commits

__all__ = ["Change", "Git", "NoRepository", "commit_text", "search_commits", "status", "working_tree_text"]
