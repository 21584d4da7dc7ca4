"""What a report of one error in a conversation needs, and no key."""

from __future__ import annotations

import platform
from datetime import UTC, datetime

from pydantic import JsonValue

from .._version import __version__
from ..config import ALL_MASKED_KINDS, ContextProxy
from ..errors import NotFound
from ..messages import ErrorDetailsRequest
from ..persistence import Masker
from ._dispatch import Dispatcher, RequestContext
from .history import History

__all__ = ["ErrorDetails"]


class ErrorDetails:
    """Answers with what is known of an error: version, kind, provider, model, times. Not what was talked about."""

    def __init__(self, history: History, config: ContextProxy) -> None:
        self._history = history
        self._config = config

    def register(self, dispatcher: Dispatcher) -> None:
        """Take responsibility for this type of message."""
        dispatcher.handle("errorDetails", self.details)

    async def details(self, context: RequestContext, message: ErrorDetailsRequest) -> JsonValue:
        """The content of the file that the page saves."""
        task_id = self._history.meant(context.owner, message.task_id)
        error = await (await self._history.task(context.owner, task_id)).ui.get(message.message_ts)
        if error is None:
            raise NotFound("This error is no longer in the conversation. Reload the conversation.")
        item = await self._history.item(context.owner, task_id)
        details: dict[str, str | None] = {
            "version": __version__,
            "python": platform.python_version(),
            "system": platform.system(),
            "message": error.ask or error.say,
            "kind": error.model_failure.kind if error.model_failure else None,
            **self._model(item.api_config_name),
            "task": task_id,
            "time": _as_time(error.ts),
            "saved": datetime.now(UTC).isoformat(timespec="seconds"),
            "text": error.text,
            "failure": error.failure,
        }
        # Of all kinds, whatever the settings leave in a conversation: this file is for others to read.
        masker = Masker(ALL_MASKED_KINDS)
        return {key: masker.mask(value) for key, value in details.items() if value is not None}

    def _model(self, profile: str | None) -> dict[str, str | None]:
        """What the conversation goes on with, by the profile as it is now."""
        book = self._config.profiles
        known = profile if any(profile in (entry.id, entry.name) for entry in book.entries) else None
        entry = book.get(known) if known is not None else book.current
        return {"provider": entry.api_provider, "model": entry.model_id}


def _as_time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
