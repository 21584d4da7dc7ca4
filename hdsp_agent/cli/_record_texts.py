"""The records of a task's logs as text: a line for each, and all they say."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import JsonValue

from ..messages import ClineMessage, JsonObject, attachments_text
from ..persistence import (
    AnyMark,
    AnyRecord,
    ApiRecord,
    CondenseMark,
    RewindMark,
    SummaryRecord,
    ToolRecord,
    TruncateMark,
    UndoMark,
    parse_iso_time,
)
from ._amounts import count_text, time_text
from ._columns import one_line

__all__ = ["RecordText", "describe"]


@dataclass(frozen=True)
class RecordText:
    """``key`` and ``what`` begin both forms; ``short`` is the rest of the line, ``details`` and ``body`` the long form."""

    key: str
    what: str
    short: str
    details: str
    body: str


def describe(record: AnyRecord) -> RecordText:
    """What a record says."""
    if isinstance(record, ApiRecord):
        return _api(record)
    if isinstance(record, ClineMessage):
        return _ui(record)
    if isinstance(record, SummaryRecord):
        return _summary(record)
    if isinstance(record, ToolRecord):
        return _tool(record)
    return _mark(record)


def _api(record: ApiRecord) -> RecordText:
    body = _content(record.content)
    if record.reasoning_content:
        body = f"(thinks) {record.reasoning_content}\n{body}"
    elif record.text:
        body = f"(thinks) {record.text}\n{body}"
    if record.function_call:
        body = f"{body}\n(calls) {_json(record.function_call)}".lstrip()
    what = "summary" if record.is_summary else record.role
    tool = f"{record.tool_name} -> " if record.tool_name else ""
    details = f"{_time(record.timestamp)}, {count_text(record.token_count)} tokens"
    if record.tool_name:
        details = f"{record.tool_name}, {details}"
    return RecordText(str(record.seq), what, tool + one_line(body), details, body)


def _ui(message: ClineMessage) -> RecordText:
    kind = message.ask if message.type == "ask" else message.say
    parts = [message.text or ""]
    if message.reasoning:
        parts.insert(0, f"(thinks) {message.reasoning}")
    if message.attachments:
        parts.append(attachments_text(message.attachments))
    if message.images:
        parts.append(_images(len(message.images)))
    if message.context_condense is not None:
        parts.append(message.context_condense.summary)
    body = "\n".join(filter(None, parts))
    at = datetime.fromtimestamp(message.ts / 1000, tz=UTC) if 0 <= message.ts < 2**47 else None
    details = time_text(at) + (", unfinished" if message.partial else "")
    return RecordText(str(message.ts), f"{message.type} {kind}", one_line(body), details, body)


def _summary(record: SummaryRecord) -> RecordText:
    details = (
        f"{_time(record.created_at)}, {count_text(record.original_tokens)} -> {count_text(record.summary_tokens)} tokens "
        f"({record.compression_ratio:.1%})"
    )
    what = f"seq {record.start_seq}-{record.end_seq}"
    return RecordText(str(record.summary_id), what, one_line(record.summary), details, record.summary)


def _tool(record: ToolRecord) -> RecordText:
    outcome = "Success" if record.status == "success" else f"Error: {record.error or 'no reason given'}"
    result = record.result if isinstance(record.result, str) else _json(record.result)
    body = _json(record.arguments) + (f"\n{result}" if record.result is not None else "")
    if record.status == "error":
        body += f"\n{outcome}"
    details = f"{record.status}, {count_text(record.duration_ms)} ms, {_time(record.timestamp)}"
    return RecordText(
        str(record.seq), record.tool_name, f"{_json(record.arguments)} -> {one_line(outcome)}", details, body
    )


def _mark(mark: AnyMark) -> RecordText:
    if isinstance(mark, CondenseMark):
        says = f"the summary at seq {mark.summary_seq} stands for seq {_spans(mark.covers)}"
    elif isinstance(mark, TruncateMark):
        says = f"{mark.count} messages hidden from the model: seq {_spans(mark.hides)}"
    elif isinstance(mark, RewindMark):
        hidden = f", seq {_spans(mark.api_hides)} hidden" if mark.api_hides else ""
        says = f"back to ts {mark.target_ts}: messages from ts {mark.ui_from} on hidden{hidden}"
    elif isinstance(mark, UndoMark):
        says = f"undoes {mark.target}"
    else:
        says = "made by a newer version of this program; has no effect"
    at = datetime.fromtimestamp(mark.ts / 1000, tz=UTC) if mark.ts and 0 <= mark.ts < 2**47 else None
    return RecordText(mark.id or "?", mark.kind, says, time_text(at), says)


def _content(content: str | list[JsonObject]) -> str:
    return content if isinstance(content, str) else "\n".join(filter(None, map(_block, content)))


def _block(block: JsonValue) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image"}:
            return _images(1)
        case {"type": "tool_use", "name": name, "input": given}:
            return f"(calls) {name} {_json(given)}"
        case {"type": "tool_result", "content": str(text)}:
            return f"(result) {text}"
        case {"type": "tool_result", "content": [*blocks]}:
            return "(result) " + "\n".join(map(_block, blocks))
        case {"type": "thinking", "thinking": str(text)} | {"type": "reasoning", "text": str(text)}:
            return f"(thinks) {text}"
        case str():
            return block
        case _:
            return _json(block)


def _images(number: int) -> str:
    return "(an image)" if number == 1 else f"({number} images)"


def _spans(spans: list[tuple[int, int]]) -> str:
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def _time(text: str) -> str:
    return time_text(parse_iso_time(text))
