"""The history as requests hold it. It grows with the log, and a request costs nothing for how long it has become."""

from __future__ import annotations

from collections.abc import Sequence

from ..context import AsItWas
from ..messages import ApiMessage, JsonObject
from ..persistence import ApiRecord

__all__ = ["Merged"]


class Merged:
    """Neighbours of the person's are one message."""

    def __init__(self) -> None:
        self._messages: list[ApiMessage] = []
        self._open = False

    def add(self, record: ApiRecord) -> None:
        """Take in the next record."""
        if record.role == "system":
            return
        message = record.message()
        merges = message.role == "user" and not record.is_summary and not record.is_truncation_marker
        if merges and self._open:
            last = self._messages[-1]
            content = [*_blocks(last), *_blocks(message)]
            self._messages[-1] = last.model_copy(update={"content": content})
        else:
            self._messages.append(message)
        # A message may be added to a summary, a summary to nothing.
        self._open = message.role == "user" and not record.is_truncation_marker

    @property
    def messages(self) -> Sequence[ApiMessage]:
        """All of them, and for good as they are now."""
        # The last may yet be merged with what follows.
        return AsItWas(self._messages, max(0, len(self._messages) - 1), self._messages[-1:])


def _blocks(message: ApiMessage) -> list[JsonObject]:
    return [{"type": "text", "text": message.content}] if isinstance(message.content, str) else list(message.content)
