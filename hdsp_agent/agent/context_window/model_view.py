"""What the model sees of a conversation, for people to look at: the exact request, and what each part of it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...config import tool_set, with_profile
from ...context import TokenCounter, TokenParts, room_of
from ...messages import ModelRoom
from ...persistence import TaskReader
from ...providers import KnownModel, ModelRequest, cache_marks, model_info
from ..conversation.history_items import TaskConfig
from .model_history import most_picture_bytes
from .seen_histories import SeenKinds

if TYPE_CHECKING:
    from .._agent_services import AgentServices

__all__ = ["SeenRequest", "seen_by_model"]


@dataclass(frozen=True)
class SeenRequest:
    """``sizes`` are the estimated tokens of each message. ``is_shortened`` says that a small model is sent less.

    ``marks`` are the messages at whose ends the provider's cache has a breakpoint; None where it needs none.
    """

    request: ModelRequest
    parts: TokenParts
    sizes: Sequence[int]
    kinds: SeenKinds
    marks: Sequence[int] | None
    mode: str
    profile: str
    model: KnownModel
    room: ModelRoom
    is_shortened: bool


async def seen_by_model(services: AgentServices, reader: TaskReader) -> SeenRequest:
    """The request that would be sent now, as far as it is in the log. Nothing is asked or changed by looking."""
    state = await reader.read_state()
    item, metadata = state.history_item, reader.metadata
    policy = services.policy()
    settings = TaskConfig.of(metadata.config).settings(services.settings(), policy)
    slug = (item.mode if item else None) or metadata.mode or settings.mode
    profile = (item.api_config_name if item else None) or services.models.profile_for(slug)
    provider = services.models.settings_of(profile)
    settings = with_profile(settings, provider)
    # The first call reads the catalogue.
    info = KnownModel(id="", provider="") if provider is None else await asyncio.to_thread(model_info, provider)
    mode = await services.modes.get(slug, metadata.workspace)
    chosen = tool_set(provider)
    folder = Path(metadata.workspace) if metadata.workspace else services.workspace
    mcp = None if services.mcp is None else services.mcp.offer(metadata.user, folder)
    specs = [] if mode is None else services.tools.specs(mode, policy, settings, tool_set=chosen, mcp=mcp)
    counter = TokenCounter.of(settings)
    seen = await services.seen.seen(
        reader,
        state,
        images=info.supports_images,
        counter=counter,
        picture_bytes=most_picture_bytes(settings),
    )
    request = ModelRequest(system=seen.system, messages=seen.messages, tools=specs, cache_key=reader.task_id)
    return SeenRequest(
        request=request,
        parts=TokenParts(counter.text(request.system), counter.tools(request.tools), sum(seen.sizes)),
        sizes=seen.sizes,
        kinds=seen.kinds,
        marks=await asyncio.to_thread(cache_marks, provider, info, request),
        mode=slug,
        profile=profile,
        model=info,
        room=room_of(info, profile, settings, window=info.context_window),
        is_shortened=chosen == "compound",
    )
