"""Which of the words that were asked for find passages, and which only count where one of those is.

A word that thousands of passages have finds nothing by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ._dialect import Phrase

__all__ = ["CONCEPT_WEIGHT", "MOST_COUNTED", "MOST_KEPT", "MOST_TITLES", "MOST_TITLES_COUNTED", "WordChoice", "choose"]

MOST_COUNTED: Final = 2_000
"""Passages looked at for one search: what fits into a few milliseconds."""
MOST_KEPT: Final = 150
MOST_TITLES: Final = 50
MOST_TITLES_COUNTED: Final = 500
CONCEPT_WEIGHT: Final = 1.5
_MOST_COMMON: Final = 5
"""Words beyond those that may find passages: they say little and cost most."""
_MOST_TOGETHER: Final = 3


@dataclass(frozen=True)
class WordChoice:
    """A passage is found that has one of ``either``, or all of ``together``; ``others`` count in it too."""

    either: Sequence[Phrase]
    together: Sequence[Phrase]
    others: Sequence[Phrase]


def choose(counts: Mapping[Phrase, int]) -> WordChoice:
    """The choice, given how many passages have each phrase, counted no further than ``MOST_COUNTED`` and one."""
    known = sorted((phrase for phrase, count in counts.items() if count), key=lambda phrase: counts[phrase])
    either: list[Phrase] = []
    left = MOST_COUNTED
    for phrase in known:
        if counts[phrase] <= left:
            either.append(phrase)
            left -= counts[phrase]
    if either:
        return WordChoice(either, (), [phrase for phrase in known if phrase not in either][:_MOST_COMMON])
    # All are common. What has the most of them is found first, and the newest of those.
    return WordChoice((), known[:_MOST_TOGETHER], known[_MOST_TOGETHER : _MOST_TOGETHER + _MOST_COMMON])
