"""Keeping a conversation within its model's window: looked at before each request, and on the person's wish."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ..._background_tasks import BackgroundTasks
from ...context import (
    ContextMonitor,
    DegradationWatch,
    Meter,
    Pruner,
    PruningSettings,
    TokenCounter,
    TokenParts,
    condense_percent,
    meter,
    room_of,
)
from ...errors import Conflict, HdspAgentError
from ...messages import ApiMessage, JsonObject, ModelRoom
from ...persistence import CountedTokens
from ...providers import ModelClient, ModelError, ModelRequest, UsageReport, sealed_items
from ..conversation.conversation import text_block
from .condense_report import cleared_of, tell_cleared
from .condenser import Condenser, NotCondensed, Why
from .full_context import FullContext
from .provider_condensing import reads_all
from .tool_output_limit import LEAST_LOOKED_AT, fitted

if TYPE_CHECKING:
    from ..task.task_state import TaskState

__all__ = ["ContextWindow"]

_MOST_IN_VAIN: Final = 2
_CACHE_SECONDS: Final = 300
"""How long a provider keeps the beginnings of requests, if nobody asks for more."""
_ROOM_BESIDE: Final = 1.05
"""What a cheaper model must take in, beside the conversation itself."""


class ContextWindow:
    """Looks after what one task's model is sent. One thing at a time is done to it."""

    def __init__(self, state: TaskState) -> None:
        self._state = state
        self.one_at_a_time = asyncio.Lock()
        self._held = BackgroundTasks()
        self._in_vain = 0
        self._pruner: tuple[tuple[int | None, TokenCounter], Pruner] | None = None
        self._monitor: ContextMonitor | None = None
        self._asked: tuple[int, TokenParts] | None = None
        self.counted: CountedTokens | None = None
        """What the provider counted for the newest answer, for the log."""
        self._watch = DegradationWatch()
        self._lost = False
        self._windows: dict[str, int] = {}
        self._not_readable: int | None = None

    # ---- before and after a request

    async def request(self, client: ModelClient, answer_tokens: Callable[[], int | None]) -> ModelRequest:
        """The next request, after what had to be done so that the model takes it in.

        ``answer_tokens`` says how long the answer may be; it is asked last, for to make room may change that.
        """
        state = self._state
        plain = state.context.condensable(state)
        if plain is None:
            return await state.context.build(state, client.info, answer_tokens=answer_tokens())
        async with self.one_at_a_time:
            await self._make_room(plain, client)
            if not plain.is_told:
                # It was hidden since the turn began.
                await self._tell_surroundings(plain)
            await self._tell_how_full(plain, client)
            request = await plain.build(state, client.info, answer_tokens=answer_tokens())
            self._asked = plain.generation, plain.parts(request)
            return request

    async def answered(self, client: ModelClient, usage: UsageReport | None, answer: ApiMessage) -> None:
        """The model answered the last request."""
        self._lost = self._watch.has_degraded(answer) or self._lost
        self.counted = None
        state = self._state
        plain = state.context.condensable(state)
        if plain is None or self._asked is None:
            return
        generation, estimated = self._asked
        if plain.kept.state.profile != state.profile:
            await plain.kept.change(profile=state.profile)
        if usage is None or not client.info.counts_tokens:
            return
        state.services.calibration.observe(client.info.id, estimated=estimated.total, reported=usage.context)
        if generation == plain.generation:
            self.counted = plain.answered(estimated, usage)

    async def used(self, plain: FullContext, client: ModelClient) -> int:
        """The tokens of the next request, as far as they are known."""
        request = await plain.build(self._state, client.info, answer_tokens=None)
        return plain.used(request, self._state.services.calibration.factor(client.info.id))

    def meter(self, client: ModelClient, used: int) -> Meter | None:
        """How full the model's window is, if its size is known."""
        state, info = self._state, client.info
        window = self._window(client)
        if window is None:
            return None
        settings = state.settings
        percent = condense_percent(
            state.profile, general=settings.auto_condense_context_percent, by_profile=settings.profile_thresholds
        )
        return meter(used, window=window, answer=info.max_output, percent=percent)

    def room(self, client: ModelClient) -> ModelRoom:
        """How much the task's model takes in, as people are told it."""
        state = self._state
        return room_of(client.info, state.profile, state.settings, window=self._window(client))

    async def bounded(self, content: str | list[JsonObject]) -> str | list[JsonObject]:
        """What a tool says, cut in the middle if it would take most of the room that is left."""
        state = self._state
        plain = state.context.condensable(state)
        blocks = [text_block(content)] if isinstance(content, str) else content
        if plain is None or plain.counter.blocks(blocks) <= LEAST_LOOKED_AT:
            return content
        try:
            client = await state.client()
        except HdspAgentError:
            # There is no model just now; what it has room for is not known.
            return content
        full = self.meter(client, await self.used(plain, client))
        free = None if full is None else full.free
        return await fitted(blocks, free, state.conversation, plain.counter) or content

    def learn_window(self, tokens: int) -> None:
        """The provider said how large the window of the task's model is; it counts where nothing else is known."""
        self._windows[self._state.profile] = tokens

    def _window(self, client: ModelClient) -> int | None:
        return client.info.context_window or self._windows.get(self._state.profile)

    # ---- on the person's wish

    async def condense_now(self) -> None:
        """Condense, whatever the task is doing. Raises Conflict saying why it could not be done."""
        await self._held.finish(self._condense_now())

    async def _condense_now(self) -> None:
        state = self._state
        plain = state.context.condensable(state)
        if plain is None:
            raise Conflict("This model always sees a short version, so there is nothing to condense.")
        async with self.one_at_a_time:
            client = await state.client()
            try:
                await self._condense(plain, client, await self.used(plain, client))
            except NotCondensed as reason:
                raise Conflict(f"The conversation could not be condensed: {reason}") from reason
            self._in_vain = 0

    def give_up(self) -> None:
        """Do not go on with what the person wished for. Nothing is changed by what is not done."""
        self._held.cancel()

    async def stop(self) -> None:
        """Give up, and wait until that is over."""
        self.give_up()
        await self._held.drain()

    # ---- making room

    async def condense(self, client: ModelClient) -> bool:
        """Condense because the provider refused; whether the conversation is shorter now."""
        plain = self._state.context.condensable(self._state)
        if plain is None:
            return False
        async with self.one_at_a_time:
            try:
                await self._condense(plain, client, await self.used(plain, client))
            except NotCondensed:
                return False
            return True

    async def _make_room(self, plain: FullContext, client: ModelClient) -> None:
        state = self._state
        last = plain.kept.state.profile
        before = None if last is None or last == state.profile else await self._still_there(last)
        if last is not None and last != state.profile:
            plain.another_model()
            self._in_vain = 0
        used = await self._made_readable(plain, client, before, await self.used(plain, client))
        if await self._prune(plain, client, used):
            used = await self.used(plain, client)
        if self._lost and state.settings.auto_condense_context:
            # The model works on without a word since it was condensed: it has lost the thread.
            with suppress(NotCondensed):
                used = await self._condense(plain, client, used)
        full = self.meter(client, used)
        if full is None or not full.is_over_limit or not state.settings.auto_condense_context:
            self._in_vain = 0
            return
        window = full.window
        # A conversation that outgrew a smaller model is condensed by the one that holds it all.
        larger = before if before is not None and (before.info.context_window or 0) > window else None
        while self._in_vain < _MOST_IN_VAIN:
            try:
                used = await self._condense(plain, client, used, larger)
            except NotCondensed:
                self._in_vain += 1
                return
            full = self.meter(client, used) or full
            is_over = full.is_over_limit
            self._in_vain = self._in_vain + 1 if is_over else 0
            await self._tell_surroundings(plain)
            if not is_over:
                return

    async def _made_readable(
        self, plain: FullContext, client: ModelClient, before: ModelClient | None, used: int
    ) -> int:
        """Where a provider sealed what the model cannot read, have a summary written: by who reads it, else of the whole.

        Tried once. If it is in vain, the text that stands beside what is sealed has to do.
        """
        sent = await plain.sent(client.info)
        sealed = next((one.ts for one in sent.detailed() if sealed_items(one)), None)
        if sealed is None or sealed == self._not_readable:
            return used
        history = sent.messages
        if reads_all(client, history):
            return used
        self._not_readable = sealed
        by = before if before is not None and reads_all(before, history) else None
        with suppress(NotCondensed):
            return await self._condense(plain, client, used, by or client, why="anew" if by is None else "readable")
        return used

    async def _condense(
        self,
        plain: FullContext,
        own: ModelClient,
        used: int,
        larger: ModelClient | None = None,
        *,
        why: Why = "room",
    ) -> int:
        """Condense; the size from now on."""
        state = self._state
        history = await plain.history(own.info)
        by = larger or await self._cheaper(own, used, history)
        could_read = reads_all(by, history)
        if self._lost:
            why, self._lost = "anew", False
        try:
            done = await Condenser(state, plain).condense(own, by, used=used, why=why)
        except NotCondensed as error:
            # Another model may be gone, though its profile is there. Or only now the provider refused what it had sealed,
            # so that is not what a summary can be made of.
            gone = by is not own and isinstance(error.__cause__, ModelError)
            refused = why != "anew" and could_read and not reads_all(by, history)
            if not gone and not refused:
                raise
            again: Why = "anew" if refused or not reads_all(own, history) else why
            done = await Condenser(state, plain).condense(own, own, used=used, why=again)
        self._watch.condensed(done.messages)
        return done.tokens

    async def _cheaper(self, own: ModelClient, used: int, history: Sequence[ApiMessage]) -> ModelClient:
        """The model that writes summaries by the settings, if it takes all of it in and can read it; else the task's own."""
        wanted = self._state.settings.condensing_api_config_id
        client = None if wanted is None else await self._still_there(wanted)
        if client is None or not reads_all(client, history):
            return own
        window = client.info.context_window
        return client if window is None or used * _ROOM_BESIDE < window else own

    async def _still_there(self, profile: str) -> ModelClient | None:
        """The model of a profile that may have been deleted, or may not be usable any more."""
        models = self._state.services.models
        if models.settings_of(profile) is None:
            return None
        try:
            return await models.client(profile)
        except HdspAgentError:
            return None

    async def _prune(self, plain: FullContext, client: ModelClient, used: int) -> bool:
        """Clear old outputs of tools where that pays; whether any were."""
        window = self._window(client)
        if self._pruner is None or self._pruner[0] != (window, plain.counter):
            self._pruner = (window, plain.counter), Pruner(PruningSettings.for_window(window), plain.counter)
        sent = await plain.sent(client.info)
        messages = sent.messages
        answered = next((message.ts for message in reversed(messages) if message.role == "assistant"), None)
        cold = answered is not None and time.time() - answered / 1000 > _CACHE_SECONDS
        if not self._pruner[1].is_due(used, cold=cold):
            return False
        # Thousands of outputs take long to look at.
        plan = await asyncio.to_thread(self._pruner[1].plan, messages, used, cold=cold)
        if plan is None or await plain.sent(client.info) is not sent:
            # What it was made for is not what is sent any more.
            return False
        cleared = cleared_of(messages, plan.stubs, plan.gain, "old")
        await plain.clear_results(plan.stubs)
        await tell_cleared(self._state.conversation, cleared, used)
        self._state.logger.info("Cleared %d old outputs, about %d tokens", len(plan.stubs), plan.gain)
        return True

    async def _tell_surroundings(self, plain: FullContext) -> None:
        """Tell again what went of it."""
        surroundings = await plain.environment(self._state, spoken=False)
        if surroundings is not None:
            await self._state.conversation.add_api("user", [text_block(surroundings.text)], told=surroundings.told)

    async def _tell_how_full(self, plain: FullContext, client: ModelClient) -> None:
        """Tell the agent once, when its window becomes full."""
        if "context-window-monitor" in self._state.settings.disabled_hooks:
            return
        if self._monitor is None:
            self._monitor = ContextMonitor(issued=plain.kept.state.issued)
        notice = self._monitor.observe(await self.used(plain, client), self._window(client))
        if notice is None:
            return
        await plain.kept.change(issued=sorted(self._monitor.issued))
        self._state.services.on_notice(self._state.task_id, notice.kind, notice.percent)
        await self._state.conversation.add_api("user", [text_block(notice.text)])
