"""A conversation to read: what a person saw of it, as Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, assert_never

from pydantic import ValidationError

from ...messages import (
    Attachment,
    CellExecuted,
    ClineMessage,
    CodebaseSearchResult,
    HistoryItem,
    SearchHit,
    ending_text,
)
from .._task_reader import TaskReader
from ._export_parts import history_item_of, shown_ui, view_of
from ._import_images import artifact_of_link

__all__ = ["OUTPUTS", "fenced", "is_silent", "render_markdown", "without_pictures"]

_TITLE_CHARACTERS: Final = 120
_TICKS: Final = re.compile(r"`{3,}")
_SILENT: Final = frozenset(
    {"api_req_started", "api_req_finished", "api_req_retried", "api_req_retry_delayed", "api_req_rate_limit_wait",
     "api_req_deleted", "checkpoint_saved", "kernel_status", "shell_integration_warning"}
)  # fmt: skip
_SILENT_ASKS: Final = frozenset({"resume_task", "resume_completed_task", "completion_result", "command_output"})
OUTPUTS: Final = frozenset({"command_output", "mcp_server_response", "browser_action_result", "codebase_search_result"})


async def render_markdown(reader: TaskReader) -> AsyncIterator[bytes]:
    """The conversation as a person saw it: a heading a turn, tools and their output in fenced blocks."""
    item = await history_item_of(reader)
    yield _head(item).encode("utf-8", "replace")
    speaker, is_first = "", True
    async for message in shown_ui(reader, await view_of(reader)):
        text = _said(message)
        if text:
            by = (
                "You"
                if message.say in ("user_feedback", "user_feedback_diff") or (is_first and message.say == "text")
                else "Agent"
            )
            heading = "" if by == speaker else f"## {by}\n\n*{_when(message.ts)}*\n\n"
            yield f"{heading}{text}\n\n".encode("utf-8", "replace")
            speaker, is_first = by, False


def fenced(text: str, language: str = "") -> str:
    """The text in a fence that nothing in it can close."""
    ticks = max((len(run) for run in _TICKS.findall(text)), default=2) + 1
    return f"{'`' * ticks}{language}\n{text.rstrip(chr(10))}\n{'`' * ticks}"


def _head(item: HistoryItem) -> str:
    title = " ".join((item.title or item.task).split())
    if len(title) > _TITLE_CHARACTERS:
        title = title[: _TITLE_CHARACTERS - 1] + "…"
    facts = [f"- Task: `{item.id}`", f"- Last activity: {_when(item.ts)}"]
    if item.workspace:
        facts.append(f"- Workspace: `{item.workspace}`")
    if item.mode:
        facts.append(f"- Mode: {item.mode}")
    facts.append(f"- Tokens: {item.tokens_in:,} in, {item.tokens_out:,} out")
    facts.append(f"- Cost: ${item.total_cost:.4f}")
    return f"# {title or item.id}\n\n" + "\n".join(facts) + "\n\n"


def without_pictures(message: ClineMessage) -> str:
    """What a message says; empty for one that says nothing."""
    return "" if is_silent(message) else _body(message, message.ask or message.say or "")


def _said(message: ClineMessage) -> str:
    """What a message shows; empty for one that shows nothing."""
    if is_silent(message):
        return ""
    parts = [without_pictures(message), *map(_attachment, message.attachments or ())]
    parts += map(_image, message.images or ())
    if message.ending is not None and message.text != (how := ending_text(message.ending)):
        parts.append(f"*{how}*")
    return "\n\n".join(part for part in parts if part)


def _attachment(attachment: Attachment) -> str:
    label = f"**{attachment.label or attachment.path}**"
    return label if attachment.content is None else f"{label}\n\n{fenced(attachment.content)}"


def is_silent(message: ClineMessage) -> bool:
    """Whether a message is none that a person reads."""
    return message.ask in _SILENT_ASKS if message.type == "ask" else message.say in _SILENT


def _truncation(message: ClineMessage) -> str:
    told = message.context_truncation
    if told is not None and told.cleared is not None:
        return "*Tool outputs were left out for the model.*"
    return "*Older messages were hidden from the model.*"


def _body(message: ClineMessage, kind: str) -> str:
    text = message.text or ""
    match message.type:
        case "ask" | "say" if kind in ("tool", "use_mcp_server", "browser_action", "mcp_server_request_started"):
            return _tool(text)
        case "ask" | "say" if kind == "command":
            return f"**Command**\n\n{fenced(text, 'sh')}" if text else ""
        case "ask" if kind == "followup":
            return _question(text)
        case "ask":
            return f"**{kind.replace('_', ' ').capitalize()}**\n\n{text}".rstrip()
        case "say" if kind in OUTPUTS:
            return _output(text, kind)
        case "say" if kind == "cell_executed":
            return _cell(text)
        case "say" if kind == "reasoning":
            thought = "\n".join(f"> {line}" for line in (text or message.reasoning or "").splitlines())
            return f"> *Thinking*\n>\n{thought}" if thought else ""
        case "say" if kind == "condense_context" and message.context_condense is not None:
            return f"*The conversation so far was summarized:*\n\n{message.context_condense.summary}".rstrip()
        case "say" if kind == "sliding_window_truncation":
            return _truncation(message)
        case "say" if "error" in kind:
            return f"**Error**\n\n{fenced(text)}" if text else ""
        case "say":
            return text
        case _:
            assert_never(message.type)


def _tool(text: str) -> str:
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        if isinstance(value, dict):
            name = value.get("tool") or value.get("toolName") or value.get("type") or "tool"
            where = value.get("path") or value.get("serverName") or ""
            body = value.get("diff") or value.get("content") or value.get("arguments") or _of_cells(value)
            head = f"**{name}**" + (f" `{where}`" if where else "")
            return f"{head}\n\n{fenced(str(body))}" if body else head
    return f"**Tool**\n\n{fenced(text)}" if text else ""


def _of_cells(tool: dict[str, object]) -> str:
    """What changes in cells, or the code that is run."""
    pieces: list[str] = []
    for name, key in (("cellEdits", "diff"), ("cells", "code")):
        listed = tool.get(name)
        for cell in listed if isinstance(listed, list) else ():
            if isinstance(cell, dict) and isinstance(piece := cell.get(key), str):
                pieces.append(piece)
    return "\n\n".join(pieces)


def _cell(text: str) -> str:
    """How a cell ran; what it printed is a message of its own."""
    try:
        ran = CellExecuted.model_validate_json(text)
    except ValidationError:
        return f"**Output**\n\n{fenced(text)}" if text.strip() else ""
    name = f"Cell {ran.number}" if ran.number is not None else "Code"
    count = f", [{ran.execution_count}]" if ran.execution_count is not None and ran.cell_id is not None else ""
    told = f"**{name}** `{ran.path}`: {ran.state}{count}"
    return f"{told}\n\n{fenced(ran.result)}" if ran.result else told


def _output(text: str, kind: str) -> str:
    """What came out of something; of a search, where it found something."""
    if kind == "codebase_search_result":
        with suppress(ValidationError):
            hits = CodebaseSearchResult.model_validate_json(text).content.results
            text = "\n\n".join(dict.fromkeys(map(_found, hits))) or "Nothing was found."
    return f"**Output**\n\n{fenced(text)}" if text.strip() else ""


def _found(hit: SearchHit) -> str:
    """What was found in files; of all else only where, for it is no part of this conversation."""
    match hit.kind:
        case None:
            return f"{hit.file_path}:\n{hit.code_chunk}"
        case "notebook":
            return f"Notebook {hit.path or hit.file_path}, cell {hit.place}"
        case "memory":
            return "Memory"
        case "conversation":
            # Its title is how it begins.
            return "Another conversation" if hit.ts is None else f"Another conversation, {_when(hit.ts)}"
        case _:
            assert_never(hit.kind)


def _question(text: str) -> str:
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        if isinstance(value, dict) and isinstance(question := value.get("question") or value.get("response"), str):
            options = value.get("suggest") or value.get("options") or []
            answers = [option.get("answer") if isinstance(option, dict) else option for option in options]
            return "\n".join([question, *(["", *(f"- {answer}" for answer in answers)] if answers else [])])
    return text


def _image(image: str) -> str:
    kept = artifact_of_link(image)
    if kept is not None:
        return f"*[image, {kept[1]}, artifact {kept[0][:12]}]*"
    return f"![image]({image})" if image.startswith("data:image/") else "*[image]*"


def _when(ts: int) -> str:
    try:
        return f"{datetime.fromtimestamp(ts / 1000, tz=UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return "unknown time"
