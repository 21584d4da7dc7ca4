"""What the model sees: the system prompt, the history, and the surroundings when they have changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ...context import (
    SentHistory,
    TokenCounter,
    TokenParts,
    has_thoughts,
    used_tokens,
    within_picture_total,
    without_blanks,
)
from ...messages import ApiMessage, ClineMessage, ContextTruncation, RecalledItem
from ...persistence import ApiRecord, CountedTokens
from ...providers import KnownModel, ModelRequest, ToolSpec, UsageReport
from .._ports import EnvironmentText, Situation
from ..conversation.conversation import Conversation
from ..environment.environment_prompt import EnvironmentPrompt, EnvironmentUpdate, SystemPrompt
from .hidden_steps import words_to_spare
from .model_history import Places, most_picture_bytes, sent_history, take
from .persisted_context import PersistedContext, Stub

__all__ = ["FullContext"]

_LEAST_CREDIBLE: Final = 0.5
"""Of the estimate. A server that counts less has left some of it out, and says nothing about the size."""
_OVERFLOWS: Final = frozenset({"overflow", "overflow_output_budget", "payload_too_large", "tpm_request_too_large"})


class FullContext:
    """See ``ContextPort``. Every request is the one before with something added, so that the provider's cache holds."""

    def __init__(
        self,
        conversation: Conversation,
        workspace: str | None,
        *,
        prompt: SystemPrompt,
        surrounded: EnvironmentUpdate | None = None,
    ) -> None:
        self._conversation = conversation
        self._sent: SentHistory | None = None
        self._images = True
        self._changes = 0
        self.generation = 0
        """Another number whenever requests are no longer the one before with something added."""
        self._places: Places = {}
        self._fixed: tuple[str, Sequence[ToolSpec], int, int] | None = None
        self._report: UsageReport | None = None
        self.counter = TokenCounter()
        """Counts as the task's settings want it."""
        self.kept: Final = PersistedContext(conversation.log)
        self._told: Final = EnvironmentPrompt(conversation, workspace, prompt, surrounded)
        conversation.on_api(self._added)

    # ---- the surroundings

    async def environment(self, situation: Situation, *, spoken: bool) -> EnvironmentText | None:
        """What differs from what the model knows of its surroundings; None if there is nothing to say."""
        return await self._told.environment(situation, spoken=spoken)

    async def recalled(self) -> Sequence[RecalledItem]:
        """What of the past the model was told, as far as it still knows that."""
        return await self._told.recalled()

    @property
    def is_told(self) -> bool:
        """Whether nothing was hidden since the model was last told of its surroundings."""
        return self._told.is_told

    # ---- requests

    async def build(self, situation: Situation, info: KnownModel, *, answer_tokens: int | None) -> ModelRequest:
        """The next request."""
        self._count_as(TokenCounter.of(situation.settings))
        system, sent = await self._told.system_prompt(situation), await self.sent(info)
        return ModelRequest(
            system=system,
            messages=within_picture_total(sent.messages, most_picture_bytes(situation.settings), sent.pictures()),
            tools=situation.tools,
            max_output=answer_tokens,
            cache_key=situation.task_id,
        )

    async def history(self, info: KnownModel) -> Sequence[ApiMessage]:
        """The conversation as requests hold it, neighbours of the person's in one message."""
        return (await self.sent(info)).messages

    async def sent(self, info: KnownModel) -> SentHistory:
        """The same, with what is known of its size."""
        images = info.supports_images and not self.kept.state.without_pictures
        if images != self._images:
            self._images, self._sent = images, None
        while self._sent is None:
            changes = self._changes
            self._places = {}
            records = await self._conversation.history.api_history()
            built = await self.sent_of(records, info, places=self._places)
            # What was added or hidden meanwhile is not in it.
            self._sent = built if changes == self._changes else None
            if self.generation == 0:
                # Nothing was asked yet since the restart.
                self._report = _recalled_report(records, built)
        return self._sent

    async def sent_of(
        self, records: Iterable[ApiRecord], info: KnownModel, *, places: Places | None = None
    ) -> SentHistory:
        """These records as requests to a model hold them."""
        return await sent_history(
            records, self.kept.state, images=info.supports_images, counter=self.counter, places=places
        )

    def _added(self, record: ApiRecord | None) -> None:
        self._changes += 1
        is_new_prompt = self._told.added(record)
        if record is None or is_new_prompt:
            self._broken_off()
        if record is None:
            self._sent = None
        elif self._sent is not None:
            take(self._sent, record, None, self._places)

    # ---- its size

    def parts(self, request: ModelRequest) -> TokenParts:
        """The estimate of a request of ``build``, part by part. What was counted before is not counted again."""
        assert self._sent is not None
        fixed = self._fixed
        if fixed is None or fixed[0] is not request.system or fixed[1] is not request.tools:
            counter = self.counter
            fixed = request.system, request.tools, counter.text(request.system), counter.tools(request.tools)
            self._fixed = fixed
        return TokenParts(fixed[2], fixed[3], self._sent.tokens())

    def used(self, request: ModelRequest, factor: float) -> int:
        """How many tokens a request of ``build`` has; ``factor`` is the model's calibration."""
        parts, sent = self.parts(request), self._sent
        assert sent is not None
        after = 0 if self._report is None else sent.tokens(sent.after_answer)
        return used_tokens(self._report, after, parts.total, factor)

    def answered(self, estimated: TokenParts, usage: UsageReport) -> CountedTokens | None:
        """The model took a request that was estimated at so many tokens, and counted these; None if that is not credible."""
        credible = usage.context >= estimated.total * _LEAST_CREDIBLE
        self._report = usage if credible else None
        if not credible:
            return None
        return CountedTokens(estimated=estimated.messages, context=usage.context, output=usage.output)

    def another_model(self) -> None:
        """What the last one counted says nothing about what the next will."""
        self._report = None

    def _count_as(self, counter: TokenCounter) -> None:
        if counter != self.counter:
            self.counter, self._fixed, self._sent = counter, None, None

    # ---- making it smaller

    async def clear_results(self, stubs: Mapping[str, str]) -> None:
        """From now on, and after a restart too, send these texts instead of the results of these calls."""
        assert self._sent is not None
        places = {self._places[id]: text for id, text in stubs.items()}
        known = [stub for stub in self.kept.state.stubs if (stub.seq, stub.place) not in places]
        new = [Stub(seq=seq, place=place, text=text) for (seq, place), text in places.items()]
        await self.kept.change(stubs=[*known, *new])
        if self._sent is not None:
            self._sent.clear_results(stubs)
        self._broken_off()

    async def leave_out_pictures(self) -> bool:
        """From now on send no pictures; whether that is anything new."""
        if self.kept.state.without_pictures:
            return False
        await self.kept.change(without_pictures=True)
        self._broken_off()
        return True

    async def leave_out_blanks(self, info: KnownModel) -> int | None:
        """From now on send a word in the place of what is empty; in how many messages, and None if that is not new."""
        if self.kept.state.without_blanks:
            return None
        filled = sum(without_blanks(message) is not message for message in await self.history(info))
        await self.kept.change(without_blanks=True)
        self.begin_anew()
        return filled

    async def leave_out_thoughts(self, info: KnownModel) -> bool:
        """Send none of the thoughts there are so far; whether that is anything new."""
        answered = [message for message in await self.history(info) if message.role == "assistant"]
        newest = max((message.ts or 0 for message in answered if has_thoughts(message)), default=0)
        if newest <= self.kept.state.thoughts_after:
            return False
        await self.kept.change(thoughts_after=newest)
        self.begin_anew()
        return True

    def begin_anew(self) -> None:
        """Build the history from the log once more."""
        self._sent = None
        self._broken_off()

    def _broken_off(self) -> None:
        self._report = None
        self.generation += 1

    def condensable(self, situation: Situation) -> FullContext | None:
        """All of it."""
        return self

    async def recover(self, situation: Situation, kind: str) -> bool:
        """Hide the older half of what the model sees, but for what the person said."""
        if kind not in _OVERFLOWS:
            return False
        before, history = await self._size(), self._conversation.history
        spared = words_to_spare(await history.api_history(), self.counter)
        async with self._conversation.log.new_message() as event_ts:
            mark = await history.truncate(truncation_id=f"truncation-{event_ts}", event_ts=event_ts, spared=spared)
            if mark is None:
                return False
            self._conversation.history_changed()
            truncation = ContextTruncation(
                truncation_id=mark.truncation_id,
                messages_removed=mark.count,
                prev_context_tokens=before,
                new_context_tokens=await self._size(),
                mark_id=mark.id,
            )
            await self._conversation.create(
                ClineMessage(ts=event_ts, type="say", say="sliding_window_truncation", context_truncation=truncation)
            )
        return True

    # ---- inside

    async def _size(self) -> int:
        """The estimate of all that is sent of the conversation just now."""
        records = await self._conversation.history.api_history()
        sent = await sent_history(records, self.kept.state, images=self._images, counter=self.counter)
        return sent.tokens()


def _recalled_report(records: Sequence[ApiRecord], sent: SentHistory) -> UsageReport | None:
    """What was counted for the last answer of ``records``; None if what is ``sent`` before it is not what was sent then."""
    answer = next((record for record in reversed(records) if record.role == "assistant"), None)
    if answer is None or answer.counted is None:
        return None
    before = sent.tokens() - sent.tokens(sent.after_answer - 1)
    if before != answer.counted.estimated:
        return None
    return UsageReport(input=answer.counted.context, output=answer.counted.output)
