"""Calls and their results, which only ever go together."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TypeAlias

from ..messages import ApiMessage, JsonObject
from ..persistence import INTERRUPTED
from ._content_blocks import content_blocks, string_of

__all__ = ["Calls", "closed_turn"]

Calls: TypeAlias = Sequence[tuple[str, str]]
"""The ids of an answer's calls: as the model gave them, and as they are sent."""


def closed_turn(
    asked: Sequence[tuple[ApiMessage, Calls]], said: Sequence[ApiMessage], known: Container[str] = ()
) -> list[ApiMessage]:
    """Answers of the model and what followed them: every call with its result right behind, and no other results.

    A call nobody answered is answered as interrupted, in the words the store uses, so that a conversation that is taken
    up again is sent as it was before. ``known`` are the ids of all calls so far.
    """
    if len(asked) == 1 and len(said) == 1 and _is_whole(asked[0][1], said[0]):
        return [asked[0][0], said[0]]
    results, rest = _sorted_out(asked, said, known)
    turn: list[ApiMessage] = []
    for place, (message, calls) in enumerate(asked):
        turn.append(message)
        answers = [results.get(sent) or _interrupted(sent) for _, sent in calls]
        if answers and place < len(asked) - 1:
            turn.append(_results_message(answers, said))
        elif answers:
            rest = _with_results(answers, rest, said)
    return turn + _merged(rest)


def _is_whole(calls: Calls, message: ApiMessage) -> bool:
    """Whether the results in a message are just those of the calls, in order and before all else."""
    content = message.content
    if isinstance(content, str):
        return not calls
    place = 0
    # Nearly every turn of a conversation comes by here, so it is a plain loop.
    for block in content:
        if block.get("type") == "tool_result":
            if place >= len(calls) or calls[place] != (id := block.get("tool_use_id"), id):
                return False
            place += 1
        elif place < len(calls):
            return False
    return place == len(calls)


def _sorted_out(
    asked: Sequence[tuple[ApiMessage, Calls]], said: Sequence[ApiMessage], known: Container[str]
) -> tuple[dict[str, JsonObject], list[ApiMessage]]:
    """The results by the ids they are sent with, and the messages without any; the first result of a call counts.

    A result under an id that no call ever had is that of the first call here that has none: its place tells.
    """
    waiting: dict[str, list[str]] = {}
    for _, calls in asked:
        for given, sent in calls:
            waiting.setdefault(given, []).append(sent)
    results: dict[str, JsonObject] = {}
    strays: list[JsonObject] = []
    rest: list[ApiMessage] = []
    for message in said:
        others: list[JsonObject] = []
        blocks = content_blocks(message)
        for block in blocks:
            if block.get("type") != "tool_result":
                others.append(block)
            elif free := waiting.get(string_of(block, "tool_use_id")):
                sent = free.pop(0)
                results[sent] = block if block.get("tool_use_id") == sent else {**block, "tool_use_id": sent}
            elif string_of(block, "tool_use_id") not in known:
                strays.append(block)
        if len(others) == len(blocks):
            rest.append(message)
        elif others:
            rest.append(message.model_copy(update={"content": others}))
    without = [sent for _, calls in asked for _, sent in calls if sent not in results]
    results.update((sent, {**block, "tool_use_id": sent}) for sent, block in zip(without, strays, strict=False))
    return results, rest


def _with_results(answers: list[JsonObject], rest: list[ApiMessage], said: Sequence[ApiMessage]) -> list[ApiMessage]:
    first = rest[0] if rest else None
    if first is None or first.is_summary or first.is_truncation_marker:
        return [_results_message(answers, said), *rest]
    return [first.model_copy(update={"content": [*answers, *content_blocks(first)]}), *rest[1:]]


def _results_message(answers: list[JsonObject], said: Sequence[ApiMessage]) -> ApiMessage:
    ts = next((message.ts for message in said if _result_ids(message)), None)
    return ApiMessage.model_construct(role="user", content=answers, ts=ts)


def _merged(messages: Sequence[ApiMessage]) -> list[ApiMessage]:
    """Neighbours of the person's as one. A summary begins a new message, the marker of a truncation stands alone."""
    merged: list[ApiMessage] = []
    for message in messages:
        last = merged[-1] if merged else None
        if last is None or last.is_truncation_marker or message.is_summary or message.is_truncation_marker:
            merged.append(message)
        else:
            content = [*content_blocks(last), *content_blocks(message)]
            merged[-1] = last.model_copy(update={"content": content})
    return merged


def _interrupted(id: str) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": id, "content": INTERRUPTED}


def _result_ids(message: ApiMessage) -> list[str]:
    if isinstance(message.content, str):
        return []
    return [string_of(block, "tool_use_id") for block in message.content if block.get("type") == "tool_result"]
