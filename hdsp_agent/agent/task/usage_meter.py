"""What a task has used: tokens, cost and tools, counted from its own messages so that a restart forgets nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import ValidationError

from ...events import ROO_TOOLS, roo_usage
from ...messages import ApiProtocol, ClineApiReqInfo, ClineMessage, TokenUsage, ToolCounts, ToolUsage
from ...persistence import ModelUse
from ...providers import KnownModel, UsageReport, cost_of

__all__ = ["UsageMeter", "request_info", "request_of", "with_request"]


def request_info(
    protocol: ApiProtocol, info: KnownModel, usage: UsageReport | None, **more: str | None
) -> ClineApiReqInfo:
    """What an ``api_req_started`` message says. Clients expect cached tokens within ``tokensIn`` for OpenAI's protocol."""
    known = ClineApiReqInfo.model_validate({"api_protocol": protocol, **more})
    if usage is None:
        return known
    return known.model_copy(
        update={
            "tokens_in": usage.context if protocol == "openai" else usage.input,
            "tokens_out": usage.output,
            "cache_writes": usage.cache_write,
            "cache_reads": usage.cache_read,
            "cost": cost_of(info, usage),
        }
    )


def request_of(message: ClineMessage) -> ClineApiReqInfo | None:
    """What an ``api_req_started`` message says, if it is one and can be read."""
    if message.say != "api_req_started":
        return None
    try:
        return ClineApiReqInfo.model_validate_json(message.text or "{}")
    except ValidationError:
        return None


def with_request(use: Sequence[ModelUse], model: str, request: ClineApiReqInfo) -> list[ModelUse]:
    """What was used by day and model, with one more request, of today."""
    today = datetime.now().astimezone().date().isoformat()
    cached = 0 if request.api_protocol == "openai" else (request.cache_writes or 0) + (request.cache_reads or 0)
    more = ModelUse(
        day=today,
        model=model,
        requests=1,
        tokens_in=(request.tokens_in or 0) + cached,
        tokens_out=request.tokens_out or 0,
        cost=request.cost or 0.0,
    )
    known = next((one for one in use if (one.day, one.model) == (today, model)), None)
    return [*(one for one in use if one is not known), more if known is None else known.plus(more)]


@dataclass
class UsageMeter:
    """The sums so far."""

    tokens_in: int = 0
    tokens_out: int = 0
    cache_writes: int = 0
    cache_reads: int = 0
    cost: float = 0.0
    context_tokens: int = 0
    requests: int = 0
    tools: dict[str, ToolCounts] = field(default_factory=dict)

    def add(self, request: ClineApiReqInfo) -> None:
        """One more request."""
        tokens_in, tokens_out = request.tokens_in or 0, request.tokens_out or 0
        writes, reads = request.cache_writes or 0, request.cache_reads or 0
        self.requests += 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.cache_writes += writes
        self.cache_reads += reads
        self.cost += request.cost or 0.0
        cached = 0 if request.api_protocol == "openai" else writes + reads
        # A server that reports nothing leaves what was known before.
        self.context_tokens = tokens_in + tokens_out + cached or self.context_tokens

    def condensed(self, cost: float, tokens: int) -> None:
        """The conversation was condensed to this size."""
        self.cost += cost
        self.context_tokens = tokens

    def tried(self, tool: str, *, failed: bool) -> None:
        """A tool ran."""
        before = self.tools.get(tool, ToolCounts(attempts=0, failures=0))
        self.tools[tool] = ToolCounts(attempts=before.attempts + 1, failures=before.failures + failed)

    @property
    def total_tokens(self) -> int:
        """All tokens."""
        return self.tokens_in + self.tokens_out

    def tokens(self) -> TokenUsage:
        """The sums as clients know them."""
        return TokenUsage(
            total_tokens_in=self.tokens_in,
            total_tokens_out=self.tokens_out,
            total_cache_writes=self.cache_writes,
            total_cache_reads=self.cache_reads,
            total_cost=self.cost,
            context_tokens=self.context_tokens,
        )

    def tool_usage(self) -> ToolUsage:
        """The tools under names that clients of Roo Code's types know."""
        return roo_usage(self.tools)

    def own_tools(self) -> ToolUsage | None:
        """The tools under their own names, if those clients do not know them all."""
        return None if self.tools.keys() <= ROO_TOOLS else dict(self.tools)
