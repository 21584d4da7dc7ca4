"""A short conversation that shows a small model what is expected: it copies forms better than it follows rules."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

from ...messages import ApiMessage, JsonObject

__all__ = ["before", "length_of_examples"]

_OTHER_NOTEBOOK: Final = "This is another notebook."
"""Begins the first real message, so that the examples' cells are not taken for its own."""

_PLOT: Final = "import numpy as np\nimport matplotlib.pyplot as plt\n\nx = np.linspace(-3, 3, 200)\nplt.plot(x, x ** 2)\nplt.show()"
_HEARD: Final = "The person has the answer."
_EXAMPLES: Final[tuple[tuple[str, tuple[str, JsonObject], str, str], ...]] = (
    (
        "Cell 1 (failed):\ntotal = sum(score)\nprint(total)\nOutput: NameError: name 'score' is not defined\n"
        + "Variables:\nscores: list of length 3 = [88, 97, 91]\nPerson: Fix cell 1.",
        ("edit_cell", {"cell": 1, "code": "total = sum(scores)\nprint(total)"}),
        "Cell 1 ran. Output:\n276",
        "Cell 1 works now and prints 276.",
    ),
    (
        "Person: Draw y = x squared from -3 to 3.",
        ("add_cell", {"code": _PLOT}),
        "Cell 2 ran. Output:\n[picture]",
        "Cell 2 shows the curve of x squared.",
    ),
    (
        "Person: What is the largest value in scores?",
        ("add_cell", {"code": "max(scores)"}),
        "Cell 3 ran. Output:\n97",
        "The largest value in scores is 97.",
    ),
)


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
    for at, (words, (name, arguments), result, answer) in enumerate(_EXAMPLES):
        if name not in tools:
            continue
        made += [
            _message("user", *told, _text(words)),
            _message("assistant", {"type": "tool_use", "id": f"did{at}", "name": name, "input": arguments}),
            _message("user", {"type": "tool_result", "tool_use_id": f"did{at}", "content": result}),
            _message("assistant", {"type": "tool_use", "id": f"told{at}", "name": "answer", "input": {"text": answer}}),
        ]
        told = ({"type": "tool_result", "tool_use_id": f"told{at}", "content": _HEARD},)
    return tuple(made), told


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _message(role: str, *blocks: JsonObject) -> ApiMessage:
    return ApiMessage.model_validate({"role": role, "content": [*blocks]})
