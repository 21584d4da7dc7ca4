"""What the person said, apart from what the machinery said in their place, and which of it is kept word for word."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from ..messages import ApiMessage, JsonObject
from ._content_blocks import content_blocks, result_text, string_of
from ._handover import SUMMARY_PREFIX, parsed_hand_over
from ._token_estimate import TokenCounter
from ._truncation import Budget, cut, truncated

__all__ = ["COMPACT_USER_MESSAGE_MAX_TOKENS", "KeptWords", "Speaker", "kept_words"]

COMPACT_USER_MESSAGE_MAX_TOKENS: Final = 20_000

# Ours, and the tags of Roo Code, whose tasks can be imported.
_TAGGED: Final = re.compile(r"<(user_message|task|feedback|answer)>\s*(.*?)\s*</\1>", re.DOTALL)
_WHOLE: Final = re.compile(r"\s*<(user_message|task|feedback|answer)>\s*(.*?)\s*</\1>\s*", re.DOTALL)
_ASKING: Final = frozenset({"ask_followup_question", "attempt_completion"})
"""Tools whose result is what the person says. Whatever else a tool says is not theirs, though it be marked so."""
# How texts begin that stand in the person's place, here and in other products.
_MACHINERY: Final = re.compile(
    r"\s*(?:<environment_|<file_content|<turn_aborted|<system-reminder|<user_instructions|<skill|\[TASK RESUMPTION\]|\[ERROR\]"
    r"|# AGENTS\.md instructions)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class KeptWords:
    """What of the person's words is kept.

    ``whole`` are the indexes of messages that stay as they are. ``quoted`` are words that go into the hand-over, oldest
    first: those of messages with more in them than there is room for, the last of them cut in the middle.
    """

    whole: tuple[int, ...]
    quoted: tuple[str, ...]
    tokens: int


class Speaker:
    """Tells the person's words in one conversation.

    Where any of them are marked as such, only those are theirs; a conversation from elsewhere may have none marked, and
    there whatever is no result and has none of the usual wrappers counts.
    """

    def __init__(self, messages: Sequence[ApiMessage]) -> None:
        # Answers are known by their blocks' identity, which holds while the messages are there.
        self._messages = messages
        self._marked = any(_WHOLE.fullmatch(text) for message in messages for text in _texts(message))
        self._answers = _answers_to_questions(messages)

    def words(self, message: ApiMessage) -> str:
        """All the person says in a message, also in answer to a question of a tool or about an approval."""
        if message.role != "user" or is_hand_over(message) or message.is_truncation_marker:
            return ""
        if not self._marked:
            return "\n".join(text for text in _texts(message) if text.strip() and not _MACHINERY.match(text))
        return "\n".join(words for block in content_blocks(message) if (words := self._words_of(block)))

    def _words_of(self, block: JsonObject) -> str:
        if block.get("type") != "tool_result":
            found = _WHOLE.fullmatch(string_of(block, "text"))
            return found[2] if found else ""
        text = result_text(block)
        answered = _TAGGED.search(text) if id(block) in self._answers else None
        return answered[2] if answered else _feedback(text)


def is_hand_over(message: ApiMessage) -> bool:
    """Whether a message is an earlier summary."""
    return bool(message.is_summary) or next(_texts(message), "").startswith(f"{SUMMARY_PREFIX}\n")


def kept_words(
    messages: Sequence[ApiMessage],
    budget: int = COMPACT_USER_MESSAGE_MAX_TOKENS,
    *,
    counter: TokenCounter | None = None,
) -> KeptWords:
    """The newest of the person's messages that fit into so many tokens; the first that does not is cut, and ends it.

    Images and attached files count. Where only the words still fit, only they are kept. What an earlier hand-over quotes
    is passed on in its turn.
    """
    counts = counter or TokenCounter()
    speaker = Speaker(messages)
    whole: list[int] = []
    quoted: list[str] = []
    left = budget
    for index in range(len(messages) - 1, -1, -1):
        if left <= 0:
            break
        message = messages[index]
        if is_hand_over(message):
            for words in reversed(parsed_hand_over(_text(message)).requests):
                left -= _quote(words, left, quoted, counts) if left > 0 else 0
            continue
        words = speaker.words(message)
        if not words:
            continue
        blocks = [block for block in content_blocks(message) if block.get("type") != "tool_result"]
        cost = counts.blocks(blocks)
        if cost <= left and words in speaker.words(message.model_copy(update={"content": blocks})):
            whole.append(index)
            left -= cost
        else:
            left -= _quote(words, left, quoted, counts)
    return KeptWords(tuple(reversed(whole)), tuple(reversed(quoted)), budget - max(0, left))


def _quote(words: str, left: int, quoted: list[str], counter: TokenCounter) -> int:
    """Quote as much as fits; what that takes, which is all there is left when something is cut."""
    cost = counter.text(words)
    if cost <= left:
        quoted.append(words)
        return cost
    quoted.append(_cut_to(words, left, counter))
    return left


def _cut_to(words: str, most: int, counter: TokenCounter) -> str:
    """As much of the words' beginning and end as so many tokens take."""
    # What is left of a text may be in another script than what goes, so its share of the whole does not tell.
    fits, too_many = 1, most + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        shorter = cut(words, Budget("tokens", middle))
        if counter.text(shorter.text) <= most + counter.text(shorter.marker):
            fits = middle
        else:
            too_many = middle
    return truncated(words, Budget("tokens", fits))


def _answers_to_questions(messages: Sequence[ApiMessage]) -> set[int]:
    """The results, by object, of calls that asked the person; ids of calls may come again in another turn."""
    tools: dict[str, str] = {}
    answers: set[int] = set()
    for message in messages:
        for block in content_blocks(message):
            if block.get("type") == "tool_use":
                tools[string_of(block, "id")] = string_of(block, "name")
            elif block.get("type") == "tool_result" and tools.get(string_of(block, "tool_use_id")) in _ASKING:
                answers.add(id(block))
    return answers


def _texts(message: ApiMessage) -> Iterator[str]:
    return (string_of(block, "text") for block in content_blocks(message) if block.get("type") == "text")


def _text(message: ApiMessage) -> str:
    return "\n".join(_texts(message))


def _feedback(text: str) -> str:
    """What the person said when they allowed or denied an action: it is in the object the result begins with."""
    if not text.startswith('{"status"'):
        return ""
    try:
        value: JsonValue = json.JSONDecoder().raw_decode(text)[0]
    except ValueError:
        return ""
    said: JsonObject = value if isinstance(value, dict) else {}
    return string_of(said, "feedback")
