"""From a profile to its model."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ..config import OperatorPolicy, ProviderSettings
from ._anthropic_client import open_anthropic
from ._connection import Connection, connection_of, not_served
from ._model import ModelClient
from ._model_info import model_info
from ._openai_client import open_chat, open_responses
from ._scripted import ScriptedModel, load_script
from ._transport import Timeouts

__all__ = ["open_client"]


async def open_client(
    settings: ProviderSettings, *, policy: OperatorPolicy | None = None, timeouts: Timeouts | None = None
) -> ModelClient:
    """The profile's model, ready to be asked. Nothing is sent yet.

    Raises InvalidSetting naming what the profile lacks, ForbiddenByOperator, or Unsupported naming what to install.
    """
    connection = connection_of(settings, policy)
    # Importing an SDK takes a second, and reading the machine's certificates its time too.
    return await asyncio.to_thread(_open, connection, settings, timeouts or Timeouts())


def _open(connection: Connection, settings: ProviderSettings, timeouts: Timeouts) -> ModelClient:
    if connection.info.protocol == "fake":
        return ScriptedModel(load_script(Path(connection.model)) if connection.model else ())
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
