"""What a provider counted for an answer, kept with the answer and read again after a restart."""

from __future__ import annotations

from collections.abc import Sequence

from ...context import SentHistory, TokenParts
from ...persistence import ApiRecord, CountedTokens
from ...providers import UsageReport

__all__ = ["counted_tokens", "recalled_report"]


def counted_tokens(asked: TokenParts, usage: UsageReport) -> CountedTokens:
    """What is kept with the answer to a request of these parts."""
    return CountedTokens(estimated=asked.messages, context=usage.context, output=usage.output)


def recalled_report(records: Sequence[ApiRecord], sent: SentHistory) -> UsageReport | None:
    """What was counted for the last answer of ``records``; None if what is ``sent`` before it is not what was sent then."""
    answer = next((record for record in reversed(records) if record.role == "assistant"), None)
    if answer is None or answer.counted is None:
        return None
    before = sent.tokens() - sent.tokens(sent.after_answer - 1)
    if before != answer.counted.estimated:
        return None
    return UsageReport(input=answer.counted.context, output=answer.counted.output)
