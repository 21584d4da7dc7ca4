"""What servers of the Chat Completions protocol say of the tokens used."""

from __future__ import annotations

from collections.abc import Mapping

from ._model import UsageReport
from ._safe_parse import count, mapping, number

__all__ = ["chat_usage"]


def chat_usage(usage: Mapping[str, object]) -> UsageReport:
    """The report, with cached tokens taken out of the input and hidden thinking put into the output."""
    prompt_details = mapping(usage.get("prompt_tokens_details"))
    prompt = count(usage.get("prompt_tokens"))
    completion = count(usage.get("completion_tokens"))
    read = (
        count(prompt_details.get("cached_tokens"))
        or count(usage.get("prompt_cache_hit_tokens"))
        or count(usage.get("cache_read_input_tokens"))
    )
    written = (
        count(prompt_details.get("cache_write_tokens"))
        or count(prompt_details.get("cache_creation_tokens"))
        or count(usage.get("cache_creation_input_tokens"))
    )
    reasoning = count(mapping(usage.get("completion_tokens_details")).get("reasoning_tokens"))
    total = count(usage.get("total_tokens"))
    # Some count thinking into the total and not into the completion.
    output = max(completion, total - prompt) if reasoning else completion
    return UsageReport(
        input=max(0, prompt - read - written),
        output=output,
        cache_read=read,
        cache_write=written,
        reasoning=min(reasoning, output),
        cost=_cost(usage),
    )


def _cost(usage: Mapping[str, object]) -> float | None:
    cost = number(usage.get("cost"))
    if cost is None:
        return None
    # With a key of one's own the router's fee is the cost, and the model's price stands apart.
    upstream = (
        number(mapping(usage.get("cost_details")).get("upstream_inference_cost")) if usage.get("is_byok") else None
    )
    return cost + (upstream or 0)
