"""A task's plan as its conversation tells it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import JsonValue, ValidationError

from ...messages import ClineMessage, TodoItem
from ...tools import ToolFailed, parse_todos

__all__ = ["todos_of", "todos_text"]


def todos_text(todos: Sequence[TodoItem]) -> str:
    """The text of a message that carries the whole list."""
    return json.dumps({"tool": "updateTodoList", "todos": [todo.to_wire() for todo in todos]}, ensure_ascii=False)


def todos_of(message: ClineMessage) -> list[TodoItem] | None:
    """The list a message carries, if it carries one that counts: a change the model made, or one of the person."""
    carries = message.say == "user_edit_todos" or (message.ask == "tool" and not message.partial)
    if not carries or "updateTodoList" not in (message.text or ""):
        return None
    try:
        value: JsonValue = json.loads(message.text or "")
    except ValueError:
        return None
    if not isinstance(value, dict) or value.get("tool") != "updateTodoList":
        return None
    todos = value.get("todos")
    if isinstance(todos, list):
        try:
            return [TodoItem.model_validate(todo) for todo in todos]
        except ValidationError:
            return None
    content = value.get("content")
    try:
        return parse_todos(content) if isinstance(content, str) else None
    except ToolFailed:
        return None
