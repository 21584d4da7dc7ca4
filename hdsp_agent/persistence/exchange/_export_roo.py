"""A task in the layout of Roo Code: a folder for its ``tasks/``, which Roo Code, Kilo Code and Cline can open."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final, get_args

from pydantic import JsonValue

from ...messages import ApiMessage, ClineAsk, ClineMessage, JsonObject, RooSay, attachments_text
from .._records import ApiRecord
from .._task_reader import TaskReader
from ..marks._replay import HistoryView
from ._export_parts import history_item_of, shown_ui, view_of, without_the_past
from ._import_images import with_images, with_linked_images
from ._roo_layout import RooHead, RooLine, roo_lines, roo_message

__all__ = ["OWN_KIND", "ROO_FILES", "roo_files"]

ROO_FILES: Final = (
    "api_conversation_history.json",
    "ui_messages.json",
    "history_item.json",
    "task_metadata.json",
)

OWN_KIND: Final = "hdspAgentKind"
"""Roo Code refuses kinds it does not know: such a message is plain text for it, and this field, which it drops, says what it is."""

_KNOWN: Final = frozenset({*get_args(ClineAsk), *get_args(RooSay)})
_AHEAD: Final = 100


async def roo_files(reader: TaskReader) -> Mapping[str, AsyncIterator[bytes]]:
    """The files of the folder and what is in each, piece by piece."""
    view = await view_of(reader)
    heads = [RooHead.of(record) async for record in reader.api.iterate()]
    lines = roo_lines(heads, view)
    del heads
    return {
        "api_conversation_history.json": _list(_api(reader, lines)),
        "ui_messages.json": _list(_ui(reader, view, lines)),
        "history_item.json": _object((await history_item_of(reader)).to_wire()),
        "task_metadata.json": _object({"files_in_context": _files(reader)}),
    }


async def _api(reader: TaskReader, lines: Sequence[RooLine]) -> AsyncIterator[JsonObject]:
    page: dict[int, ApiRecord] = {}
    for index, line in enumerate(lines):
        seq = line.head.seq
        if line.truncation is None and seq not in page:
            last = _run_end(lines, index)
            records = await reader.api.between(seq, last, limit=last - seq + 1, newest=False)
            page = {record.seq: record for record in records}
        record = page.get(seq)
        if line.truncation is not None or record is not None:
            yield await _wire(reader, roo_message(line, record))


def _run_end(lines: Sequence[RooLine], index: int) -> int:
    """The last of the records from here on that are read as one page."""
    first = last = lines[index].head.seq
    for line in lines[index + 1 : index + _AHEAD]:
        if line.truncation is None:
            if not last < line.head.seq < first + 2 * _AHEAD:
                break
            last = line.head.seq
    return last


async def _wire(reader: TaskReader, message: ApiMessage) -> JsonObject:
    wire = message.to_wire()
    if not isinstance(message.content, str):
        wire["content"] = [*await with_images(reader, message.content)]
    return wire


async def _ui(reader: TaskReader, view: HistoryView, lines: Sequence[RooLine]) -> AsyncIterator[JsonObject]:
    places = {line.head.seq: place for place, line in enumerate(lines) if line.truncation is None}
    seqs = sorted(places)
    async for shown in shown_ui(reader, view):
        message = without_the_past(shown)
        if message is None:
            continue
        wire = _known_kind(message)
        if message.conversation_history_index is not None:
            # The last message before it that is in the file, and where the file has that.
            before = bisect_right(seqs, message.conversation_history_index + 1)
            wire["conversationHistoryIndex"] = places[seqs[before - 1]] if before else -1
        if message.attachments:
            # Roo Code has no such field: there they stand in the text.
            del wire["attachments"]
            wire["text"] = "\n\n".join(filter(None, (message.text, attachments_text(message.attachments))))
        if message.images:
            wire["images"] = [*await with_linked_images(reader, message.images)]
        yield wire


def _known_kind(message: ClineMessage) -> JsonObject:
    kind = message.ask if message.type == "ask" else message.say
    wire = message.to_wire()
    if kind is None or kind in _KNOWN:
        return wire
    wire.pop("ask", None)
    return {**wire, "type": "say", "say": "text", OWN_KIND: kind}


def _files(reader: TaskReader) -> JsonValue:
    files = reader.metadata.config.get("files_in_context")
    return files if isinstance(files, list) else []


async def _list(objects: AsyncIterator[JsonObject]) -> AsyncIterator[bytes]:
    separator = "["
    async for value in objects:
        yield f"{separator}\n{json.dumps(value, ensure_ascii=False)}".encode("utf-8", "replace")
        separator = ","
    yield b"[]\n" if separator == "[" else b"\n]\n"


async def _object(value: JsonObject) -> AsyncIterator[bytes]:
    yield json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"
