"""Asking the model once: limits before, trying again after a failure, and an account of it in the conversation."""

from __future__ import annotations

import asyncio
import json
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ...errors import Conflict, HdspAgentError, StorageUnavailable
from ...events import ModelRequestEnded
from ...messages import (
    ClineApiReqCancelReason,
    ClineMessage,
    EndingReason,
    JsonObject,
    ModelFailure,
    ModelFailureParts,
    ModelRoom,
    TaskTokenUsageUpdated,
)
from ...providers import ModelClient, ModelError, ModelRequest, UsageReport, classify, cost_of
from .._local_providers import place_on_this_machine
from ..context_window import ErrorRecovery
from ..conversation.conversation import NOT_YET, text_block
from ..conversation.user_text import CUT_OFF
from .answer_stream import AnswerStream
from .outcomes import TaskStopped
from .recorded_state import SERVER_STOPPED
from .retry import backoff_seconds, count_down, may_retry
from .task_limits import reached_limit
from .truncation_detector import TruncationDetector
from .usage_meter import request_info, with_request

if TYPE_CHECKING:
    from ..context_window import ContextWindow
    from ..conversation.user_input import PendingUserInput
    from .answer_stream import Preview
    from .task_state import TaskState

__all__ = ["ModelRequests"]

NO_ANSWER: Final = "MODEL_NO_ASSISTANT_MESSAGES"
_NO_ANSWER_TEXT: Final = (
    "The model gave no answer. Its server may be overloaded, or the conversation may be too long for it."
)
_LEFT_OUT: Final = (
    "The server of {model} seems to leave out part of the conversation: at least {sent} tokens were sent, and it counts "
    "{counted}. The model does not know what is left out. Give it a larger context window (with Ollama: Context window "
    "(tokens) in the profile), or start a new conversation."
)
_LONGEST_RAW: Final = 500


@dataclass
class _Tries:
    """What was tried in vain for one answer."""

    failures: int = 0
    empty: int = 0


class ModelRequests:
    """Asks the model for one task."""

    def __init__(self, state: TaskState, window: ContextWindow, user_input: PendingUserInput, preview: Preview) -> None:
        self._state = state
        self._window = window
        self._user_input = user_input
        self._preview = preview
        self._cuts = TruncationDetector()
        self._recovery = ErrorRecovery(state, window)
        self._began = 0.0
        self._is_counted = False
        """Whether the last request was: one that was answered may be cut off all the same before its answer is worked with."""
        self.room: ModelRoom | None = None
        """What the model takes in, once it was asked."""

    async def answer(self) -> AnswerStream:
        """A whole answer with something in it. Raises Stopped if the person does not want to try again."""
        tries = _Tries()
        self._recovery.begin()
        while True:
            await self._stay_within_limits()
            stream = await self._try(tries)
            if stream is None:
                continue
            if stream.answer.calls or stream.answer.text.strip():
                self._recovery.answered()
                return stream
            await self._after_nothing(tries)

    async def _try(self, tries: _Tries) -> AnswerStream | None:
        state = self._state
        stream = AnswerStream(state.conversation, self._preview, lambda usage: None, state.services.gathering)
        started: ClineMessage | None = None
        client: ModelClient | None = None
        try:
            client = await state.client()
            self.room = self._window.room(client)
            request = await self._window.request(client, lambda: self._recovery.answer_tokens)
            await self._space()
            started = await self._tell_started(client)
            began = self._began = time.monotonic()
            self._is_counted = False
            self._note_where()
            await state.cancellation.run(stream.take(client.stream(request)), f"Model request of task {state.task_id}")
            if stream.answer.stop == "refusal":
                raise ModelError(
                    "The model declined to answer this.", kind="content_filter", provider=client.info.provider
                )
            await self._tell_ended(started, client, stream, time.monotonic() - began)
            await self._tell_left_out(request, client, stream.answer.usage)
            await self._window.answered(client, stream.answer.usage, stream.answer.message(stream.first_ts or 0))
            for ts in stream.shown_in_vain:
                await state.withdraw_question(ts)
            return stream
        except asyncio.CancelledError:
            await self._cut_off(started, client, stream)
            raise
        except Exception as error:
            failure = error if isinstance(error, ModelError) else _classified(error, client)
            if failure is None:
                raise
            await self._tell_failed(started, client, stream, failure)
            await self._after_failure(failure, tries, client, begun=stream.begun)
            return None

    # ---- before

    async def _stay_within_limits(self) -> None:
        state = self._state
        reached = reached_limit(state.spending, state.settings)
        if reached is None:
            return
        await state.on_halt(EndingReason(code="limit"))
        answer = await state.dialogue.ask("auto_approval_max_req_reached", reached.text)
        await self._user_input.add(answer)
        if not answer.approved:
            raise TaskStopped
        state.spending.reset()
        await self._tell_halt()

    async def _space(self) -> None:
        """Keep requests as far apart as the profile wants, over all tasks."""
        state = self._state
        least = state.services.models.rate_limit_seconds(state.profile)
        wait = state.services.spacing.take_turn(state.profile, least)
        if wait > 0:
            ts: int | None = None

            async def show(left: int) -> None:
                nonlocal ts
                text = json.dumps({"seconds": left})
                ts = await state.conversation.say("api_req_rate_limit_wait", text, partial=True, ts=ts)

            await count_down(round(wait + 0.5), show, state.services.sleep)
            if ts is not None:
                await state.conversation.say(
                    "api_req_rate_limit_wait", json.dumps({"seconds": 0}), partial=False, ts=ts
                )

    # ---- the account

    async def _tell_started(self, client: ModelClient) -> ClineMessage:
        state = self._state
        message = ClineMessage(
            ts=NOT_YET,
            type="say",
            say="api_req_started",
            text=request_info(client.protocol, client.info, None).to_json(),
            api_protocol=client.protocol,
        )
        state.spending.requests += 1
        state.conversation.log.update_state(last_activity="llm_call")
        return await state.conversation.create(message)

    async def _tell_ended(
        self, started: ClineMessage, client: ModelClient, stream: AnswerStream, seconds: float
    ) -> None:
        usage = stream.answer.usage
        self._state.logger.info(
            "Model call #%d: %s, %s tokens in, %s out, %d ms",
            self._state.spending.requests, client.info.id, usage and usage.context, usage and usage.output, seconds * 1000,
        )  # fmt: skip
        await self._account(started, client, stream, "ok")

    async def _tell_left_out(self, request: ModelRequest, client: ModelClient, usage: UsageReport | None) -> None:
        """Some servers cut what is too long for them and say nothing; the model then forgets what it was told."""
        if usage is None or not client.info.counts_tokens:
            return
        sent = self._cuts.first_seen(request, usage, client.info.context_window)
        if sent is not None:
            await self._state.conversation.say(
                "error", _LEFT_OUT.format(model=client.info.id, sent=sent, counted=usage.context)
            )

    async def _tell_failed(
        self, started: ClineMessage | None, client: ModelClient | None, stream: AnswerStream, error: ModelError
    ) -> None:
        state = self._state
        await stream.end_shown()
        await self._withdraw_previews(stream)
        if started is not None and client is not None:
            why = await state.conversation.mask(error.message)
            await self._account(started, client, stream, error.kind, "streaming_failed", why)

    async def _cut_off(self, started: ClineMessage | None, client: ModelClient | None, stream: AnswerStream) -> None:
        """What the model had said stays, what it wanted done is not done."""
        state = self._state
        await stream.end_shown()
        await self._withdraw_previews(stream)
        if started is not None and client is not None:
            ends = state.server_ends
            reason: ClineApiReqCancelReason = "streaming_failed" if ends else "user_cancelled"
            await self._account(started, client, stream, "cancelled", reason, SERVER_STOPPED if ends else None)
        if stream.answer.text.strip():
            await state.conversation.add_api(
                "assistant", [text_block(stream.answer.text + CUT_OFF)], ts=stream.first_ts
            )

    def _note_where(self) -> None:
        """Keep that a model on this machine is asked, before it hears anything."""
        log = self._state.conversation.log
        if not log.state.used_local_model and place_on_this_machine(self._state.provider) is not None:
            log.update_state(used_local_model=True)

    async def _account(
        self,
        started: ClineMessage,
        client: ModelClient,
        stream: AnswerStream,
        status: str,
        cancelled: ClineApiReqCancelReason | None = None,
        why: str | None = None,
    ) -> None:
        state, usage = self._state, stream.answer.usage
        info = request_info(client.protocol, client.info, usage, cancel_reason=cancelled, streaming_failed_message=why)
        if usage is None and cancelled is None:
            info = info.model_copy(update={"tokens_in": 0, "tokens_out": 0, "cost": 0.0})
        if not self._is_counted:
            self._is_counted = True
            self._tell_work(client, stream, status)
            state.usage.add(info)
            log = state.conversation.log
            log.update_state(model_use=with_request(log.state.model_use or (), client.info.id, info))
            state.spending.cost += info.cost or 0.0
        await state.conversation.update(started.model_copy(update={"text": info.to_json()}))
        await state.note_progress()
        state.services.events.emit(
            TaskTokenUsageUpdated(
                payload=(state.task_id, state.usage.tokens(), state.usage.tool_usage()), tools=state.usage.own_tools()
            )
        )

    def _tell_work(self, client: ModelClient, stream: AnswerStream, status: str) -> None:
        usage = stream.answer.usage or UsageReport(input=0, output=0)
        self._state.services.events.emit_work(
            ModelRequestEnded(
                task_id=self._state.task_id,
                provider=client.info.provider,
                model=client.info.id,
                status=status,
                seconds=time.monotonic() - self._began,
                first_seconds=None if stream.begun_at is None else stream.begun_at - self._began,
                tokens_in=usage.input,
                tokens_cached=usage.cache_read + usage.cache_write,
                tokens_out=usage.output,
                dollars=cost_of(client.info, usage) or 0.0,
            )
        )

    async def _withdraw_previews(self, stream: AnswerStream) -> None:
        for ts in [*stream.previews.values(), *stream.shown_in_vain]:
            await self._state.withdraw_question(ts)

    # ---- after

    async def _after_nothing(self, tries: _Tries) -> None:
        """The model said nothing: once that is passed over, then it is told and paused for."""
        tries.empty += 1
        if tries.empty == 1:
            return
        await self._state.conversation.say("error", NO_ANSWER)
        error = ModelError(_NO_ANSWER_TEXT, kind="broken_stream")
        await self._after_failure(error, tries, None, begun=True)

    async def _after_failure(
        self, error: ModelError, tries: _Tries, client: ModelClient | None, *, begun: bool
    ) -> None:
        state = self._state
        settings = state.settings
        if client is not None and (done := await self._recovery.remedy(error, client)) is not None:
            if done.text is not None:
                await self._wait_and_show(error, done.text, math.ceil(done.pause))
            return
        if may_retry(
            error, tries.failures, most=settings.max_auto_retries, begun=begun, auto=settings.auto_approval_enabled
        ):
            seconds = backoff_seconds(
                tries.failures,
                settings.request_delay_seconds,
                retry_after=error.retry_after,
                least=state.services.models.rate_limit_seconds(state.profile),
            )
            await self._wait_and_show(error, error.message, seconds)
            tries.failures += 1
            return
        await state.on_halt(EndingReason(code="model"))
        answer = await state.dialogue.ask(
            "api_req_failed",
            _failure_text(error),
            model_failure=ModelFailure(kind=error.kind, parts=await self._parts(error)),
        )
        await self._user_input.add(answer)
        if answer.response == "noButtonClicked":
            raise TaskStopped
        await state.conversation.say("api_req_retried")
        tries.failures = 0
        self._recovery.begin(asked=True)
        await self._tell_halt()

    async def _tell_halt(self) -> None:
        """Tell the model what came of a halt, and how things are now, before it is asked again."""
        if not await self._user_input.add_late():
            return
        state = self._state
        surroundings = await state.context.environment(state, spoken=True)
        if surroundings is not None:
            await state.conversation.add_api("user", [text_block(surroundings.text)], told=surroundings.told)

    async def _parts(self, error: ModelError) -> ModelFailureParts | None:
        """What the page needs to word a failure in the person's language."""
        if error.kind == "other" and error.particular is None:
            return None
        mask = self._state.conversation.mask
        raw = " ".join(error.raw.split())[:_LONGEST_RAW]
        return ModelFailureParts(
            status=error.http_status,
            particular=await mask(error.particular) if error.particular else None,
            raw=await mask(raw) if raw and raw not in error.message else None,
        )

    async def _wait_and_show(self, error: ModelError, why: str, seconds: int) -> None:
        state = self._state
        parts = await self._parts(error) if why == error.message else None
        failure: JsonObject = {"kind": error.kind}
        if parts is not None:
            # What the provider wrote is for the question, where it failed for good.
            failure["parts"] = parts.model_copy(update={"raw": None}).model_dump(by_alias=True, exclude_none=True)
        ts: int | None = None

        def text(left: int) -> str:
            return f"{why}\n<retry_timer>{left}</retry_timer>"

        async def show(left: int) -> None:
            nonlocal ts
            ts = await state.conversation.say(
                "api_req_retry_delayed", text(left), partial=True, ts=ts, model_failure=failure
            )

        waited = False
        try:
            await count_down(seconds, show, state.services.sleep)
            waited = True
        finally:
            if ts is not None:
                await state.conversation.say(
                    "api_req_retry_delayed", why, partial=False, ts=ts, model_failure={**failure, "retried": waited}
                )


def _failure_text(error: ModelError) -> str:
    """What went wrong, and the provider's words where ours do not hold them.

    Not what the agent would do about it: it has done that in vain, or asks whether to.
    """
    parts = [error.message.replace(error.remedy, error.diagnosis)]
    # That an answer is not whole is what its message says.
    if error.kind not in ("other", "broken_stream") and error.diagnosis not in parts[0]:
        parts.append(error.diagnosis)
    raw = " ".join(error.raw.split())[:_LONGEST_RAW]
    if raw and raw not in error.message:
        parts.append(raw)
    return "\n\n".join(parts)


def _classified(error: Exception, client: ModelClient | None) -> ModelError | None:
    """What went wrong on the way to an answer; None if the conversation itself cannot be recorded."""
    if isinstance(error, StorageUnavailable | Conflict):
        return None
    if isinstance(error, HdspAgentError):
        return ModelError(error.message)
    return classify(provider=client.info.provider if client else None, exception=error)
