"""A conversation as a notebook: what was said as Markdown cells, code the agent ran as code cells with what it gave."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from ...messages import JsonObject, words_of
from .._task_reader import TaskReader
from ._export_markdown import fenced
from ._export_parts import history_item_of, shown_ui, unrewound, view_of, without_frames
from ._import_images import with_images

__all__ = ["render_notebook"]

_RUNS_CODE: Final = re.compile(r"cell|python|notebook|kernel|ipython|execute_code|run_code", re.IGNORECASE)
_CODE_FIELDS: Final = ("code", "source", "cell_source", "new_source")
_ANSWER_FIELDS: Final = ("result", "question", "response", "text")
_ANSWER_TOOLS: Final = frozenset({"attempt_completion", "ask_followup_question", "plan_mode_respond", "answer"})
_COMMAND_TOOLS: Final = frozenset({"execute_command", "run_command", "bash"})
_TITLE_CHARACTERS: Final = 4_000


@dataclass
class _Cell:
    """A cell on its way; a code cell waits for the outputs of its call."""

    source: str
    is_code: bool = False
    call: str | None = None
    outputs: list[JsonObject] = field(default_factory=list)

    def wire(self, number: int) -> JsonObject:
        """The cell as the file has it."""
        cell: JsonObject = {
            "cell_type": "code" if self.is_code else "markdown",
            "id": f"cell-{number}",
            "metadata": {},
            "source": self.source,
        }
        if self.is_code:
            cell.update(execution_count=None, outputs=[*self.outputs])
        return cell


async def render_notebook(reader: TaskReader) -> AsyncIterator[bytes]:
    """The notebook, nbformat 4.5, a cell after the other."""
    item = await history_item_of(reader)
    title = " ".join((item.title or item.task or item.id).split())[:_TITLE_CHARACTERS]
    yield b'{\n "cells": ['
    number, separator = 0, "\n"
    async for cell in _cells(reader, title):
        number += 1
        yield f"{separator}{json.dumps(cell.wire(number), ensure_ascii=False)}".encode("utf-8", "replace")
        separator = ",\n"
    metadata: JsonObject = {
        "hdsp_agent": {"version": 1, "task_id": item.id},
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    yield f'\n ],\n "metadata": {json.dumps(metadata)},\n "nbformat": 4,\n "nbformat_minor": 5\n}}\n'.encode()


async def _cells(reader: TaskReader, title: str) -> AsyncIterator[_Cell]:
    yield _Cell(f"# {title}")
    view = await view_of(reader)
    waiting: list[_Cell] = []
    found = False
    async for record in unrewound(reader, view):
        found = True
        content = record.content
        blocks: list[JsonObject] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        blocks = await with_images(reader, blocks)
        if record.role == "assistant":
            for cell in waiting:
                yield cell
            waiting = list(_of_answer(blocks))
            continue
        said = _of_person(blocks, waiting, is_tool=record.role == "tool")
        for cell in waiting:
            yield cell
        waiting = []
        for cell in said:
            yield cell
    for cell in waiting:
        yield cell
    if found:
        return
    async for message in shown_ui(reader, view):
        if message.say in ("text", "user_feedback", "completion_result") and (text := words_of(message)):
            yield _Cell(text)


def _of_answer(blocks: list[JsonObject]) -> Iterator[_Cell]:
    """What the model said, and the code it had run."""
    for block in blocks:
        text = block.get("text")
        if block.get("type") == "text" and isinstance(text, str) and text.strip():
            yield _Cell(text.strip())
        elif block.get("type") == "tool_use":
            yield _of_call(block)


def _of_call(block: JsonObject) -> _Cell:
    name, call = str(block.get("name")), block.get("id")
    given = block.get("input")
    fields = given if isinstance(given, dict) else {}
    code = _text_of(fields, _CODE_FIELDS)
    if code is not None and _RUNS_CODE.search(name):
        return _Cell(code, is_code=True, call=call if isinstance(call, str) else None)
    if name in _ANSWER_TOOLS and (answer := _text_of(fields, _ANSWER_FIELDS)) is not None:
        return _Cell(answer)
    command = fields.get("command")
    if name in _COMMAND_TOOLS and isinstance(command, str):
        return _Cell(f"**Command**\n\n{fenced(command, 'sh')}")
    shown = json.dumps(fields, ensure_ascii=False, indent=1)
    return _Cell(f"**{name}**\n\n{fenced(shown, 'json')}")


def _of_person(blocks: list[JsonObject], waiting: list[_Cell], *, is_tool: bool) -> list[_Cell]:
    """What the person said; results of tools go to the cells that wait for them."""
    said: list[_Cell] = []
    calls = {cell.call: cell for cell in waiting if cell.call is not None}
    for block in blocks:
        text = block.get("text")
        if block.get("type") == "tool_result":
            call = block.get("tool_use_id")
            cell = calls.get(call) if isinstance(call, str) else None
            if cell is not None:
                cell.outputs += _outputs(block.get("content"), is_error=block.get("is_error") is True)
        elif block.get("type") == "text" and isinstance(text, str) and not is_tool:
            shown = without_frames(text)
            if shown:
                quoted = "\n".join(f"> {line}" for line in shown.splitlines())
                said.append(_Cell(f"**You**\n\n{quoted}"))
    return said


def _outputs(content: JsonValue, *, is_error: bool) -> Iterator[JsonObject]:
    parts: list[JsonValue] = content if isinstance(content, list) else [content]
    for part in parts:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str) and text:
            yield {"output_type": "stream", "name": "stderr" if is_error else "stdout", "text": text}
        elif isinstance(part, dict) and part.get("type") == "image" and isinstance(source := part.get("source"), dict):
            media, data = source.get("media_type"), source.get("data")
            if isinstance(media, str) and isinstance(data, str):
                yield {"output_type": "display_data", "data": {media: data}, "metadata": {}}


def _text_of(fields: JsonObject, names: tuple[str, ...]) -> str | None:
    texts = (fields.get(name) for name in names)
    return next((text for text in texts if isinstance(text, str) and text), None)
