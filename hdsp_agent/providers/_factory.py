"""From a profile to its model."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ..config import OperatorPolicy, ProviderSettings
from ..local import LocalModels
from ._anthropic_client import open_anthropic
from ._local_client import LocalClient
from ._model import ModelClient
from ._model_info import local_info, model_info
from ._openai_client import open_chat, open_responses
from ._provider_connection import ProviderConnection, connection_of, not_served
from ._scripted import ScriptedModel, load_script
from ._transport import Timeouts

__all__ = ["open_client"]


async def open_client(
    settings: ProviderSettings,
    *,
    policy: OperatorPolicy | None = None,
    timeouts: Timeouts | None = None,
    local: LocalModels | None = None,
) -> ModelClient:
    """The profile's model, ready to be asked. Nothing is sent yet, and no embedded model is started.

    ``local`` runs embedded models; without it their profiles are refused.

    Raises InvalidSetting naming what the profile lacks, ForbiddenByOperator, or Unsupported naming what to install.
    """
    connection = connection_of(settings, policy)
    # Importing an SDK takes a second, and reading the machine's certificates its time too.
    return await asyncio.to_thread(_open, connection, settings, timeouts or Timeouts(), local)


def _open(
    connection: ProviderConnection, settings: ProviderSettings, timeouts: Timeouts, local: LocalModels | None
) -> ModelClient:
    if connection.info.protocol == "fake":
        return ScriptedModel(load_script(Path(connection.model)) if connection.model else ())
    if connection.info.protocol == "local" and local is not None:
        return LocalClient(connection, settings, local_info(settings, local.limits(settings)), timeouts, local)
    info = model_info(settings)
    match connection.info.protocol:
        case "anthropic" | "bedrock" | "vertex":
            return open_anthropic(connection, settings, info, timeouts)
        case "openai-responses":
            return open_responses(connection, settings, info, timeouts)
        case "openai-chat":
            return open_chat(connection, settings, info, timeouts)
        case _:
            raise not_served(connection.info)
