"""How far the estimate is off for each model, learned from what providers count."""

from __future__ import annotations

from typing import Final

__all__ = ["Calibration"]

_LEAST: Final = 0.6
_MOST: Final = 3.0
_LEAST_CREDIBLE: Final = 0.5
"""A server that counts less than half of what it was sent has left some of it out."""
_LEAST_TOKENS: Final = 500
"""Below this, what the provider adds itself is most of what it counts."""
_FADING: Final = 0.8


class Calibration:
    """The factor of each model's estimates. Large requests count for more, and newer ones for more than older ones."""

    def __init__(self) -> None:
        self._sums: dict[str, tuple[float, float]] = {}

    def observe(self, model: str, *, estimated: int, reported: int) -> None:
        """A request that was estimated at so many tokens, uncorrected, had so many."""
        if estimated < _LEAST_TOKENS or reported < estimated * _LEAST_CREDIBLE:
            return
        before = self._sums.get(model, (0.0, 0.0))
        self._sums[model] = before[0] * _FADING + estimated, before[1] * _FADING + reported

    def factor(self, model: str) -> float:
        """What to multiply an estimate by; 1 for a model nothing is known of."""
        estimated, reported = self._sums.get(model, (1.0, 1.0))
        return min(_MOST, max(_LEAST, reported / estimated))
