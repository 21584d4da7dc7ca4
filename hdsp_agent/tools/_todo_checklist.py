"""A plan as a Markdown checklist, and back."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from ..messages import TodoItem, TodoStatus
from ._tool_failed import ToolFailed

__all__ = ["format_todos", "parse_todos"]

_ITEM: Final = re.compile(r"^(?:-\s*)?\[\s*([ xX\-~])\s*\]\s+(.+)$")
_STATUS: Final[dict[str, TodoStatus]] = {"x": "completed", "X": "completed", "-": "in_progress", "~": "in_progress"}
_MARK: Final[dict[TodoStatus, str]] = {"completed": "x", "in_progress": "-", "pending": " "}
_MOST: Final = 200


def parse_todos(markdown: str) -> list[TodoItem]:
    """The items of a checklist. Raises ToolFailed that says which line is none."""
    items: list[TodoItem] = []
    for number, line in enumerate(markdown.splitlines(), 1):
        if not line.strip():
            continue
        found = _ITEM.match(line.strip())
        if found is None:
            raise ToolFailed(
                f"Line {number} of the checklist, {line.strip()[:100]!r}, is no item. Write `[ ] to do`, `[-] in progress` or "
                "`[x] done`, one item a line."
            )
        status = _STATUS.get(found[1], "pending")
        content = found[2].strip()
        digest = hashlib.md5(f"{content}{status}".encode(), usedforsecurity=False).hexdigest()
        items.append(TodoItem(id=digest, content=content, status=status))
    if len(items) > _MOST:
        raise ToolFailed(f"A plan of {len(items)} items is too long; {_MOST} are the most. Put related steps together.")
    return items


def format_todos(todos: Sequence[TodoItem]) -> str:
    """The checklist of these items."""
    return "\n".join(f"[{_MARK[item.status]}] {item.content}" for item in todos)
