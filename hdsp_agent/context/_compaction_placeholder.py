"""What stands for a conversation that its provider condensed: for people, and for models that cannot read the provider's form.

No model takes part in it: the steps that were taken, the last words of the model, and what an earlier summary says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pydantic import JsonValue

from ..messages import ApiMessage, JsonObject
from ._content_blocks import content_blocks, string_of
from ._handover import SUMMARY_PREFIX
from ._truncation import Budget, truncated
from ._user_messages import is_hand_over

__all__ = ["compaction_placeholder"]

_NOTE: Final = (
    "The provider of the model keeps what was said and done before in a form that only its own model reads. Apart from "
    "that, this is what is known of it."
)
_STEPS: Final = "The newest calls of tools, in their order:"
_SAID: Final = "What the model said last:"
_MOST_STEPS: Final = 40
_LONGEST_STEP: Final = 160
_LAST_WORDS: Final = Budget("tokens", 500)
_STEP: Final = "- "
_QUOTE: Final = "> "


def compaction_placeholder(messages: Sequence[ApiMessage]) -> str:
    """A summary of the messages. What an earlier one of this kind lists is taken over, so that it does not grow."""
    steps: list[str] = []
    earlier, said = "", ""
    for message in messages:
        if is_hand_over(message):
            earlier, listed = _without_lists("\n".join(_texts(message)).removeprefix(SUMMARY_PREFIX))
            steps += listed
        elif message.role == "assistant":
            said = "\n".join(_texts(message)).strip() or said
            steps += [_step(block) for block in content_blocks(message) if block.get("type") == "tool_use"]
    lines = [earlier.strip("\n"), "## Work Completed", _NOTE]
    if steps:
        lines += [_STEPS, *steps[-_MOST_STEPS:]]
    if said:
        # A mark before each line, so that none of it reads as a heading of ours.
        lines += [_SAID, *(f"{_QUOTE}{line}" for line in truncated(said, _LAST_WORDS).split("\n"))]
    return "\n".join(line for line in lines if line)


def _without_lists(text: str) -> tuple[str, list[str]]:
    """A summary without what an earlier call put into it, and the steps among that."""
    kept: list[str] = []
    steps: list[str] = []
    inside = ""
    for line in text.split("\n"):
        if line in (_NOTE, _STEPS, _SAID):
            inside = line
        elif inside == _STEPS and line.startswith(_STEP):
            steps.append(line)
        elif inside == _SAID and line.startswith(_QUOTE):
            continue
        else:
            inside = ""
            kept.append(line)
    return "\n".join(kept), steps


def _step(block: JsonObject) -> str:
    arguments = block.get("input")
    words = " ".join(_scalars(arguments if isinstance(arguments, dict) else {})).split()
    line = " ".join([f"{_STEP}`{string_of(block, 'name')}`", *words])
    return line if len(line) <= _LONGEST_STEP else f"{line[: _LONGEST_STEP - 1]}…"


def _scalars(arguments: JsonObject) -> Iterator[str]:
    for value in arguments.values():
        yield from _scalar(value)


def _scalar(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            # No more is shown of it anyway.
            yield value[:_LONGEST_STEP]
        case bool() | int() | float():
            yield str(value)
        case list():
            for inner in value[:5]:
                yield from _scalar(inner)


def _texts(message: ApiMessage) -> list[str]:
    return [string_of(block, "text") for block in content_blocks(message) if block.get("type") == "text"]
