"""What the model sees of a conversation, for people to look at: the exact request, and what each part of it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...config import tool_set
from ...context import Parts, TokenCounter
from ...messages import ApiMessage
from ...persistence import TaskReader, history_to_read
from ...providers import ModelInfo, ModelRequest, model_info
from .._items import TaskConfig
from .._ports import ToolBox
from ._history import sent_history
from ._kept_context import context_state

if TYPE_CHECKING:
    from .._services import AgentServices

__all__ = ["SeenRequest", "seen_by_model"]


@dataclass(frozen=True)
class SeenRequest:
    """``sizes`` are the estimated tokens of each message. ``is_shortened`` says that a small model is sent less."""

    request: ModelRequest
    parts: Parts
    sizes: Sequence[int]
    mode: str
    profile: str
    model: ModelInfo
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
    sizes = [counter.message(message) for message in request.messages]
    return SeenRequest(request, counter.request(request), sizes, slug, profile, info, chosen == "compound")


def _text(message: ApiMessage) -> str:
    content = message.content
    return content if isinstance(content, str) else "\n".join(str(block.get("text", "")) for block in content)
