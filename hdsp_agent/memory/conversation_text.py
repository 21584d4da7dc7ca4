"""A finished conversation as a text to learn from: what was said, which tools were called, and what they gave."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..context import Budget, truncated
from ..messages import JsonObject, TaskId
from ..persistence import ApiRecord, TaskReader, TaskStore, replay, unrewound_api
from .pipeline_limits import (
    CONTEXT_WINDOW_PERCENT,
    DEFAULT_STAGE_ONE_ROLLOUT_TOKEN_LIMIT,
    EFFECTIVE_WINDOW_PERCENT,
)

__all__ = [
    "EXTERNAL_TOOLS",
    "ConversationText",
    "conversation_text",
    "has_external_content",
    "read_conversation",
    "token_limit",
]

EXTERNAL_TOOLS: Final = frozenset(
    {"fetch_url", "use_mcp_tool", "access_mcp_resource", "search_mcp_tools", "list_mcp_resources"}
)
"""Tools whose results are strangers' words. What an older conversation read is told by the names of the tools it called."""
_MCP_PREFIXES: Final = ("mcp--", "mcp_")

_LONGEST_RESULT: Final = Budget("tokens", 4_000)
_LONGEST_ARGUMENTS: Final = Budget("tokens", 1_000)
_ENVIRONMENT: Final = re.compile(r"<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL)
_SPOKEN: Final = ("<user_message>", "</user_message>")
_RESUMPTION: Final = "[TASK RESUMPTION]"


@dataclass(frozen=True)
class ConversationText:
    """What a conversation says, and whether strangers' words may be among it."""

    text: str
    has_external_content: bool


async def read_conversation(store: TaskStore, task_id: TaskId) -> ConversationText:
    """The whole of a conversation from its logs, without what was taken back. Raises UnknownTask, StorageUnavailable."""
    reader = await store.view(task_id)
    marks = [mark async for mark in reader.marks.iterate()]
    # A condensed conversation is read as it was said: what was left out of a summary may be what is worth knowing.
    records = [record async for record in reader.api.iterate()]
    text = await asyncio.to_thread(lambda: conversation_text(unrewound_api(records, replay(marks))))
    return ConversationText(text, await has_external_content(reader))


def conversation_text(records: Iterable[ApiRecord]) -> str:
    """The records as text: nothing of the system prompt, of thoughts, of summaries and of the surroundings."""
    return "\n\n".join(part for record in records for part in _parts(record))


def token_limit(context_window: int | None) -> int:
    """How much of a conversation a model with this window is given."""
    if context_window is None:
        return DEFAULT_STAGE_ONE_ROLLOUT_TOKEN_LIMIT
    return context_window * EFFECTIVE_WINDOW_PERCENT // 100 * CONTEXT_WINDOW_PERCENT // 100


async def has_external_content(reader: TaskReader) -> bool:
    """Whether strangers' words may be in a conversation. Raises StorageUnavailable."""
    state = await reader.read_state()
    if state.has_external_content or reader.metadata.task_key.task_source == "import":
        return True
    return any([_reads_external(record.tool_name) async for record in reader.tools.iterate()])


def _reads_external(tool: str) -> bool:
    return tool in EXTERNAL_TOOLS or tool.startswith(_MCP_PREFIXES)


def _parts(record: ApiRecord) -> Iterator[str]:
    if record.role == "system" or record.is_summary or record.is_truncation_marker or record.type == "reasoning":
        return
    blocks: Sequence[JsonObject]
    blocks = [{"type": "text", "text": record.content}] if isinstance(record.content, str) else record.content
    speaker = "assistant" if record.role == "assistant" else "tool" if record.role == "tool" else "user"
    when = record.timestamp[:10]
    for block in blocks:
        match block.get("type"):
            case "text":
                text = _said(str(block.get("text", "")))
                if text:
                    yield f"[{speaker}, {when}]\n{text}"
            case "tool_use":
                arguments = json.dumps(block.get("input"), ensure_ascii=False)
                yield f"[assistant calls {block.get('name')}]\n{truncated(arguments, _LONGEST_ARGUMENTS)}"
            case "tool_result":
                outcome = "tool error" if block.get("is_error") else "tool result"
                yield f"[{outcome}]\n{truncated(_result(block.get('content')), _LONGEST_RESULT)}"
            case "image":
                yield f"[{speaker} shows a picture]"
            case _:
                pass


def _said(text: str) -> str:
    text = _ENVIRONMENT.sub("", text).strip()
    if text.startswith(_RESUMPTION):
        return ""
    begin, end = _SPOKEN
    return text[len(begin) : -len(end)].strip() if text.startswith(begin) and text.endswith(end) else text


def _result(content: object) -> str:
    if isinstance(content, str):
        return _said(content)
    if not isinstance(content, list):
        return ""
    texts = [str(part.get("text", "")) if part.get("type") == "text" else f"[{part.get('type')}]" for part in content]
    return _said("\n".join(texts))
