"""Noticing that a model makes the same call again and again."""

from __future__ import annotations

import json
from typing import Final

from ..messages import JsonObject

__all__ = ["DEFAULT_REPETITIONS", "RepetitionGuard"]

DEFAULT_REPETITIONS: Final = 3


class RepetitionGuard:
    """Counts identical calls in a row; the one after ``limit`` of them is refused. 0 never refuses."""

    def __init__(self, limit: int = DEFAULT_REPETITIONS) -> None:
        self.limit = limit
        self._last: str | None = None
        self._count = 0

    def allows(self, tool: str, arguments: JsonObject) -> bool:
        """Take note of a call; whether it may be made. After a refusal counting begins anew."""
        call = json.dumps([tool, arguments], sort_keys=True, ensure_ascii=False)
        if call != self._last:
            self._last, self._count = call, 1
            return True
        if self.limit and self._count >= self.limit:
            self._last, self._count = None, 0
            return False
        self._count += 1
        return True
