"""What a rule of masking is, and how the places where rules apply are found quickly.

A rule's ``reach`` takes greedily all that could belong to a candidate and looks at most ``slack`` characters past its
end, so that a stream knows whether more text could change the outcome. Checks look back at most ``LOOK_BACK``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from ...config import MaskedKind
from ._vault import PLACEHOLDER_LABELS, PLACEHOLDER_START

__all__ = ["LOOK_BACK", "Finding", "Rule", "Triggers"]

LOOK_BACK: Final = 128


class Finding(NamedTuple):
    """One secret in a text."""

    start: int
    end: int
    kind: MaskedKind
    label: str


Check = Callable[[str, "re.Match[str]", int], Finding | None]
"""Judges a candidate; nothing before the third argument may be masked any more."""


@dataclass(frozen=True)
class Rule:
    """How one family of secrets is found."""

    kinds: frozenset[MaskedKind]
    triggers: tuple[str, ...]
    reach: re.Pattern[str]
    check: Check
    limit: int = 2048
    slack: int = 8
    head: tuple[re.Pattern[str], Callable[[str, re.Match[str]], bool]] | None = None
    """A cheaper look at the candidate's first part: only if it is telling, the rest is looked at."""


class Triggers:
    """One pattern that finds every trigger: each is looked for by its rarest letter, to which the regex engine skips."""

    def __init__(self, triggers: Iterable[str]) -> None:
        self._whole: dict[str, str] = {}
        groups: dict[str, list[str]] = {}
        longest_first = sorted(triggers, key=len, reverse=True)
        for trigger in longest_first:
            # Looked for no later than a trigger inside it begins, or that one would be found in its place.
            last = min(
                (trigger.index(inner) for inner in longest_first if inner != trigger and inner in trigger),
                default=len(trigger),
            )
            rarest_first = sorted((-_rarity(letter), at) for at, letter in enumerate(trigger[: last + 1]))
            pivot = next(trigger[at:] for _, at in rarest_first if trigger[at:] not in self._whole)
            self._whole[pivot] = trigger
            groups.setdefault(pivot[0], []).append(_rest_pattern(trigger, pivot))
        self._pattern = re.compile(
            "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in groups.items())
        )

    def search(self, text: str, position: int) -> tuple[str, int, int] | None:
        """The next trigger that ends after ``position``, with its start and end."""
        found = self._pattern.search(text, position)
        if found is None:
            return None
        trigger = self._whole.get(found[0], PLACEHOLDER_START)
        return trigger, found.end() - (len(found[0]) if trigger == PLACEHOLDER_START else len(trigger)), found.end()


def _rarity(character: str) -> int:
    return " etaoinsrhldcumfpgwyb_-vkxjqz".find(character) % 100


def _rest_pattern(trigger: str, pivot: str) -> str:
    if trigger == "@":
        return r"(?<=[A-Za-z0-9_%+.-]@)(?=[A-Za-z0-9])"
    if trigger == PLACEHOLDER_START:
        return rf"(?:{'|'.join(PLACEHOLDER_LABELS)})(?:_[0-9]{{1,9}})?\]"
    return re.escape(pivot[1:]) + (f"(?<={re.escape(trigger)})" if pivot != trigger else "")
