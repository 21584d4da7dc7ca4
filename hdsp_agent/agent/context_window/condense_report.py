"""What a person is told of what the model does not see any more: what was kept, what was dropped, what was cleared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ...context import Carried, Speaker, TokenCounter
from ...messages import (
    ApiMessage,
    ClineMessage,
    ContextCleared,
    ContextDropped,
    ContextKept,
    ContextTruncation,
    JsonObject,
)

if TYPE_CHECKING:
    from ..conversation.conversation import Conversation

__all__ = ["CondenseReport", "account_of", "cleared_of", "tell_cleared"]

_Kind: TypeAlias = Literal[
    "messages", "requests", "goals", "decisions", "todos", "constraints", "files", "cells", "variables", "commands"
]
_MOST_SHOWN: Final = 20
_LONGEST_SHOWN: Final = 200


@dataclass(frozen=True)
class CondenseReport:
    """Of a condensation. The summary itself holds all that was carried; here are the beginnings, to be looked at."""

    kept: list[ContextKept]
    dropped: ContextDropped


def account_of(
    messages: Sequence[ApiMessage], whole: Sequence[int], carried: Carried, counter: TokenCounter
) -> CondenseReport:
    """What becomes of these messages, of which those at the indexes ``whole`` stay as they are."""
    speaker, stays = Speaker(messages), frozenset(whole)
    parts: list[tuple[_Kind, Sequence[str]]] = [
        ("messages", [speaker.words(messages[index]) for index in whole]),
        ("requests", carried.requests),
        ("goals", carried.goals),
        ("constraints", carried.constraints),
        ("decisions", carried.decisions),
        ("todos", carried.todos),
        ("files", carried.files),
        ("cells", carried.cells),
        ("variables", carried.variables),
        ("commands", carried.commands),
    ]
    gone = [message for index, message in enumerate(messages) if index not in stays]
    return CondenseReport(
        [_kept(kind, items) for kind, items in parts if items],
        ContextDropped(
            messages=sum(not message.is_summary for message in gone),
            outputs=sum(block.get("type") == "tool_result" for block in _blocks(gone)),
            tokens=counter.messages(gone),
        ),
    )


def cleared_of(
    messages: Sequence[ApiMessage], calls: Iterable[str], tokens: int, reason: Literal["old", "too_long"]
) -> ContextCleared:
    """The outputs of these calls are not sent any more, which saves so many tokens."""
    names = {str(block.get("id")): str(block.get("name")) for block in _blocks(messages) if "name" in block}
    tools = Counter(names.get(call, "") for call in calls)
    return ContextCleared(reason=reason, outputs=tools.total(), tokens=tokens, tools=dict(tools.most_common()))


async def tell_cleared(conversation: Conversation, cleared: ContextCleared, used: int) -> None:
    """Tell it in a row of its own; ``used`` are the tokens of the request before."""
    async with conversation.log.new_message() as ts:
        truncation = ContextTruncation(
            truncation_id=f"cleared-{ts}",
            messages_removed=0,
            prev_context_tokens=used,
            new_context_tokens=max(0, used - cleared.tokens),
            cleared=cleared,
        )
        await conversation.create(
            ClineMessage(ts=ts, type="say", say="sliding_window_truncation", context_truncation=truncation)
        )


def _kept(kind: _Kind, items: Sequence[str]) -> ContextKept:
    return ContextKept(kind=kind, count=len(items), items=[_short(item) for item in items[:_MOST_SHOWN]])


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_SHOWN else f"{line[: _LONGEST_SHOWN - 1]}…"


def _blocks(messages: Iterable[ApiMessage]) -> Iterable[JsonObject]:
    for message in messages:
        yield from () if isinstance(message.content, str) else message.content
