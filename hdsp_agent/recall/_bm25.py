"""How well texts match words: bm25 as SQLite's FTS5 computes it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

__all__ = ["TextStatistics", "bm25"]

_K1: Final = 1.2
_B: Final = 0.75
_LEAST: Final = 1e-6
"""What a word counts that more than half of all texts have."""


@dataclass(frozen=True)
class TextStatistics:
    """How many texts there are, and how many words they have together."""

    texts: int
    words: int

    def weight(self, having: int) -> float:
        """What a phrase counts that so many texts have."""
        weight = math.log((self.texts - having + 0.5) / (having + 0.5)) if having <= self.texts else 0.0
        return weight if weight > 0 else _LEAST


def bm25(statistics: TextStatistics, length: int, found: Iterable[tuple[float, float]]) -> float:
    """The score of a text of so many words, given of each phrase its weight and how often the text has it."""
    average = statistics.words / max(1, statistics.texts)
    rest = _K1 * (1 - _B + _B * length / average) if average else _K1
    return sum(weight * times * (_K1 + 1) / (times + rest) for weight, times in found if times)
