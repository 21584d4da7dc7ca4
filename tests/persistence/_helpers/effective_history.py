"""What the model is sent of a whole log at once, to compare with: calls and answers kept together, hidden parts left out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from hdsp_agent.messages import ApiMessage, JsonObject
from hdsp_agent.persistence import INTERRUPTED, ApiRecord
from hdsp_agent.persistence._records import estimated_tokens
from hdsp_agent.persistence.exchange._roo_layout import RooHead, roo_lines, roo_message
from hdsp_agent.persistence.marks._histories import in_force
from hdsp_agent.persistence.marks._marks import AnyMark
from hdsp_agent.persistence.marks._replay import HistoryView, Marker, replay
from hdsp_agent.persistence.marks._spans import OPEN


def effective_api(api: Sequence[ApiRecord], marks: Iterable[AnyMark]) -> list[ApiRecord]:
    """The messages the model is sent: paired, in order, with at most one summary.

    Markers of truncations, and answers put in for tool calls that have none, are in no log: their ``seq`` is 0.
    """
    return list(whole_pairs(visible_api(api, replay(marks))))


def visible_api(api: Sequence[ApiRecord], view: HistoryView) -> Iterator[ApiRecord]:
    """The records of the log, which is in order of ``seq``, that a view shows, and the markers; calls may lack answers."""
    seqs = [record.seq for record in api]

    def parts() -> Iterator[ApiRecord | Marker]:
        for piece in view.api_pieces():
            if isinstance(piece, Marker):
                yield piece
            else:
                end = len(seqs) if piece.last == OPEN else bisect_left(seqs, piece.last + 1)
                yield from api[bisect_left(seqs, piece.first) : end]

    return in_force(parts(), view)


def roo_messages(api: Sequence[ApiRecord], marks: Iterable[AnyMark]) -> list[ApiMessage]:
    """The messages as Roo Code's file has them, all at once."""
    records = {record.seq: record for record in api}
    return [roo_message(line, records.get(line.head.seq)) for line in roo_lines(map(RooHead.of, api), replay(marks))]


def whole_pairs(records: Iterable[ApiRecord]) -> Iterator[ApiRecord]:
    """The same records with every tool call answered once, in the turn after it, and no answer without its call.

    A record is left out when nothing but stray answers was in it. A record that was added has ``seq`` 0: no log has it.
    """
    turn: list[ApiRecord] = []
    answers: list[ApiRecord] = []
    for record in records:
        if record.role != "assistant":
            answers.append(record)
            continue
        if answers:
            yield from _answered(turn, answers)
            turn, answers = [], []
        turn.append(record)
        yield record
    yield from _answered(turn, answers)


def _answered(turn: list[ApiRecord], answers: list[ApiRecord]) -> list[ApiRecord]:
    calls = [call for record in turn for call in _calls(record)]
    missing = set(calls)
    kept = []
    for record in answers:
        strays = _strays(record, missing)
        if not strays:
            kept.append(record)
        elif len(strays) < len(record.content):
            rest = [block for index, block in enumerate(_blocks(record)) if index not in strays]
            kept.append(_with_content(record, rest))
    if not missing:
        return kept
    return _with_answers(turn[-1], kept, [call for call in dict.fromkeys(calls) if call in missing])


def _strays(record: ApiRecord, missing: set[str]) -> list[int]:
    """Which blocks answer what nobody waits for; what the others answer is no longer missing."""
    strays = []
    for index, block in enumerate(_blocks(record)):
        if block.get("type") == "tool_result":
            call = block.get("tool_use_id")
            if isinstance(call, str) and call in missing:
                missing.remove(call)
            else:
                strays.append(index)
    return strays


def _with_answers(asked: ApiRecord, answers: list[ApiRecord], missing: list[str]) -> list[ApiRecord]:
    """The answers with those that are missing before all else, as providers want them."""
    results: list[JsonObject] = [
        {"type": "tool_result", "tool_use_id": call, "content": INTERRUPTED} for call in missing
    ]
    index = next((index for index, record in enumerate(answers) if record.role != "system"), len(answers))
    first = answers[index] if index < len(answers) else None
    if first is None or first.role != "user" or first.is_summary or first.is_truncation_marker:
        added = ApiRecord.model_construct(
            seq=0,
            role="user",
            content=results,
            timestamp=asked.timestamp,
            token_count=estimated_tokens(results),
        )
        return [*answers[:index], added, *answers[index:]]
    said: list[JsonObject] = (
        [{"type": "text", "text": first.content}] if isinstance(first.content, str) else first.content
    )
    return [*answers[:index], _with_content(first, [*results, *said]), *answers[index + 1 :]]


def _with_content(record: ApiRecord, content: list[JsonObject]) -> ApiRecord:
    return record.model_copy(update={"content": content, "token_count": estimated_tokens(content)})


def _calls(record: ApiRecord) -> list[str]:
    return [str(block.get("id")) for block in _blocks(record) if block.get("type") == "tool_use"]


def _blocks(record: ApiRecord) -> list[JsonObject]:
    return [] if isinstance(record.content, str) else record.content
