"""Cutting the middle out of long texts: the beginning and the end stay, and a marker says how much is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ..messages import JsonObject
from ._token_estimate import APPROX_BYTES_PER_TOKEN, utf8, utf8_length

__all__ = [
    "TOOL_OUTPUT_FACTOR",
    "Budget",
    "cut",
    "room_for_output",
    "truncated",
    "truncated_items",
    "truncation_header",
]

TOOL_OUTPUT_FACTOR: Final = 1.2
"""A tool's output may be this much longer than the budget says: what the protocol wraps it in was not counted."""

_MOST_OUTPUT_TOKENS: Final = 50_000
_SHARE_OF_REST: Final = 0.5


@dataclass(frozen=True)
class Budget:
    """How long a text may be. The marker is not charged to it."""

    kind: Literal["bytes", "tokens"]
    amount: int

    @property
    def bytes(self) -> int:
        """The same in bytes of UTF-8."""
        return self.amount if self.kind == "bytes" else self.amount * APPROX_BYTES_PER_TOKEN


@dataclass(frozen=True)
class Cut:
    """What a budget left of a text, and the marker in it: empty where nothing is missing."""

    text: str
    marker: str = ""


def cut(text: str, budget: Budget) -> Cut:
    """The text, or its beginning and end around a marker that counts what is missing. No code point is broken."""
    length = utf8_length(text)
    # Without room nothing but the marker is left.
    if not text or (length <= budget.bytes and budget.bytes > 0):
        return Cut(text)
    data = utf8(text)
    left = budget.bytes // 2
    begin = _boundary_before(data, left)
    end = max(begin, _boundary_after(data, length - (budget.bytes - left)))
    if budget.kind == "tokens":
        marker = f"…{-(-(length - budget.bytes) // APPROX_BYTES_PER_TOKEN)} tokens truncated…"
    else:
        marker = f"…{len(_text(data[begin:end]))} chars truncated…"
    return Cut(f"{_text(data[:begin])}{marker}{_text(data[end:])}", marker)


def truncated(text: str, budget: Budget) -> str:
    """The text, with the middle cut out if it is longer than the budget."""
    return cut(text, budget).text


def truncation_header(text: str) -> str:
    """What an output that is cut begins with: how much there was before."""
    tokens = -(-utf8_length(text) // APPROX_BYTES_PER_TOKEN)
    lines = text.count("\n") + (not text.endswith("\n"))
    return f"Warning: truncated output (original token count: {tokens})\nTotal output lines: {lines}"


def truncated_items(blocks: Sequence[JsonObject], budget: Budget) -> list[JsonObject]:
    """Content blocks within one budget, used up in order: the first text too many is cut, later ones are only counted.

    Images and whatever else is no text always stay.
    """
    kept: list[JsonObject] = []
    left = budget.amount
    omitted = 0
    for block in blocks:
        text = block.get("text")
        if block.get("type") != "text" or not isinstance(text, str):
            kept.append(block)
            continue
        if left <= 0:
            omitted += 1
            continue
        cost = _cost(text, budget)
        if cost <= left:
            kept.append(block)
            left -= cost
            continue
        kept.append({**block, "text": truncated(text, Budget(budget.kind, left))})
        left = 0
    if omitted:
        kept.append({"type": "text", "text": f"[omitted {omitted} text items ...]"})
    return kept


def room_for_output(remaining_tokens: int) -> Budget:
    """How long one tool's output may be when the context has this many tokens left: 50 000 at most."""
    return Budget("tokens", max(0, min(_MOST_OUTPUT_TOKENS, int(remaining_tokens * _SHARE_OF_REST))))


def _cost(text: str, budget: Budget) -> int:
    length = utf8_length(text)
    return length if budget.kind == "bytes" else -(-length // APPROX_BYTES_PER_TOKEN)


def _boundary_before(data: bytes, place: int) -> int:
    """The last place up to this one that is between two code points."""
    while 0 < place < len(data) and data[place] & 0xC0 == 0x80:
        place -= 1
    return place


def _boundary_after(data: bytes, place: int) -> int:
    """The first place from this one on that is between two code points."""
    while place < len(data) and data[place] & 0xC0 == 0x80:
        place += 1
    return place


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
