"""Thoughts that a server leaves in the text, between ``<think>`` and ``</think>`` at its head."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ._model import TextDelta, ThinkingDelta, ThinkingDone

__all__ = ["ThinkTags"]

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


class ThinkTags:
    """Parts streaming text from the thoughts at its head, wherever the pieces are cut."""

    def __init__(self) -> None:
        self._state = "head"
        self._held = ""

    def read(self, piece: str) -> Iterator[TextDelta | ThinkingDelta | ThinkingDone]:
        """The events of the next piece."""
        if self._state == "text":
            if piece:
                yield TextDelta(piece)
            return
        self._held += piece
        if self._state == "head":
            head = self._held.lstrip()
            if len(head) < len(_OPEN) and _OPEN.startswith(head):
                return
            if not head.startswith(_OPEN):
                yield from self._leave()
                return
            self._state, self._held = "thinking", head[len(_OPEN) :].lstrip("\n")
        yield from self._think()

    def finish(self) -> Iterator[TextDelta | ThinkingDelta | ThinkingDone]:
        """What was held back."""
        held, self._held = self._held, ""
        if self._state == "thinking":
            if held:
                yield ThinkingDelta(held)
            yield ThinkingDone()
        elif held:
            yield TextDelta(held)

    def _think(self) -> Iterator[TextDelta | ThinkingDelta | ThinkingDone]:
        thoughts, close, rest = self._held.partition(_CLOSE)
        if close:
            if thoughts.rstrip():
                yield ThinkingDelta(thoughts.rstrip())
            yield ThinkingDone()
            self._held = rest.lstrip("\n")
            yield from self._leave()
            return
        # The end may be the beginning of the closing tag, or the line break before it.
        keep = next((size for size in range(len(_CLOSE) - 1, 0, -1) if thoughts.endswith(_CLOSE[:size])), 0)
        sure = thoughts[: len(thoughts) - keep].rstrip()
        self._held = thoughts[len(sure) :]
        if sure:
            yield ThinkingDelta(sure)

    def _leave(self) -> Iterator[TextDelta]:
        self._state = "text"
        held, self._held = self._held, ""
        if held:
            yield TextDelta(held)
