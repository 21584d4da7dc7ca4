"""How much the model of a conversation takes in, for conversations that nobody works on."""

from __future__ import annotations

import asyncio

from ..config import ContextProxy
from ..context import room_of
from ..errors import UnknownProfile
from ..messages import ModelRoom
from ..providers import model_info

__all__ = ["ContextSizes"]


class ContextSizes:
    """Looks the models of profiles up, asking no provider."""

    def __init__(self, config: ContextProxy) -> None:
        self._config = config

    async def of(self, profile: str | None) -> ModelRoom | None:
        """What the model of the profile of this name takes in, or the current one's; None if nothing is known of it."""
        book = self._config.profiles
        try:
            settings = book.settings(profile or book.current.id)
        except UnknownProfile:
            # As for the agent, which goes on with the current one.
            settings = book.settings(book.current.id)
        # The catalogue is a large module that is read at first use.
        info = await asyncio.to_thread(model_info, settings)
        if info.context_window is None:
            return None
        return room_of(info, profile, self._config.settings, window=info.context_window)
