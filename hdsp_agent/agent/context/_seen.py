"""What the model sees of a conversation, for people to look at: the exact request, and what each part of it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...config import tool_set
from ...context import SUMMARY_PREFIX, Parts, TokenCounter, room_of
from ...messages import ApiMessage, JsonObject, ModelRoom
from ...persistence import TaskReader, history_to_read
from ...providers import ModelInfo, ModelRequest, cache_marks, model_info
from .._items import TaskConfig
from .._ports import ToolBox
from ._history import sent_history
from ._kept_context import context_state

if TYPE_CHECKING:
    from .._services import AgentServices

__all__ = ["SeenKinds", "SeenRequest", "seen_by_model"]


@dataclass(frozen=True)
class SeenKinds:
    """The tokens of the messages by what is in them; together they are all of them.

    ``words`` are the person's, with what is told in between of the surroundings.
    """

    summaries: int = 0
    words: int = 0
    answers: int = 0
    outputs: int = 0
    pictures: int = 0


@dataclass(frozen=True)
class SeenRequest:
    """``sizes`` are the estimated tokens of each message. ``is_shortened`` says that a small model is sent less.

    ``marks`` are the messages at whose ends the provider's cache has a breakpoint; None where it needs none.
    """

    request: ModelRequest
    parts: Parts
    sizes: Sequence[int]
    kinds: SeenKinds
    marks: Sequence[int] | None
    mode: str
    profile: str
    model: ModelInfo
    room: ModelRoom
    is_shortened: bool


async def seen_by_model(services: AgentServices, reader: TaskReader, *, tools: ToolBox | None = None) -> SeenRequest:
    """The request that would be sent now, as far as it is in the log. Nothing is asked or changed by looking."""
    state = await reader.read_state()
    item, metadata = state.history_item, reader.metadata
    policy = services.policy()
    settings = TaskConfig.of(metadata.config).settings(services.settings(), policy)
    slug = (item.mode if item else None) or metadata.mode or settings.mode
    profile = (item.api_config_name if item else None) or services.models.profile_for(slug)
    provider = services.models.settings_of(profile)
    # The first call reads the catalogue.
    info = ModelInfo(id="", provider="") if provider is None else await asyncio.to_thread(model_info, provider)
    mode = await services.modes.get(slug, metadata.workspace)
    chosen = tool_set(provider)
    specs = [] if mode is None else (tools or services.tools).specs(mode, policy, settings, tool_set=chosen)
    records = await (await history_to_read(reader)).api_history()
    prompts = [record.message() for record in records if record.role == "system"]
    counter = TokenCounter()
    sent = await sent_history(records, context_state(state), images=info.supports_images, counter=counter)
    request = ModelRequest(
        system=_text(prompts[-1]) if prompts else "", messages=sent.messages, tools=specs, cache_key=reader.task_id
    )
    sizes, kinds = await asyncio.to_thread(_counted, request, counter)
    return SeenRequest(
        request=request,
        parts=Parts(counter.text(request.system), counter.tools(request.tools), sum(sizes)),
        sizes=sizes,
        kinds=kinds,
        marks=cache_marks(provider, info, request),
        mode=slug,
        profile=profile,
        model=info,
        room=room_of(info, profile, settings, window=info.context_window),
        is_shortened=chosen == "compound",
    )


def _counted(request: ModelRequest, counter: TokenCounter) -> tuple[list[int], SeenKinds]:
    sizes: list[int] = []
    tokens = dict.fromkeys(("summaries", "words", "answers", "outputs", "pictures"), 0)
    for message in request.messages:
        size = counter.message(message)
        sizes.append(size)
        for block in [] if isinstance(message.content, str) else message.content:
            kind = _kind(block)
            if kind is not None:
                # What is rounded up must not add up to more than the message.
                part = min(size, counter.blocks([block]))
                tokens[kind] += part
                size -= part
        tokens["answers" if message.role == "assistant" else "words"] += size
    return sizes, SeenKinds(**tokens)


def _kind(block: JsonObject) -> str | None:
    match block.get("type"):
        case "tool_result":
            return "outputs"
        case "image":
            return "pictures"
        case "text" if str(block.get("text", "")).startswith(SUMMARY_PREFIX):
            return "summaries"
        case _:
            return None


def _text(message: ApiMessage) -> str:
    content = message.content
    return content if isinstance(content, str) else "\n".join(str(block.get("text", "")) for block in content)
