"""Histories as models would be sent them, kept for a while: whoever looks at one looks page by page."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...context import SUMMARY_PREFIX, TokenCounter, within_picture_total
from ...messages import ApiMessage, JsonObject, TaskId
from ...persistence import ApiRecord, StoredTaskState, TaskReader, history_to_read
from .model_history import sent_at_once
from .persisted_context import ContextState, context_state
from .recorded_prompts import newest_prompt, prompt_text

__all__ = ["SeenHistories", "SeenHistory", "SeenKinds"]

_KEPT_SECONDS: Final = 300.0
"""So long a conversation is kept after somebody has looked at it."""


@dataclass(frozen=True)
class SeenKinds:
    """The tokens of the messages by what is in them; together they are all of them.

    ``words`` are the person's, with what is told in between of the surroundings.
    """

    summaries: int = 0
    words: int = 0
    answers: int = 0
    outputs: int = 0
    pictures: int = 0


@dataclass(frozen=True)
class _Place:
    """What a history is built from: where the task's logs end, and how it is sent."""

    task: TaskId
    seq: int
    mark: str | None
    state: ContextState
    images: bool
    counter: TokenCounter
    picture_bytes: int


@dataclass(frozen=True)
class SeenHistory:
    system: str
    messages: Sequence[ApiMessage]
    sizes: Sequence[int]
    kinds: SeenKinds


class SeenHistories:
    """Histories as they would be sent. The last one is kept for a while: whoever looks at it looks page by page."""

    def __init__(self) -> None:
        self._kept: tuple[_Place, SeenHistory] | None = None
        self._forgetting: asyncio.TimerHandle | None = None
        self._one_at_a_time = asyncio.Lock()
        self.built = 0
        """How often one was built."""

    async def seen(
        self, reader: TaskReader, state: StoredTaskState, *, images: bool, counter: TokenCounter, picture_bytes: int
    ) -> SeenHistory:
        """The history of a task as its logs have it now."""
        async with self._one_at_a_time:
            newest, marks = await reader.api.newest(1), await reader.marks.newest(1)
            seq = newest[-1].seq if newest else 0
            mark = marks[-1].id if marks else None
            place = _Place(reader.task_id, seq, mark, context_state(state), images, counter, picture_bytes)
            if self._kept is None or self._kept[0] != place:
                self.built += 1
                history = await history_to_read(reader)
                records = await history.api_history()
                prompt = await newest_prompt(reader, history.view, records)
                self._kept = place, await asyncio.to_thread(_built, records, prompt, place)
            seen = self._kept[1]
        if self._forgetting is not None:
            self._forgetting.cancel()
        self._forgetting = asyncio.get_running_loop().call_later(_KEPT_SECONDS, self._forget)
        return seen

    def _forget(self) -> None:
        self._kept = self._forgetting = None


def _built(records: Sequence[ApiRecord], prompt: ApiRecord | None, place: _Place) -> SeenHistory:
    counter = place.counter
    # A list of its own: to look for one message must not go through all of them.
    sent = sent_at_once(records, place.state, images=place.images, counter=counter).messages
    messages = [*within_picture_total(sent, place.picture_bytes)]
    return SeenHistory("" if prompt is None else prompt_text(prompt), messages, *_counted(messages, counter))


def _counted(messages: Sequence[ApiMessage], counter: TokenCounter) -> tuple[list[int], SeenKinds]:
    sizes: list[int] = []
    tokens = dict.fromkeys(("summaries", "words", "answers", "outputs", "pictures"), 0)
    for message in messages:
        size = counter.message(message)
        sizes.append(size)
        for block in [] if isinstance(message.content, str) else message.content:
            kind = _kind(block)
            if kind is not None:
                # What is rounded up must not add up to more than the message.
                part = min(size, counter.blocks([block]))
                tokens[kind] += part
                size -= part
        tokens["answers" if message.role == "assistant" else "words"] += size
    return sizes, SeenKinds(**tokens)


def _kind(block: JsonObject) -> str | None:
    match block.get("type"):
        case "tool_result":
            return "outputs"
        case "image":
            return "pictures"
        case "text" if str(block.get("text", "")).startswith(SUMMARY_PREFIX):
            return "summaries"
        case _:
            return None
