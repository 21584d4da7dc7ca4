"""The usage that OpenAI's Responses protocol reports."""

from __future__ import annotations

from collections.abc import Mapping

from ._model import UsageReport
from ._safe_parse import count, mapping

__all__ = ["responses_usage"]


def responses_usage(usage: Mapping[str, object]) -> UsageReport | None:
    """The report; None if there is none."""
    if not usage:
        return None
    details = mapping(usage.get("input_tokens_details"))
    read, written = count(details.get("cached_tokens")), count(details.get("cache_write_tokens"))
    return UsageReport(
        input=max(0, count(usage.get("input_tokens")) - read - written),
        output=count(usage.get("output_tokens")),
        cache_read=read,
        cache_write=written,
        reasoning=count(mapping(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )
