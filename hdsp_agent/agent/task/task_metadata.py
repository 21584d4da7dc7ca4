"""What a task's ``metadata.json`` says of where it came from and what it began with."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Final

from ...context import condense_percent
from ...messages import JsonObject
from ...persistence import NewTaskRecord, TaskKey
from ...providers import model_info
from .._agent_services import AgentServices
from ..conversation.history_items import TaskConfig

__all__ = ["model_of", "recorded"]

_MODEL: Final = ("llm_provider", "model", "context_length", "compression_threshold")


async def recorded(new: NewTaskRecord, services: AgentServices, profile: str) -> NewTaskRecord:
    """The same with all that its key says, and with the model that it begins with."""
    key = TaskKey(
        task_source=new.task_key.task_source,
        owner=new.user,
        repo=Path(new.workspace).name if new.workspace else None,
        task_type="subtask" if new.parent_task_id else "notebook" if new.notebook else "conversation",
    )
    config = {**TaskConfig.of(dict(new.config)).to_json(), **(await _model(services, profile) if profile else {})}
    return replace(new, task_key=key, config=config)


def model_of(config: JsonObject) -> JsonObject:
    """What a task's metadata says of the model it began with."""
    return {name: config[name] for name in _MODEL if name in config}


async def _model(services: AgentServices, profile: str) -> JsonObject:
    provider, settings = services.models.settings_of(profile), services.settings()
    if provider is None:
        return {}
    # The first call reads the catalogue.
    info = await asyncio.to_thread(model_info, provider)
    percent = condense_percent(
        profile, general=settings.auto_condense_context_percent, by_profile=settings.profile_thresholds
    )
    return {
        "llm_provider": provider.api_provider,
        "model": info.id or None,
        "context_length": info.context_window,
        "compression_threshold": percent / 100,
    }
