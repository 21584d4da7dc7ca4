"""Making a prompt better: one question to a model, outside of any conversation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final, cast

from ..._timeouts import wait_at_most
from ...errors import HdspAgentError, InvalidInput, Unavailable
from ...messages import ApiMessage
from ...persistence import Masker
from ...providers import ModelAnswer, ModelError, ModelEvent, ModelRequest, classify
from .._agent_services import AgentServices
from ..conversation.user_text import said

__all__ = ["enhanced_prompt"]

_SECONDS: Final = 60.0
_MOST_CHARACTERS: Final = 50_000
_EARLIER_CHARACTERS: Final = 500
_TEMPLATE: Final = "ENHANCE"
_USERS_TEXT: Final = "${userInput}"
_SYSTEM: Final = (
    "You improve prompts that people write for an AI agent which works in JupyterLab with notebooks, kernels, data and files. "
    "Answer with the improved prompt alone: no introduction, no explanation, no quotation marks or code fences around it. "
    "Keep the writer's language, meaning and every name, path and number; keep words that begin with @ or / as they are. "
    "Say what is wanted, on what data, and how it shows that it is done. Ask for nothing the writer does not want."
)
_ASKED: Final = f"Improve this prompt:\n\n{_USERS_TEXT}"


async def enhanced_prompt(services: AgentServices, text: str, *, profile: str, earlier: Sequence[str] = ()) -> str:
    """The prompt in better words. ``earlier`` is what was said before it. Raises InvalidInput, ModelError, Unavailable."""
    if not text.strip():
        raise InvalidInput("There is nothing to improve. Write something first.", field="text")
    if len(text) > _MOST_CHARACTERS:
        raise InvalidInput(
            f"A prompt can have up to {_MOST_CHARACTERS:,} characters to be improved. Shorten it.", field="text"
        )
    try:
        return await wait_at_most(_ask(services, text, profile, earlier), _SECONDS)
    except TimeoutError:
        raise Unavailable(
            f"The model did not improve the prompt within {_SECONDS:.0f} seconds. Try again, or choose a faster model for it."
        ) from None


async def _ask(services: AgentServices, text: str, profile: str, earlier: Sequence[str]) -> str:
    settings = services.settings()
    masker = Masker(settings.masked_kinds)
    template = settings.custom_support_prompts.get(_TEMPLATE) or _ASKED
    asked = template.replace(_USERS_TEXT, text) if _USERS_TEXT in template else f"{template}\n\n{text}"
    if earlier:
        told = "\n".join(f"- {' '.join(words.split())[:_EARLIER_CHARACTERS]}" for words in earlier)
        asked = f"What was said before, for you to understand it by:\n{told}\n\n{asked}"
    client = await services.models.client(profile)
    wait = services.spacing.take_turn(profile, services.models.rate_limit_seconds(profile))
    if wait > 0:
        await services.sleep(wait)
    message = ApiMessage(role="user", content=said(await asyncio.to_thread(masker.mask, asked)))
    answer = ModelAnswer()
    events = client.stream(ModelRequest(system=_SYSTEM, messages=[message]))
    try:
        # Every adapter's stream is a generator: closing it closes the connection.
        async with aclosing(cast("AsyncGenerator[ModelEvent, None]", events)):
            async for event in events:
                answer.add(event)
    except HdspAgentError:
        raise
    except Exception as error:
        raise classify(provider=client.info.provider, exception=error) from error
    better = masker.unmask(answer.text).strip()
    if not better:
        raise ModelError(
            "The model did not improve the prompt. Try again, or choose another model for it.",
            kind="broken_stream",
            provider=client.info.provider,
        )
    return better
