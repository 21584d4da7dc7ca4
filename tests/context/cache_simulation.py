"""What requests cost where a provider caches their beginnings, in tokens of uncached input (reference, context §5.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass
class CacheSimulation:
    """Hits are the longest common beginning with any request so far; all come within the cache's time."""

    read: float = 0.1
    write: float = 1.25
    output: float = 5.0
    least: int = 1_024
    cost: float = 0.0
    hit: int = 0
    sent: int = 0
    _seen: list[list[tuple[str, int]]] = field(default_factory=list)

    def ask(self, blocks: Iterable[tuple[str, int]], answer: int) -> None:
        """One request of blocks that are named and so many tokens long, and its answer."""
        request = list(blocks)
        size = sum(tokens for _, tokens in request)
        cached = max((_common(request, seen) for seen in self._seen), default=0)
        cached = cached if cached >= self.least else 0
        self.cost += cached * self.read + (size - cached) * self.write + answer * self.output
        self.hit += cached
        self.sent += size
        # All but the last share what they have with it, or broke off from it before.
        self._seen = [*self._seen[-2:], request]


def _common(request: Sequence[tuple[str, int]], seen: Sequence[tuple[str, int]]) -> int:
    common = 0
    for ours, theirs in zip(request, seen, strict=False):
        if ours != theirs:
            break
        common += ours[1]
    return common
