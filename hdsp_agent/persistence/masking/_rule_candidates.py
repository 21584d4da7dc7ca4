"""What a rule of masking is, and how the places where rules apply are found quickly.

A rule's ``reach`` takes greedily all that could belong to a candidate and looks at most ``slack`` characters past its
end, so that a stream knows whether more text could change the outcome. Checks look back at most ``LOOK_BACK``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from ...config import MaskedKind
from ._vault import PLACEHOLDER_LABELS, PLACEHOLDER_START

__all__ = ["LOOK_BACK", "WORD", "MaskingRule", "SecretFound", "Triggers"]

LOOK_BACK: Final = 128
_BY_RARITY: Final = " etaoinsrhldcumfpgwyb.=0123456789/_-vkxjqz"
"""What stands often in texts, the most frequent first; other characters are rarer."""
_RARE: Final = _BY_RARITY.index("f")

WORD: Final = "_"
"""The trigger that stands for a hyphen, a dot or an underscore with a long part behind it that has a digit early on."""

_SEPARATORS: Final = frozenset("_-.")
_LONG: Final = r"(?=[A-Za-z0-9_=-]{12}|[A-Za-z0-9_=-]{0,11}\Z)(?=[A-Za-z_=-]{0,23}(?:[0-9]|\Z))"
_BEFORE_LONG_PART: Final = (
    f"_{_LONG}",
    # Not in a UUID, and not before the decimals of a number.
    f"-(?![0-9a-f]{{4}}-[0-9a-f]{{4}}|[0-9a-f]{{12}}(?![0-9A-Za-z])){_LONG}",
    rf"\.(?![0-9]{{10}}){_LONG}",
)


class SecretFound(NamedTuple):
    """One secret in a text."""

    start: int
    end: int
    kind: MaskedKind
    label: str


Check = Callable[[str, re.Match[str], int], SecretFound | None]
"""Judges a candidate; nothing before the third argument may be masked any more."""


@dataclass(frozen=True)
class MaskingRule:
    """How one family of secrets is found."""

    kinds: frozenset[MaskedKind]
    triggers: tuple[str, ...]
    reach: re.Pattern[str]
    check: Check
    limit: int = 2048
    slack: int = 8
    head: tuple[re.Pattern[str], Callable[[str, re.Match[str]], bool]] | None = None
    """A cheaper look at the candidate's first part: only if it is telling, the rest is looked at."""
    ahead: str = ""
    """What must follow a trigger, found by the search for triggers itself. It must allow for the text's end."""
    behind: str = ""
    """One character that must stand before a trigger, found likewise."""


class Triggers:
    """One pattern that finds every trigger: each is looked for by its rarest letter, to which the regex engine skips."""

    def __init__(self, triggers: Iterable[str], rules: Mapping[str, MaskingRule]) -> None:
        self._whole: dict[str, str] = {}
        groups: dict[str, list[str]] = {}
        longest_first = sorted(set(triggers) - {WORD}, key=lambda trigger: (len(trigger), trigger), reverse=True)
        known = set(longest_first)
        for trigger in longest_first:
            # Looked for no later than a trigger inside it begins, or that one would be found in its place.
            last = min(
                (trigger.index(inner) for inner in longest_first if inner != trigger and inner in trigger),
                default=len(trigger),
            )
            rarest_first = sorted((-_worth(letter, groups), at) for at, letter in enumerate(trigger[: last + 1]))
            # A trigger that another one ends in can be found by nothing else than its whole self.
            taken = self._whole.keys() | (known - {trigger}) | _SEPARATORS
            pivot = next(trigger[at:] for _, at in rarest_first if trigger[at:] not in taken)
            self._whole[pivot] = trigger
            groups.setdefault(pivot[0], []).append(_rest_pattern(trigger, pivot, rules.get(trigger)))
        alternatives = [f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in groups.items()]
        if WORD in rules:
            alternatives.extend(_BEFORE_LONG_PART)
            self._whole |= dict.fromkeys(_SEPARATORS, WORD)
        self._pattern = re.compile("|".join(alternatives))

    def search(self, text: str, position: int) -> tuple[str, int, int] | None:
        """The next trigger that ends after ``position``, with its start and end."""
        found = self._pattern.search(text, position)
        if found is None:
            return None
        trigger = self._whole.get(found[0], PLACEHOLDER_START)
        return trigger, found.end() - (len(found[0]) if trigger == PLACEHOLDER_START else len(trigger)), found.end()


def _rarity(character: str) -> int:
    found = _BY_RARITY.find(character)
    return len(_BY_RARITY) if found == -1 else found


def _worth(character: str, groups: Container[str]) -> int:
    """The engine stops at every letter that is looked for: one that others are found by costs nothing more."""
    rarity = _rarity(character)
    return rarity + len(_BY_RARITY) if rarity >= _RARE and character in groups else rarity


def _rest_pattern(trigger: str, pivot: str, rule: MaskingRule | None) -> str:
    if trigger == "@":
        return r"(?<=[A-Za-z0-9_%+.-]@)(?=[A-Za-z0-9])"
    if trigger == PLACEHOLDER_START:
        return rf"(?:{'|'.join(PLACEHOLDER_LABELS)})(?:_[0-9]{{1,9}})?\]"
    behind, ahead = ("", "") if rule is None else (rule.behind, rule.ahead)
    before = f"(?<={behind}{re.escape(trigger)})" if behind or pivot != trigger else ""
    return re.escape(pivot[1:]) + before + ahead
