"""What one task's model is told of its surroundings: all in the system prompt and its first turn, later what changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...context import TokenCounter
from ...messages import RecalledItem
from ...persistence import ApiRecord, HistoryView
from ...providers import ToolSpec
from .._ports import EnvironmentText, Situation
from ..context_window.hidden_steps import REVERTED
from ..context_window.recorded_prompts import newest_prompt, prompt_text
from ..conversation.conversation import Conversation
from .environment_log import Reference, telling, told_tools, told_trust, whole
from .sections import Section

__all__ = ["EnvironmentBasis", "EnvironmentPrompt", "EnvironmentUpdate", "SystemPrompt"]


@dataclass(frozen=True)
class EnvironmentBasis:
    """The system prompt as it would be made now, and the dimensions it tells in full."""

    text: str
    tells: Sequence[Section] = ()
    is_folder_trusted: bool | None = None
    """Whether it may hold what the workspace says to the agent; None where that is no question."""


SystemPrompt = Callable[[Situation, str | None], Awaitable[EnvironmentBasis]]


class EnvironmentUpdate(Protocol):
    """Looks at how things are."""

    async def look(self, situation: Situation, *, everything: bool) -> Sequence[Section]:
        """The dimensions that are not in the system prompt; without ``everything`` those that cost nothing."""


class EnvironmentPrompt:
    """Keeps the system prompt as it is while it can, and knows what was told by reading the conversation."""

    def __init__(
        self,
        conversation: Conversation,
        workspace: str | None,
        prompt: SystemPrompt,
        surrounded: EnvironmentUpdate | None,
    ) -> None:
        self._conversation = conversation
        self._workspace = workspace
        self._prompt = prompt
        self._surrounded = surrounded
        self._changes = 0
        self._hidden = 0
        self._looked_at_all: int | None = None
        self._reference: Reference | None = None
        self._system: ApiRecord | None = None
        self._made_for: str | None = None
        self._folds: tuple[str, ...] | None = None
        self._tools: tuple[Sequence[ToolSpec], str] | None = None
        self._shown: tuple[int, str] | None = None

    async def environment(self, situation: Situation, *, spoken: bool) -> EnvironmentText | None:
        """What differs from what the model knows; None if there is nothing to say.

        Everything is looked at when the person has spoken, after a restart, and when something was hidden from the model;
        else what costs nothing.
        """
        standing = await self._prompt(situation, self._workspace)
        await self._settle(situation, standing)
        hidden = self._hidden
        everything = spoken or not self.is_told
        found = [*standing.tells]
        if self._surrounded is not None:
            found += await self._surrounded.look(situation, everything=everything)
        if everything:
            self._looked_at_all = hidden
        # What was added or hidden while it was looked at counts.
        counter = TokenCounter.of(situation.settings)
        return await telling(found, await self._known(), self._conversation.mask, counter)

    async def system_prompt(self, situation: Situation) -> str:
        """The system prompt of the next request."""
        await self._known()
        if self._system is None or told_tools(self._system) is None:
            await self._settle(situation, await self._prompt(situation, self._workspace))
            await self._known()
        assert self._system is not None
        if self._shown is None or self._shown[0] != self._system.seq:
            # The same text, not only an equal one: who counts its tokens need not do so again.
            self._shown = self._system.seq, prompt_text(self._system)
        return self._shown[1]

    async def recalled(self) -> Sequence[RecalledItem]:
        """What of the past the model was told, as far as it still knows that."""
        return (await self._known()).recalled

    @property
    def is_told(self) -> bool:
        """Whether nothing was hidden since everything was last looked at."""
        return self._looked_at_all == self._hidden

    def added(self, record: ApiRecord | None) -> bool:
        """A message was added, or marks changed which count; whether it is a system prompt in the place of another."""
        self._changes += 1
        if record is None:
            self._hidden += 1
        if record is None or record.role == "system":
            self._reference = None
        elif self._reference is not None:
            self._reference.take(record)
        return record is not None and record.role == "system" and self._system is not None

    async def _known(self) -> Reference:
        """What the model knows, by what it is sent. That is read once, and again when some of it was hidden."""
        while self._reference is None:
            changes = self._changes
            records = await self._conversation.history.api_history()
            self._system = await newest_prompt(self._conversation.log, self._conversation.history.view, records)
            said = [record for record in records if record.role != "system"]
            reference = Reference([*([self._system] if self._system is not None else []), *said])
            if changes == self._changes:
                self._reference = reference
        return self._reference

    # ---- the system prompt

    async def _settle(self, situation: Situation, standing: EnvironmentBasis) -> None:
        """Make the system prompt where there is none, or where the provider's cache is lost from its beginning anyway,
        or where it holds words of a workspace that is not trusted any more.

        Else it stays, and what differs is told behind all that was said: a new prompt would have the whole history written
        anew, at 1.25 of its price instead of 0.1. Tools stand before the prompt, so that where they change nothing is kept
        by keeping it; after a condensation there is little left to write.
        """
        await self._known()
        folds = _folds_of(self._conversation.history.view)
        is_folded = self._folds is not None and folds != self._folds
        recorded, tools = self._system, self._mark_of(situation.tools)
        if self._made_for is None and recorded is not None:
            self._made_for = told_tools(recorded)
        if recorded is None or self._made_for != tools or is_folded or _holds_untrusted(recorded, standing):
            text = await self._conversation.mask(standing.text)
            counter = TokenCounter.of(situation.settings)
            told = await whole(
                standing.tells,
                self._conversation.mask,
                counter,
                tools=tools,
                is_folder_trusted=standing.is_folder_trusted,
            )
            # Of the same words too: after a restart it must be known for which tools it was made.
            if recorded is None or told_tools(recorded) != tools or prompt_text(recorded) != text:
                await self._conversation.add_api("system", [{"type": "text", "text": text}], told=told)
        self._made_for, self._folds = tools, folds

    def _mark_of(self, tools: Sequence[ToolSpec]) -> str:
        """Something else for other tools. The same list is not looked through again."""
        if self._tools is None or self._tools[0] is not tools:
            said = json.dumps([[tool.name, tool.description, tool.parameters] for tool in tools], sort_keys=True)
            self._tools = tools, hashlib.blake2b(said.encode(), digest_size=8).hexdigest()
        return self._tools[1]


def _holds_untrusted(recorded: ApiRecord, standing: EnvironmentBasis) -> bool:
    """Whether it was made when the folder was trusted, or before that was asked, and the folder is not trusted now."""
    return standing.is_folder_trusted is False and told_trust(recorded) is not False


def _folds_of(view: HistoryView) -> tuple[str, ...]:
    """What hides the beginning of the conversation: when its newest step is hidden, all before that stays in the cache."""
    older = (mark for mark in view.truncations if not mark.truncation_id.startswith(REVERTED))
    return tuple(mark.id for mark in (*view.condenses, *older))
