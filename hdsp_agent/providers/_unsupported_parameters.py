"""A parameter that a server turns out not to know, found in its refusal."""

from __future__ import annotations

import re
from typing import Final

from ..messages import JsonObject
from ._model_error import ModelError

__all__ = ["adapted"]

# What an answer can do without, and what some servers want instead.
_DISPENSABLE: Final[dict[str, str | None]] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
    "stream_options": None,
    "parallel_tool_calls": None,
    "prompt_cache_key": None,
    "reasoning_effort": None,
    "reasoning_format": None,
    "reasoning": None,
    "thinking": None,
    "temperature": None,
    "verbosity": None,
    "usage": None,
    "include": None,
    "service_tier": None,
    "draft_model": None,
    "stop": None,
}
_UNKNOWN: Final = re.compile(
    r"unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|extra inputs|extra_forbidden|not permitted"
    r"|not allowed|does not support|isn't supported|invalid (?:argument|parameter|field)",
    re.IGNORECASE,
)


def adapted(body: JsonObject, error: ModelError) -> tuple[str, str | None] | None:
    """The parameter of the body that was refused, with the one to send instead, if any; None if it was not that."""
    if error.http_status not in (400, 422) or not _UNKNOWN.search(error.raw):
        return None
    for name, instead in _DISPENSABLE.items():
        if name not in body or not re.search(rf"(?<![\w.])(?:body\.)?{name}(?!\w)", error.raw):
            continue
        if instead is not None and instead not in error.raw:
            # Too large a number reads much the same.
            if error.kind != "other":
                continue
            return name, None
        return name, instead
    return None
