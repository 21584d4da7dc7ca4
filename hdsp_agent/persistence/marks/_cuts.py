"""Which API messages a rewind, a truncation or a condensation hides: the rules, on the little they need of a message."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from .._records import ApiRecord, ApiRole
from ._marks import SeqRange
from ._spans import OPEN

__all__ = [
    "Head",
    "adjoining",
    "covered_by_summary",
    "fork_end",
    "hidden_by_rewind",
    "hidden_by_truncation",
    "rewind_cutoff",
]


class Head(NamedTuple):
    """What the rules ask of a message."""

    seq: int
    ts: int | None
    role: ApiRole

    @classmethod
    def of(cls, record: ApiRecord) -> Head:
        """The head of a record."""
        return cls(record.seq, record.ts, record.role)


def rewind_cutoff(heads: Sequence[Head], ts: int) -> int:
    """The time from which a rewind to ``ts`` drops API messages.

    An answer of the person may reach the UI log while the assistant's message is still being written. Then no API
    message has exactly this time, and the cut is at the first user message from it on: the assistant's message stays.
    """
    times = [head.ts for head in heads if head.ts is not None]
    if ts in times or not any(time < ts for time in times):
        return ts
    return next((head.ts for head in heads if head.ts is not None and head.ts >= ts and head.role == "user"), ts)


def hidden_by_rewind(heads: Iterable[Head], cutoff: int, api_end: int) -> list[SeqRange]:
    """The messages from the cutoff on; one without a time always stays."""
    ranges: list[SeqRange] = []
    begin: int | None = None
    last = 0
    for head in heads:
        if head.ts is not None and head.ts >= cutoff:
            begin = head.seq if begin is None else begin
        elif begin is not None:
            ranges.append((begin, last))
            begin = None
        last = head.seq
    if begin is not None:
        ranges.append((begin, api_end))
    return ranges


def hidden_by_truncation(
    heads: Sequence[Head], summary_seq: int | None, fraction: float
) -> tuple[list[int], int | None]:
    """Of the visible messages, in order: which a truncation hides, and the first one it keeps after them.

    The first message, or the summary, always stays. The number is even, so that calls and answers go together.
    """
    candidates = [head.seq for head in heads if head.role != "system" and head.seq != summary_seq]
    if summary_seq is None:
        candidates = candidates[1:]
    count = int(len(candidates) * fraction) // 2 * 2
    return candidates[:count], candidates[count] if count < len(candidates) else None


def covered_by_summary(heads: Iterable[Head], through: int, keep: Collection[int]) -> list[SeqRange]:
    """Everything up to ``through``, but for the system's messages and those to keep."""
    spared = sorted({head.seq for head in heads if head.role == "system" and head.seq <= through}.union(keep))
    ranges: list[SeqRange] = []
    first = 1
    for seq in [*spared, through + 1]:
        if first < seq:
            ranges.append((first, seq - 1))
        first = seq + 1
    return ranges


def fork_end(heads: Sequence[Head], ts: int, next_ts: int | None, *, from_person: bool) -> int:
    """The first sequence number that a fork at the UI message ``ts`` leaves behind.

    A message of the person ends where the model's answer to it begins; anything else, where a rewind to the message
    after it would cut.
    """
    if next_ts is None:
        return OPEN
    later = [head for head in heads if head.ts is not None and head.ts >= ts]
    if from_person:
        said = next((index for index, head in enumerate(later) if head.role == "user"), None)
        if said is not None:
            return next((head.seq for head in later[said:] if head.role == "assistant"), OPEN)
    cutoff = rewind_cutoff(heads, next_ts)
    return next((head.seq for head in later if head.ts is not None and head.ts >= cutoff), OPEN)


def adjoining(seqs: Iterable[int]) -> list[SeqRange]:
    """The numbers as ranges."""
    ranges: list[SeqRange] = []
    for seq in sorted(seqs):
        if ranges and ranges[-1][1] == seq - 1:
            ranges[-1] = (ranges[-1][0], seq)
        else:
            ranges.append((seq, seq))
    return ranges
