"""The examples as a conversation that goes before the real one, and never changes: the model's process keeps it."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

from ...messages import ApiMessage, JsonObject
from ...tools.compound import EXAMPLES

__all__ = ["before", "length_of_examples"]

_OTHER_NOTEBOOK: Final = "This is another notebook."
"""Begins the first real message, so that the examples' cells are not taken for its own."""

_HEARD: Final = "The person has the answer."


def before(messages: Sequence[ApiMessage], tools: Collection[str]) -> list[ApiMessage]:
    """The conversation behind the examples, which have only tools that the model has."""
    shown, told = _shown(frozenset(tools))
    if not shown or not messages or messages[0].role != "user" or isinstance(messages[0].content, str):
        return list(messages)
    first = messages[0].model_copy(update={"content": [*told, _text(_OTHER_NOTEBOOK), *messages[0].content]})
    return [*shown, first, *messages[1:]]


def length_of_examples(tools: Collection[str]) -> int:
    """How many characters they take."""
    return sum(len(json.dumps(message.content)) for message in _shown(frozenset(tools))[0])


@lru_cache(maxsize=8)
def _shown(tools: frozenset[str]) -> tuple[tuple[ApiMessage, ...], tuple[JsonObject, ...]]:
    """The messages, and what came of the last call."""
    made: list[ApiMessage] = []
    told: tuple[JsonObject, ...] = ()
    for at, example in enumerate(EXAMPLES):
        if "answer" not in tools or (example.call is not None and example.call[0] not in tools):
            continue
        made.append(_message("user", *told, _text(example.words)))
        if example.call is not None:
            name, arguments = example.call
            made += [
                _message("assistant", {"type": "tool_use", "id": f"did{at}", "name": name, "input": arguments}),
                _message("user", {"type": "tool_result", "tool_use_id": f"did{at}", "content": example.result}),
            ]
        made.append(
            _message(
                "assistant",
                {"type": "tool_use", "id": f"told{at}", "name": "answer", "input": {"text": example.answer}},
            )
        )
        told = ({"type": "tool_result", "tool_use_id": f"told{at}", "content": _HEARD},)
    return tuple(made), told


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _message(role: str, *blocks: JsonObject) -> ApiMessage:
    return ApiMessage.model_validate({"role": role, "content": [*blocks]})
