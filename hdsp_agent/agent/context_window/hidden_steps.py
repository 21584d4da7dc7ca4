"""What may be hidden from the model when nothing else helps: its newest step, and never the person's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...context import COMPACT_USER_MESSAGE_MAX_TOKENS, Speaker, TokenCounter
from ...messages import ClineMessage, ContextTruncation, JsonObject
from ...persistence import ApiRecord
from ..conversation.conversation import Conversation, text_block

__all__ = ["REVERTED", "newest_step_to_hide", "revert", "words_to_spare"]

REVERTED: Final = "reverted-"
"""With this the ids of truncations begin that hide the newest step."""
_LEAST_LEFT: Final = 2
"""Messages that the model still sees."""
_LEAST_GAIN: Final = 200
"""Tokens. What is said in its place takes half of that."""
_NOTE: Final = (
    "[ERROR] Your last step ({calls}) was taken back: with its results the conversation is too long for the model. What "
    "its tools did is done, and only what they said is not shown any more. Do not repeat it as it was: take in less at a "
    "time, or go on without it. (This is an automated message, so do not answer it.)"
)
_NO_CALLS: Final = "no tools"


async def revert(conversation: Conversation) -> bool:
    """Hide the newest step of a conversation from its model; False if there is none to hide. It can be undone."""
    records = [record for record in await conversation.history.api_history() if record.role != "system"]
    hidden = newest_step_to_hide(records)
    if sum(record.token_count for record in hidden) < _LEAST_GAIN:
        return False
    before = sum(record.token_count for record in records)
    async with conversation.log.new_message() as event_ts:
        mark = await conversation.history.hide(
            [record.seq for record in hidden], truncation_id=f"{REVERTED}{event_ts}", event_ts=event_ts
        )
        conversation.history_changed()
        truncation = ContextTruncation(
            truncation_id=mark.truncation_id,
            messages_removed=mark.count,
            prev_context_tokens=before,
            new_context_tokens=before - sum(record.token_count for record in hidden),
            mark_id=mark.id,
            end="newest",
        )
        await conversation.create(
            ClineMessage(ts=event_ts, type="say", say="sliding_window_truncation", context_truncation=truncation)
        )
    calls = ", ".join(f"`{block.get('name')}`" for block in _blocks(hidden[0]) if block.get("type") == "tool_use")
    await conversation.add_api("user", [text_block(_NOTE.format(calls=calls or _NO_CALLS))])
    return True


def newest_step_to_hide(records: Sequence[ApiRecord]) -> list[ApiRecord]:
    """The last answer and the results behind it; nothing if the person spoke since, or if too little would be left.

    A summary, and what it stands for, is no step.
    """
    begin = next((index for index in range(len(records) - 1, -1, -1) if records[index].role == "assistant"), None)
    if begin is None or any(record.is_summary for record in records[begin:]):
        return []
    messages = [record.message() for record in records]
    speaker = Speaker(messages)
    results = [index for index in range(begin + 1, len(records)) if _is_results(records[index])]
    if len(records) - 1 - len(results) < _LEAST_LEFT or any(
        speaker.words(message) for message in messages[begin + 1 :]
    ):
        return []
    return [records[index] for index in (begin, *results)]


def words_to_spare(records: Sequence[ApiRecord], counter: TokenCounter) -> set[int]:
    """The records with what the person said, the newest 20 000 tokens of it, and the calls that words are in answer to."""
    messages = [record.message() for record in records]
    speaker = Speaker(messages)
    spared: set[int] = set()
    left = COMPACT_USER_MESSAGE_MAX_TOKENS
    for index in range(len(records) - 1, -1, -1):
        words = speaker.words(messages[index])
        left -= counter.text(words)
        if left < 0:
            break
        if words:
            spared.add(records[index].seq)
            if _is_results(records[index]):
                asked = (record.seq for record in reversed(records[:index]) if record.role == "assistant")
                spared.add(next(asked, 0))
    return spared


def _is_results(record: ApiRecord) -> bool:
    blocks = _blocks(record)
    return bool(blocks) and all(block.get("type") == "tool_result" for block in blocks)


def _blocks(record: ApiRecord) -> list[JsonObject]:
    return [] if isinstance(record.content, str) else record.content
