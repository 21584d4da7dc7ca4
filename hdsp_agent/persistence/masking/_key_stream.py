"""The keys that this process uses are taken out of a text first, whatever they look like and whatever else is masked."""

from __future__ import annotations

from ...config import KEY_IN_USE, keys_in_use
from ._vault import Vault

__all__ = ["KeyStream"]


class KeyStream:
    """Takes the keys in use out of text that arrives in pieces. It holds back what could become one."""

    __slots__ = ("_text", "_vault")

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._text = ""

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return len(self._text)

    def feed(self, chunk: str) -> str:
        """What can be given out now that this piece has arrived."""
        if not keys_in_use and not self._text:
            return chunk
        return self._give(self._text + chunk, final=False)

    def finish(self) -> str:
        """The rest, when the text has ended."""
        return self._give(self._text, final=True) if self._text else ""

    def _give(self, text: str, *, final: bool) -> str:
        spans, settled = keys_in_use.find(text, final=final)
        pieces, end = [], 0
        for span in spans:
            pieces += [text[end : span.start], self._vault.placeholder(KEY_IN_USE, text[span.start : span.end])]
            end = span.end
        pieces.append(text[end:settled])
        self._text = text[settled:]
        return "".join(pieces)
