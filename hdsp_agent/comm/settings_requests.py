"""What the page may ask for about settings and profiles over the channel.

The same things can be done over REST; both only pass on to the configuration, which tells all pages what changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from pydantic import JsonValue
from pydantic_core import from_json

from ..config import ContextProxy
from ..errors import InvalidInput, UnknownProfile
from ..messages import (
    DismissNoticeRequest,
    ExtensionMessage,
    ImportSettingsRequest,
    LoadApiConfigurationRequest,
    LockApiConfigAcrossModesRequest,
    ModeRequest,
    NoticesUpdatedMessage,
    Request,
    SaveApiConfigurationRequest,
    ToggleApiConfigPinRequest,
    UpdateSettingsRequest,
)
from ._dispatch import Dispatcher, RequestContext
from .agent_requests import AgentRequests
from .notebook_approvals import NotebookApprovals
from .notice_board import Notices

__all__ = ["SettingsRequests"]

_LARGEST_FILE: Final = 2 * 1024 * 1024


class SettingsRequests:
    """Handles the messages of the settings group. A task that is worked on goes on with the mode or profile that is chosen."""

    def __init__(
        self,
        config: ContextProxy,
        notices: Notices,
        publish: Callable[[ExtensionMessage], None],
        switches: AgentRequests,
        approvals: NotebookApprovals,
    ) -> None:
        self._config = config
        self._notices = notices
        self._publish = publish
        self._switches = switches
        self._approvals = approvals

    def register(self, dispatcher: Dispatcher) -> None:
        """Take responsibility for these types of message."""
        dispatcher.handle_all(
            {
                "updateSettings": self.update_settings,
                "mode": self.mode,
                "exportSettings": self.export_settings,
                "importSettings": self.import_settings,
                "dismissNotice": self.dismiss_notice,
                "saveApiConfiguration": self.save_profile,
                "loadApiConfiguration": self.load_profile,
                "toggleApiConfigPin": self.toggle_pin,
                "lockApiConfigAcrossModes": self.lock_profile,
            }
        )

    # ---- settings

    async def update_settings(self, _: RequestContext, message: UpdateSettingsRequest) -> None:
        """Some settings; all or none."""
        await self._approvals.update_settings(message)

    async def mode(self, context: RequestContext, message: ModeRequest) -> None:
        """The mode of the task on screen and of new ones; where a task is named, of that one alone."""
        if not await self._switches.switch_mode(context, message, message.text):
            await self._config.update({"mode": message.text})

    async def export_settings(self, _: RequestContext, message: Request) -> JsonValue:
        """The file's content, without keys."""
        return await self._config.export_settings()

    async def import_settings(self, _: RequestContext, message: ImportSettingsRequest) -> JsonValue:
        """The report of what was taken and what was not."""
        if len(message.text) > _LARGEST_FILE:
            raise InvalidInput(
                f"A settings file has at most {_LARGEST_FILE:,} characters; this one has {len(message.text):,}.",
                most=_LARGEST_FILE,
            )
        try:
            document: JsonValue = await asyncio.to_thread(from_json, message.text, allow_inf_nan=False)
        except ValueError:
            raise InvalidInput("The file is not JSON. Choose a settings file that was exported before.") from None
        report = await self._config.import_settings(document)
        return report.to_wire()

    async def dismiss_notice(self, _: RequestContext, message: DismissNoticeRequest) -> None:
        """Put a notice away, on every page."""
        self._notices.put_away(message.id)
        self._publish(NoticesUpdatedMessage(notices=self._notices.standing))

    # ---- profiles

    async def save_profile(self, _: RequestContext, message: SaveApiConfigurationRequest) -> None:
        """Change a profile, or create it."""
        await self._write(message.text, message.api_configuration)

    async def load_profile(self, context: RequestContext, message: LoadApiConfigurationRequest) -> None:
        """Make it the current one, by name or id, also of the task on screen; of a task that is named, for that alone."""
        name = self._config.profiles.get(message.text).name
        if not await self._switches.switch_profile(context, message, name):
            await self._config.profiles.activate(message.text)

    async def toggle_pin(self, _: RequestContext, message: ToggleApiConfigPinRequest) -> None:
        """Pinned profiles come first."""
        entry = self._config.profiles.get(message.text)
        await self._config.profiles.pin(entry.id, not entry.pinned)

    async def lock_profile(self, _: RequestContext, message: LockApiConfigAcrossModesRequest) -> None:
        """One profile for all modes, or each its own."""
        await self._config.profiles.lock(message.bool)

    async def _write(self, name: str, settings: dict[str, JsonValue]) -> None:
        book = self._config.profiles
        try:
            entry = book.get(name)
        except UnknownProfile:
            await book.create(name, settings)
        else:
            await book.update(entry.id, settings)
