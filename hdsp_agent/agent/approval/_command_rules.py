"""Rules on the words of a command: the longest rule that fits decides, and a tie is a denial."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["CommandRule", "longest", "read_rules"]


@dataclass(frozen=True)
class CommandRule:
    """Words a command begins with; no words at all fit every command."""

    source: str
    words: tuple[str, ...]

    def fits(self, words: Sequence[str], *, any_case: bool) -> bool:
        """Whether the command begins with these words, each whole."""
        if len(words) < len(self.words):
            return False
        pairs = zip(self.words, words, strict=False)
        return all(mine == theirs or (any_case and mine.lower() == theirs.lower()) for mine, theirs in pairs)


def read_rules(sources: Iterable[str]) -> tuple[CommandRule, ...]:
    """Rules as people write them: ``git log``, ``npm run *``, ``*``."""
    return tuple(rule for source in sources if (rule := _read(source)) is not None)


def longest(rules: Iterable[CommandRule], words: Sequence[str], *, any_case: bool = False) -> CommandRule | None:
    """The rule with most words that fits."""
    fitting = [rule for rule in rules if rule.fits(words, any_case=any_case)]
    return max(fitting, key=lambda rule: len(rule.words), default=None)


def _read(source: str) -> CommandRule | None:
    try:
        words = shlex.split(source)
    except ValueError:
        words = source.split()
    if not words:
        return None
    if words[-1] in ("*", "**"):
        words.pop()
    elif words[-1].endswith(":*"):
        words[-1] = words[-1][:-2]
    return CommandRule(source, tuple(words))
