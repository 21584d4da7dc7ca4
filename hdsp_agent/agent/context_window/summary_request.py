"""Asking a model for the summary that a conversation is condensed to."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from ..._timeouts import wait_at_most
from ...context import COMPACTION_PROMPT
from ...errors import HdspAgentError
from ...messages import ApiMessage, JsonObject
from ...providers import ModelAnswer, ModelClient, ModelError, ModelEvent, ModelRequest, UsageReport, classify
from ..conversation.conversation import text_block

if TYPE_CHECKING:
    from ..task.task_state import TaskState

__all__ = ["SECONDS", "has_own_prompt", "prompt_of", "summary_of", "take_turn", "with_prompt"]

SECONDS: Final = 300.0
"""A summary that takes longer is given up; nothing is changed then."""
_TEMPLATE: Final = "CONDENSE"
_MOST_RETRIES: Final = 2
_FIRST_PAUSE: Final = 2.0
"""Seconds; doubled each time."""
_LONGEST_PAUSE: Final = 30.0


def with_prompt(request: ModelRequest, messages: Sequence[ApiMessage], prompt: str) -> ModelRequest:
    """The request of the conversation, with the same beginning, that asks for a summary."""
    asked = text_block(prompt)
    *before, last = messages
    if last.role == "user":
        content: list[JsonObject] = [text_block(last.content)] if isinstance(last.content, str) else [*last.content]
        new = [*before, last.model_copy(update={"content": [*content, asked]})]
    else:
        new = [*messages, ApiMessage(role="user", content=[asked])]
    return replace(request, messages=new)


async def summary_of(state: TaskState, client: ModelClient, request: ModelRequest, taken: list[UsageReport]) -> str:
    """Have the model write it, in its turn. Raises ModelError, also for a refusal; a text of nothing is the caller's to judge.

    What each answer took is added to ``taken``, whatever comes of it.
    """
    try:
        return await wait_at_most(_tried(state, client, request, taken), SECONDS)
    except TimeoutError:
        raise ModelError(
            f"The model did not write the summary within {SECONDS:.0f} seconds.",
            kind="timeout",
            provider=client.info.provider,
        ) from None


def prompt_of(state: TaskState) -> str:
    """What the model is asked, in the person's own words if there are any."""
    return state.settings.custom_support_prompts.get(_TEMPLATE) or COMPACTION_PROMPT


def has_own_prompt(state: TaskState) -> bool:
    """Whether the person says in their own words what a summary is to hold."""
    return bool(state.settings.custom_support_prompts.get(_TEMPLATE))


async def take_turn(state: TaskState) -> None:
    """Wait until the profile's model may be asked."""
    services = state.services
    wait = services.spacing.take_turn(state.profile, services.models.rate_limit_seconds(state.profile))
    if wait > 0:
        await services.sleep(wait)


async def _tried(state: TaskState, client: ModelClient, request: ModelRequest, taken: list[UsageReport]) -> str:
    """Failures that pass are tried again."""
    services, retries = state.services, 0
    await take_turn(state)
    while True:
        try:
            summary = await _asked(client, request, taken)
            if summary.strip() or request.tool_choice == "none" or not request.tools:
                return summary
            # It called tools instead. That costs the cache of what was said, and is rare.
            request = replace(request, tool_choice="none")
        except ModelError as error:
            if not error.retryable or retries >= _MOST_RETRIES:
                raise
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**retries)
            retries += 1
            await services.sleep(max(pause, error.retry_after or 0.0))


async def _asked(client: ModelClient, request: ModelRequest, taken: list[UsageReport]) -> str:
    answer = ModelAnswer()
    try:
        events = client.stream(request)
        # Every adapter's stream is a generator: closing it closes the connection.
        async with aclosing(cast("AsyncGenerator[ModelEvent, None]", events)):
            async for event in events:
                answer.add(event)
    except HdspAgentError:
        raise
    except Exception as error:
        raise classify(provider=client.info.provider, exception=error) from error
    finally:
        if answer.usage is not None:
            taken.append(answer.usage)
    if answer.stop == "refusal":
        raise ModelError("The model declined to write a summary.", kind="content_filter", provider=client.info.provider)
    return answer.text
