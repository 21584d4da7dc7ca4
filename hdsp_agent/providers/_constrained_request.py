"""Asking for one JSON object that is a tool call, for models that cannot be trusted to call tools by themselves.

The model's server makes any other answer impossible (``response_format``). Past calls and their results are plain
messages: templates of such models know no others.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pydantic import JsonValue

from ..messages import ApiMessage, JsonObject
from ._content_blocks import blocks_of, result_parts, text_of
from ._model import ModelRequest, ToolSpec

__all__ = ["CODE", "CODE_BEGINS", "CODE_ENDS", "TOOL", "answer_format", "as_plain_messages"]

TOOL: Final = "tool"
"""The property that names the tool. It comes first, so that the rest is written with the tool in mind."""

CODE: Final = "code"
"""The argument that stands below the object where the model's server can be told so."""
CODE_BEGINS: Final = "\n```python\n"
CODE_ENDS: Final = "\n```"

_KEPT: Final = frozenset(
    {"type", "enum", "const", "properties", "required", "items", "anyOf", "minimum", "maximum", "additionalProperties"}
)
_LONGEST_SPOILT: Final = 300


def answer_format(tools: Sequence[ToolSpec]) -> JsonObject:
    """The response format that lets the model call one of these tools, and do nothing else."""
    calls: list[JsonValue] = [_call_schema(tool) for tool in tools]
    schema: JsonValue = calls[0] if len(calls) == 1 else {"anyOf": calls}
    return {"type": "json_schema", "json_schema": {"name": "step", "schema": schema}}


def _call_schema(tool: ToolSpec) -> JsonObject:
    given = tool.parameters.get("properties")
    properties: JsonObject = {TOOL: {"const": tool.name}}
    for name, schema in given.items() if isinstance(given, dict) else ():
        properties[name] = _plain(schema)
    return {
        "type": "object",
        "properties": properties,
        # All of them: a grammar of what may be left out grows quickly.
        "required": [*properties],
        "additionalProperties": False,
    }


def _plain(schema: JsonValue) -> JsonValue:
    """Without what says nothing about the form, and limits so high that a grammar would burst."""
    if not isinstance(schema, dict):
        return schema
    plain: JsonObject = {}
    for key, value in schema.items():
        if key not in _KEPT:
            continue
        if key == "properties" and isinstance(value, dict):
            plain[key] = {name: _plain(each) for name, each in value.items()}
        elif key == "anyOf" and isinstance(value, list):
            plain[key] = [_plain(each) for each in value]
        else:
            plain[key] = _plain(value) if key == "items" else value
    return plain


def as_plain_messages(request: ModelRequest, *, code_below: bool) -> ModelRequest:
    """The request with calls and results as text, as the model writes them."""
    return replace(request, messages=[_as_text(message, code_below) for message in request.messages])


def _as_text(message: ApiMessage, code_below: bool) -> ApiMessage:
    parts: list[str] = []
    for block in blocks_of(message):
        match block.get("type"):
            case "text":
                parts.append(text_of(block))
            case "tool_use":
                parts.append(_written(block, code_below))
            case "tool_result":
                parts += [text_of(part) for part in result_parts(block) if part.get("type") == "text"]
            case "image":
                parts.append("[picture]")
    text = "\n\n".join(part for part in parts if part.strip())
    return message.model_copy(update={"content": [{"type": "text", "text": text}]})


def _written(block: JsonObject, code_below: bool) -> str:
    """A past call as the model wrote it."""
    given = block.get("input")
    arguments = given if isinstance(given, dict) else {}
    spoilt = arguments.get("invalid_arguments")
    if spoilt is not None:
        arguments = {"spoilt": str(spoilt)[:_LONGEST_SPOILT]}
    code = arguments.get(CODE) if code_below else None
    if isinstance(code, str):
        head = {name: value for name, value in arguments.items() if name != CODE}
        return json.dumps({TOOL: block.get("name"), **head}, ensure_ascii=False) + CODE_BEGINS + code + CODE_ENDS
    return json.dumps({TOOL: block.get("name"), **arguments}, ensure_ascii=False)
