"""Noticing that a model makes the same call again and again."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Final

from ...messages import JsonObject

__all__ = ["MOST_REPETITIONS", "RepetitionGuard"]

MOST_REPETITIONS: Final = 3


class RepetitionGuard:
    """Counts identical calls in a row; the one after so many of them is refused."""

    def __init__(self, *, last_call: str | None = None, same_calls: int = 0) -> None:
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
        if self.same_calls >= MOST_REPETITIONS:
            self.last_call, self.same_calls = None, 0
            return False
        self.same_calls += 1
        return True
