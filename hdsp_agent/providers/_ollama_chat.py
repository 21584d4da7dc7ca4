"""Ollama's own protocol, for the size of the window: its form of OpenAI's protocol has no field for that.

A request is made as for OpenAI's and translated here, and so is each line of the answer, so that all else is shared.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from ..messages import JsonObject
from ._safe_parse import items, mapping, text
from ._sdk_client import Post
from ._transport import EventStream

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["ollama_body", "ollama_chunk", "ollama_post"]

_OPTIONS: Final = {"temperature": "temperature", "max_tokens": "num_predict", "stop": "stop"}
_DATA: Final = ";base64,"
_LEVELS: Final = "gpt-oss"
"""The models that know more of thinking than on and off."""


def ollama_post(sdk: AsyncOpenAI, window: int) -> Post:
    """Sends a body of OpenAI's protocol in Ollama's, with so large a window, and reads the answer as OpenAI's."""
    from openai import AsyncStream

    class Lines(AsyncStream[object]):
        async def __stream__(self) -> AsyncIterator[object]:
            calls = 0
            async for line in self.response.aiter_lines():
                if line.strip():
                    chunk, calls = ollama_chunk(mapping(json.loads(line)), calls)
                    yield chunk

    async def post(body: JsonObject, headers: Mapping[str, str]) -> EventStream:
        path = str(sdk.base_url).rstrip("/").removesuffix("/v1") + "/api/chat"
        return await sdk.post(
            path, cast_to=object, body=ollama_body(body, window), options={"headers": headers}, stream=True,
            stream_cls=Lines,
        )  # fmt: skip

    return post


def ollama_body(body: JsonObject, window: int) -> JsonObject:
    """The body in Ollama's protocol."""
    options: JsonObject = {"num_ctx": window}
    options.update((own, body[name]) for name, own in _OPTIONS.items() if name in body)
    native: JsonObject = {
        "model": body["model"],
        "messages": [*_messages(items(body["messages"]))],
        "stream": True,
        "options": options,
    }
    if "tools" in body:
        native["tools"] = body["tools"]
    if schema := mapping(mapping(body.get("response_format")).get("json_schema")).get("schema"):
        native["format"] = _json(schema)
    effort = body.get("reasoning_effort")
    if isinstance(effort, str):
        native["think"] = False if effort == "none" else effort if _LEVELS in str(body["model"]) else True
    return native


def ollama_chunk(line: Mapping[str, object], calls: int) -> tuple[JsonObject, int]:
    """A line of the answer as a chunk of OpenAI's protocol, after so many calls; and how many there are with it."""
    if line.get("error"):
        return {"error": text(line.get("error")) or json.dumps(line["error"])}, calls
    message = mapping(line.get("message"))
    delta: JsonObject = {"content": text(message.get("content")), "reasoning": text(message.get("thinking"))}
    said = [mapping(call) for call in items(message.get("tool_calls"))]
    if said:
        delta["tool_calls"] = [
            {"index": number, "id": text(call.get("id")), "function": _json(call.get("function"))}
            for number, call in enumerate(said, calls)
        ]
    calls += len(said)
    if not line.get("done"):
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}, calls
    reason = "tool_calls" if calls else text(line.get("done_reason")) or "stop"
    counted: JsonObject = {"prompt_tokens": _json(line.get("prompt_eval_count")) or 0}
    counted["completion_tokens"] = _json(line.get("eval_count")) or 0
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}], "usage": counted}, calls


def _messages(messages: Sequence[object]) -> Iterator[JsonObject]:
    names: dict[str, str] = {}
    for each in messages:
        message = mapping(each)
        words, images = _content(message.get("content"))
        told: JsonObject = {"role": text(message.get("role")), "content": words}
        if images:
            told["images"] = [*images]
        thoughts = text(message.get("reasoning")) or text(message.get("reasoning_content"))
        if thoughts:
            told["thinking"] = thoughts
        calls: list[JsonValue] = []
        for call in map(mapping, items(message.get("tool_calls"))):
            function = mapping(call.get("function"))
            names[text(call.get("id"))] = text(function.get("name"))
            calls.append({"function": {"name": text(function.get("name")), "arguments": _arguments(function)}})
        if calls:
            told["tool_calls"] = calls
        if name := names.get(text(message.get("tool_call_id"))):
            told["tool_name"] = name
        yield told


def _content(content: object) -> tuple[str, list[str]]:
    """The words, and the pictures in base64."""
    if isinstance(content, str):
        return content, []
    parts = [mapping(part) for part in items(content)]
    urls = [text(mapping(part.get("image_url")).get("url")) for part in parts]
    words = [text(part.get("text")) for part in parts if part.get("type") == "text"]
    return "\n".join(words), [url.partition(_DATA)[2] for url in urls if _DATA in url]


def _arguments(function: Mapping[str, object]) -> JsonObject:
    try:
        value: object = json.loads(text(function.get("arguments")) or "{}")
    except ValueError:
        value = {}
    return value if isinstance(value, dict) else {}


def _json(value: object) -> JsonValue:
    """What came out of JSON, as such."""
    return value if isinstance(value, dict | list | str | int | float | bool) else None
