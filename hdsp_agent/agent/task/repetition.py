"""Noticing that a model makes the same call again and again."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Final

from ...messages import JsonObject

__all__ = ["DEFAULT_REPETITIONS", "RepetitionGuard"]

DEFAULT_REPETITIONS: Final = 3


class RepetitionGuard:
    """Counts identical calls in a row; the one after ``limit`` of them is refused. 0 never refuses."""

    def __init__(self, limit: int = DEFAULT_REPETITIONS, *, last_call: str | None = None, same_calls: int = 0) -> None:
        self.limit = limit
        self.last_call = last_call
        """A digest of the call that was made last."""
        self.same_calls = same_calls
        """How often in a row."""

    def allows(self, tool: str, arguments: JsonObject) -> bool:
        """Take note of a call; whether it may be made. After a refusal counting begins anew."""
        written = json.dumps([tool, arguments], sort_keys=True, ensure_ascii=False)
        call = blake2b(written.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        if call != self.last_call:
            self.last_call, self.same_calls = call, 1
            return True
        if self.limit and self.same_calls >= self.limit:
            self.last_call, self.same_calls = None, 0
            return False
        self.same_calls += 1
        return True
