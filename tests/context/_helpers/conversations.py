"""Building conversations."""

from __future__ import annotations

from collections.abc import Iterable

from hdsp_agent.context import SentHistory
from hdsp_agent.messages import ApiMessage, JsonObject
from hdsp_agent.providers import ToolSpec


def text(words: str) -> JsonObject:
    """A text block."""
    return {"type": "text", "text": words}


def call(id: str, name: str = "read_file", **arguments: object) -> JsonObject:
    """A call of a tool."""
    return {"type": "tool_use", "id": id, "name": name, "input": {**arguments}}  # type: ignore[dict-item]  # JSON by how it is used


def result(id: str, content: str | list[JsonObject] = "done", *, is_error: bool = False) -> JsonObject:
    """A tool's result."""
    block: JsonObject = {
        "type": "tool_result",
        "tool_use_id": id,
        "content": [*content] if isinstance(content, list) else content,
    }
    return {**block, "is_error": True} if is_error else block


def image(data: str = "AAAA") -> JsonObject:
    """An image block."""
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def user(*blocks: JsonObject | str, ts: int | None = None) -> ApiMessage:
    """A message in the person's place."""
    return ApiMessage(role="user", content=[text(each) if isinstance(each, str) else each for each in blocks], ts=ts)


def said(words: str, ts: int | None = None) -> ApiMessage:
    """What the person says, as the agent words it."""
    return user(f"<user_message>\n{words}\n</user_message>", ts=ts)


def answer(*blocks: JsonObject | str, ts: int | None = None) -> ApiMessage:
    """An answer of the model."""
    return ApiMessage(
        role="assistant", content=[text(each) if isinstance(each, str) else each for each in blocks], ts=ts
    )


def hand_over_message(words: str) -> ApiMessage:
    """The message that stands for what was condensed."""
    return ApiMessage(role="user", content=[text(words)], is_summary=True)


def normalized(messages: Iterable[ApiMessage], *, images: bool = True) -> list[ApiMessage]:
    """The messages as they can be sent."""
    history = SentHistory(images=images)
    for message in messages:
        history.add(message)
    return list(history.messages)


TOOL = ToolSpec("read_file", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
