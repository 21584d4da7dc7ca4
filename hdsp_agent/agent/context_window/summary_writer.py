"""Having a summary written within what the model that writes it takes in: of as much as fits, or of all in several steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ...context import Carried, SentHistory, hand_over
from ...persistence import ApiRecord
from ...providers import ModelClient, ModelError, ModelRequest, UsageReport
from ..conversation.conversation import text_block
from .full_context import FullContext
from .summary_request import prompt_of, summary_of, with_prompt

if TYPE_CHECKING:
    from ..task.task_state import TaskState

__all__ = ["EMPTY", "LARGEST_REQUEST", "NotCondensed", "SummaryWriter"]

LARGEST_REQUEST: Final = 0.98
"""Of the window, for the request that asks for the summary together with its answer."""
EMPTY: Final = "The model wrote no summary."

_MOST_ATTEMPTS: Final = 6
_SHRINKING: Final = 0.7
"""Of what the summary request held, when it was too long itself."""
_LONGEST_SUMMARY: Final = 4_000
_LEAST_SUMMARY: Final = 1_024
_SUMMARY_SHARE: Final = 20
"""Of a small window, the summary gets this part."""
_ROOM_NEEDED: Final = frozenset({"overflow", "overflow_output_budget", "payload_too_large", "tpm_request_too_large"})


class NotCondensed(Exception):
    """It could not be done, and nothing was changed; the text says why."""


class SummaryWriter:
    """Asks the model ``by`` in requests like ``request``, whose tokens beside the messages are ``fixed``.

    What its answers took is added to ``taken``.
    """

    def __init__(
        self,
        state: TaskState,
        plain: FullContext,
        request: ModelRequest,
        fixed: int,
        by: ModelClient,
        taken: list[UsageReport],
    ) -> None:
        self._state = state
        self._plain = plain
        self._request = request
        self._fixed = fixed
        self._by = by
        self._taken = taken
        self._prompt = prompt_of(state)

    async def write(
        self, records: Sequence[ApiRecord], ends: Sequence[int], check: Callable[[int], object]
    ) -> tuple[str, int]:
        """The summary, and of how many records it is: the newest are left out while it does not fit, so that the cache is not lost.

        ``ends`` are where the records may be parted; ``check`` raises NotCondensed where that is of no use. Raises
        NotCondensed, and ModelError.
        """
        end = len(records)
        most = self._most
        for _ in range(_MOST_ATTEMPTS):
            sent = await self._plain.sent_of(records[:end], self._by.info)
            size = self._fixed + sent.tokens()
            if most is None or size <= most:
                try:
                    return await self._asked(sent, size), end
                except ModelError as error:
                    if error.kind not in _ROOM_NEEDED:
                        raise
            goal = int(min(size if most is None else most, size) * _SHRINKING) - self._fixed
            shorter = await self._shorter(records, [each for each in ends if each < end], goal)
            if shorter is None:
                break
            check(shorter)
            end = shorter
        raise NotCondensed("The conversation is too long to be summarized.")

    async def write_whole(self, records: Sequence[ApiRecord], ends: Sequence[int]) -> str:
        """The summary of all records: of as many as fit, then of that summary and what follows, up to the end."""
        while True:
            summary, end = await self.write(records, ends, lambda end: None)
            if end == len(records):
                return summary
            text = hand_over(summary, Carried())
            if text is None:
                raise NotCondensed(EMPTY)
            told = ApiRecord.model_construct(
                role="user", content=[text_block(text)], is_summary=True, seq=0, timestamp="", token_count=0
            )
            records, ends = [told, *records[end:]], [each - end + 1 for each in ends if each > end]

    @property
    def _most(self) -> int | None:
        """The tokens that a request may have beside the wish for the summary."""
        window = self._by.info.context_window
        if window is None:
            return None
        largest = int(window * LARGEST_REQUEST) - min(_LONGEST_SUMMARY, window // _SUMMARY_SHARE)
        return largest - self._plain.counter.text(self._prompt)

    async def _asked(self, sent: SentHistory, size: int) -> str:
        info, asked = self._by.info, with_prompt(self._request, list(sent.messages), self._prompt)
        window = info.context_window
        if window is not None and size + (info.max_output or 0) > window:
            asked = replace(asked, max_output=max(_LEAST_SUMMARY, int(window * LARGEST_REQUEST) - size))
        asking = summary_of(self._state, self._by, asked, self._taken)
        summary = await self._state.cancellation.run(asking, f"Summary of task {self._state.task_id}")
        return await self._state.conversation.mask(summary)

    async def _shorter(self, records: Sequence[ApiRecord], ends: Sequence[int], goal: int) -> int | None:
        """The last of these ends up to which there are no more tokens than this; for want of one, the first."""
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high) // 2
            if (await self._plain.sent_of(records[: ends[middle]], self._by.info)).tokens() <= goal:
                low = middle + 1
            else:
                high = middle
        return ends[max(0, low - 1)] if ends else None
