"""Which outputs of tools take the most room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...context import TokenCounter
from ...messages import ApiMessage

__all__ = ["MOST_CUT", "TRUNCATED", "LargestOutputs", "largest_outputs"]

TRUNCATED: Final = (
    "[TOOL RESULT TRUNCATED - Context limit exceeded. Original output was too large and has been truncated to recover "
    "the session. Please re-run this tool if you need the full output.]"
)
MOST_CUT: Final = 20
_LEAST_CHARACTERS: Final = 500


@dataclass(frozen=True)
class LargestOutputs:
    """What to send instead of them, by the ids of their calls, and the tokens that saves."""

    stubs: Mapping[str, str]
    gain: int


def largest_outputs(
    messages: Sequence[ApiMessage], wanted: int, counter: TokenCounter, *, most: int = MOST_CUT
) -> LargestOutputs:
    """The largest outputs, no more than ``most``, until so many tokens are saved."""
    sizes: list[tuple[int, str]] = []
    for message in messages:
        if message.role == "assistant" or isinstance(message.content, str):
            continue
        for block in message.content:
            if block.get("type") == "tool_result" and block.get("content") != TRUNCATED:
                tokens = counter.blocks([block])
                if tokens * 4 >= _LEAST_CHARACTERS:
                    sizes.append((tokens, str(block.get("tool_use_id"))))
    stubs: dict[str, str] = {}
    gain, stub = 0, counter.text(TRUNCATED)
    for tokens, call in sorted(sizes, reverse=True)[:most]:
        if gain >= wanted:
            break
        stubs[call] = TRUNCATED
        gain += max(0, tokens - stub)
    return LargestOutputs(stubs, gain)
