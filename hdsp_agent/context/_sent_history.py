"""The history as requests hold it: whatever was hidden, cut off or came from another provider, it can be sent.

Every call has exactly one result, in the next message and before all else; results without a call are gone; ids are
unique; the person speaks first. That is what the strictest provider asks for, and all others take it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ..messages import ApiMessage
from ._call_pairs import Calls, closed_turn
from ._content_blocks import (
    call_ids,
    content_blocks,
    string_of,
    with_results_replaced,
    without_blanks,
    without_images,
    without_thoughts,
)
from ._history_snapshot import HistorySnapshot
from ._image_total import picture_sizes
from ._token_estimate import TokenCounter

__all__ = ["BEGINNING_HIDDEN", "SentHistory"]

BEGINNING_HIDDEN: Final = "[The beginning of the conversation is not shown.]"
_CALL_EXTRA: Final = "tool_call_extra"


class SentHistory:
    """Grows with the log, and a request costs nothing for how long it has become.

    ``images`` is whether the model sees any, ``blanks`` whether its provider takes empty texts. Thoughts up to the time
    ``thoughts_after`` are left out.
    """

    def __init__(
        self,
        *,
        images: bool = True,
        blanks: bool = True,
        thoughts_after: int = 0,
        counter: TokenCounter | None = None,
    ) -> None:
        self._images = images
        self._blanks = blanks
        self._thoughts_after = thoughts_after
        self._cleared: dict[str, str] = {}
        """What is sent instead of results that were pruned, by the id their call is sent with."""
        self._counter = counter or TokenCounter()
        self._ids: set[str] = set()
        self._copies: dict[str, int] = {}
        # Turns that are over never change again. The last one does: results come, or the person says more.
        self._over: list[ApiMessage] = []
        self._sums: list[int] = [0]
        self._pictured: dict[int, list[int]] = {}
        self._looked_for_pictures = 0
        self._detailed: list[ApiMessage] = []
        self._looked_for_details = 0
        self._asked: list[tuple[ApiMessage, Calls]] = []
        self._said: list[ApiMessage] = []
        self._turn: list[ApiMessage] | None = []
        self._newest: Calls = ()

    def add(self, message: ApiMessage, stubs: Mapping[int, str] | None = None) -> None:
        """Take in the next message; ``stubs`` is what is sent instead of the results of its calls, by their place."""
        if not self._images:
            message = without_images(message)
        if not self._blanks:
            message = without_blanks(message)
        if message.ts is not None and message.ts <= self._thoughts_after:
            message = without_thoughts(message)
        if message.role != "assistant":
            self._said.append(message)
        else:
            if self._said or not (self._over or self._asked):
                self._over += self._last_turn() or [_beginning()]
                self._asked, self._said = [], []
            asked = self._with_unique_ids(message)
            self._asked.append(asked)
            self._newest = asked[1]
            if stubs:
                self._cleared.update((self._newest[place][1], stub) for place, stub in stubs.items())
        self._turn = None

    @property
    def newest_calls(self) -> Sequence[str]:
        """The ids that the calls of the newest answer are sent with."""
        return [sent for _, sent in self._newest]

    @property
    def messages(self) -> Sequence[ApiMessage]:
        """All of them, and for good as they are now."""
        return HistorySnapshot(self._over, len(self._over), self._last_turn())

    @property
    def after_answer(self) -> int:
        """The index of the first message behind the model's last answer."""
        turn = self._last_turn()
        behind = next((n for n, message in enumerate(reversed(turn)) if message.role == "assistant"), len(turn))
        return len(self._over) + len(turn) - behind

    def tokens(self, first: int = 0) -> int:
        """The estimate of the messages from this index on. What is over is counted once."""
        sums = self._sums
        for place in range(len(sums) - 1, len(self._over)):
            sums.append(sums[-1] + self._counter.message(self._over[place]))
        turn = self._last_turn()
        over = sums[-1] - sums[min(first, len(self._over))]
        return over + self._counter.messages(turn[max(0, first - len(self._over)) :])

    def pictures(self) -> Mapping[int, Sequence[int]]:
        """The bytes of each image, by the index of its message. What is over is looked at once."""
        for place in range(self._looked_for_pictures, len(self._over)):
            if sizes := picture_sizes(self._over[place]):
                self._pictured[place] = sizes
        self._looked_for_pictures = len(self._over)
        behind = enumerate(self._last_turn(), len(self._over))
        return {**self._pictured, **{place: sizes for place, message in behind if (sizes := picture_sizes(message))}}

    def detailed(self) -> Sequence[ApiMessage]:
        """The messages with a provider's details of its reasoning. What is over is looked at once."""
        for place in range(self._looked_for_details, len(self._over)):
            if self._over[place].reasoning_details:
                self._detailed.append(self._over[place])
        self._looked_for_details = len(self._over)
        return [*self._detailed, *(one for one in self._last_turn() if one.reasoning_details)]

    def clear_results(self, stubs: Mapping[str, str]) -> None:
        """From now on send these texts instead of the results of these calls."""
        self._cleared.update(stubs)
        changed = [with_results_replaced(message, stubs) for message in self._over]
        first = next((n for n, message in enumerate(changed) if message is not self._over[n]), len(changed))
        # A new list: requests that were made hold the old one.
        self._over, self._sums, self._turn = changed, self._sums[: first + 1], None
        self._pictured, self._looked_for_pictures = {}, 0
        self._detailed, self._looked_for_details = [], 0

    def _last_turn(self) -> list[ApiMessage]:
        if self._turn is None:
            turn = closed_turn(self._asked, self._said, self._ids)
            if self._said and not turn and not self._over:
                # All that was said were results of calls that are hidden.
                turn = [_beginning()]
            self._turn = [with_results_replaced(message, self._cleared) for message in turn] if self._cleared else turn
        return self._turn

    def _with_unique_ids(self, message: ApiMessage) -> tuple[ApiMessage, Calls]:
        """Some servers count their calls anew in each answer."""
        given = call_ids(message)
        ids = [self._unique(id) for id in given]
        calls = list(zip(given, ids, strict=True))
        return message if ids == given else _renamed(message, calls), calls

    def _unique(self, id: str) -> str:
        unique = id or "call"
        while unique in self._ids:
            number = self._copies.get(id, 1) + 1
            self._copies[id] = number
            unique = f"{id or 'call'}_{number}"
        self._ids.add(unique)
        return unique


def _renamed(message: ApiMessage, calls: Calls) -> ApiMessage:
    """The answer with its calls under the ids they are sent with, and what rides along for one of them too."""
    ids = iter([sent for _, sent in calls])
    content = [
        {**block, "id": next(ids)} if block.get("type") == "tool_use" else block for block in content_blocks(message)
    ]
    if message.reasoning_details is None:
        return message.model_copy(update={"content": content})
    names = dict(calls)
    details = [
        {**detail, "id": names.get(string_of(detail, "id"), string_of(detail, "id"))}
        if isinstance(detail, dict) and detail.get("type") == _CALL_EXTRA
        else detail
        for detail in message.reasoning_details
    ]
    return message.model_copy(update={"content": content, "reasoning_details": details})


def _beginning() -> ApiMessage:
    return ApiMessage.model_construct(role="user", content=BEGINNING_HIDDEN)
