"""Bounding what one tool says, once, when it is recorded: the whole of it is kept beside the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...context import Budget, TokenCounter, room_for_output, truncated_items
from ...messages import JsonObject
from ..conversation.conversation import Conversation, text_block

__all__ = ["LEAST_LOOKED_AT", "fitted"]

LEAST_LOOKED_AT: Final = 4_000
"""Tokens; there is always room for less."""
_UNKNOWN_FREE: Final = 200_000
_WHOLE: Final = "[Its middle is left out: read_command_output with artifact_id {artifact} has all of it.]"


async def fitted(
    blocks: Sequence[JsonObject], free: int | None, conversation: Conversation, counter: TokenCounter
) -> list[JsonObject] | None:
    """The blocks of a result in half of what is ``free``, 50 000 tokens at most; None if they fit as they are."""
    room = room_for_output(_UNKNOWN_FREE if free is None else free)
    budget = Budget("tokens", max(LEAST_LOOKED_AT, room.amount))
    texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
    if counter.blocks([text_block(text) for text in texts]) <= budget.amount:
        return None
    whole = await conversation.mask("\n".join(texts))
    artifact = await conversation.log.put_artifact(whole.encode())
    masked = [await conversation.mask_block(block) for block in blocks]
    return [*truncated_items(masked, budget), text_block(_WHOLE.format(artifact=artifact))]
