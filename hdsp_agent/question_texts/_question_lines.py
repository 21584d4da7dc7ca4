"""A question in lines: each change as a diff, all code as it will run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from textwrap import indent
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from ..messages import CellCode, CellEdit, ClineSayTool
from ._unseen_characters import visible, visible_line

if TYPE_CHECKING:
    from ..messages import ClineMessage

__all__ = ["cell_lines", "question_lines", "question_title"]

_IN_TITLE: Final = ("tool", "path", "serverName", "toolName")
_BLANKS: Final = re.compile("[ \t\n]+")
_NOT_SHOWN: Final = frozenset(
    {*_IN_TITLE, "originalContent", "imageData", "diffStats", "isProtected", "cellEdits", "cells"}
)


def question_title(message: ClineMessage) -> str:
    """What is to be done, in a line."""
    if message.ask == "command":
        return f"runs: {visible_line(_BLANKS.sub(' ', message.text or '').strip(' '))}"
    tool = _parsed(message.text)
    named = [str(tool[name]) for name in _IN_TITLE if isinstance(tool.get(name), str)]
    return visible_line(" ".join(named)) or str(message.ask)


def question_lines(message: ClineMessage) -> Iterator[str]:
    """Everything a person needs to decide: what is shown is what is done, and nothing hides in it."""
    return (line for text in _question_texts(message) for line in visible(text).split("\n"))


def cell_lines(text: str | None) -> Iterator[str]:
    """The cells a question is about: each change as a diff, all code as it will run."""
    try:
        asked = ClineSayTool.model_validate_json(text or "")
    except ValidationError:
        return
    for edit in asked.cell_edits or ():
        yield f"{_change(edit)}:" if edit.diff else _change(edit)
        yield from _indented((edit.diff or "").split("\n")[2:])
    for cell in asked.cells or ():
        yield f"{_named(cell)}:"
        yield from _indented(cell.code.split("\n"))


def _question_texts(message: ClineMessage) -> Iterator[str]:
    tool = _parsed(message.text)
    if message.ask == "command" or not tool:
        yield message.text or ""
        return
    yield question_title(message)
    for name, value in tool.items():
        if name not in _NOT_SHOWN and value not in (None, "", False):
            # The line ends of another system are no news.
            text = value.replace("\r\n", "\n") if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield f"{name}: {text}" if "\n" not in text else f"{name}:\n" + indent(text, "  ", lambda _: True)
    if cells := "\n".join(cell_lines(message.text)):
        yield cells
    if message.is_protected:
        yield "(a protected file)"


def _parsed(text: str | None) -> dict[str, object]:
    try:
        value = json.loads(text or "")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _change(edit: CellEdit) -> str:
    cell = f"cell {edit.number}" if edit.number is not None else f"cell {edit.cell_id or ''}".rstrip()
    where = "" if edit.after is None else " at the top" if edit.after == 0 else f" behind cell {edit.after}"
    match edit.op:
        case "insert":
            return f"new {edit.cell_type or 'code'} cell{where}"
        case "changeType":
            return f"{cell} becomes {edit.cell_type}"
        case "clearOutputs":
            return f"clear the outputs of {cell}"
        case _:
            return f"{edit.op} {cell}{where}"


def _named(cell: CellCode) -> str:
    return "code" if cell.number is None else f"cell {cell.number}"


def _indented(lines: list[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)
