"""The channels of all owners: found by their owner, told of what concerns everybody, and ended together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..messages import ExtensionMessage
from ._bad_input_log import BadInputLog
from ._channel import Arrival, Channel, StateOf, TabChange
from ._channel_limits import ChannelLimits
from ._dispatch import Dispatcher, RequestContext
from ._owner import Owner
from ._tab_connection import TabConnection
from ._tab_session import Socket

if TYPE_CHECKING:
    from ._bad_input_log import Log

__all__ = ["ChannelHub"]

_BEATS_PER_HEARTBEAT = 4


class ChannelHub:
    """The channels of everybody."""

    def __init__(
        self,
        *,
        version: str,
        dispatcher: Dispatcher,
        state_of: StateOf,
        limits: ChannelLimits | None = None,
        log: Log | None = None,
    ) -> None:
        self.version = version
        self.limits = limits or ChannelLimits()
        self._dispatcher = dispatcher
        self._state_of = state_of
        self._log = log or logging.getLogger(__name__)
        self._channels: dict[Owner, Channel] = {}
        self._arrivals: list[Arrival] = []
        self._on_tab: list[TabChange] = []
        self._heart: asyncio.Task[None] | None = None
        self._stopping = False

    def channel(self, owner: Owner) -> Channel:
        """The channel of ``owner``."""
        channel = self._channels.get(owner)
        if channel is None:
            channel = self._channels[owner] = Channel(
                owner,
                limits=self.limits,
                dispatcher=self._dispatcher,
                state_of=self._state_of,
                on_tab=self._tab_changed,
                log=self._log,
            )
        return channel

    def on_arrival(self, listener: Arrival) -> None:
        """Await this before a page of somebody is let in."""
        self._arrivals.append(listener)

    def on_tab(self, listener: TabChange) -> None:
        """Call this when a tab of somebody has a new connection, or has lost its own."""
        self._on_tab.append(listener)

    async def admit(self, owner: Owner) -> None:
        """Wait until a page of the owner may be let in."""
        for listener in self._arrivals:
            await listener(owner)

    def _tab_changed(self, owner: Owner, client_id: str) -> None:
        for listener in self._on_tab:
            listener(owner, client_id)

    @property
    def owners(self) -> list[Owner]:
        """Those who were connected since the server started."""
        return list(self._channels)

    def publish_to(self, owner: Owner, message: ExtensionMessage) -> None:
        """Send a message to all tabs of one owner; who never connected starts from the whole state anyway."""
        channel = self._channels.get(owner)
        if channel is not None:
            channel.publish(message)

    async def send_to(self, context: RequestContext, message: ExtensionMessage) -> None:
        """Send a message to the tab that asked, alone."""
        await self.channel(context.owner).send_to(context.client_id, message)

    def delta_to(self, owner: Owner, task_id: str, ts: int, field: str, append: str) -> None:
        """Add text to a field of a message that the tabs of one owner have as partial."""
        channel = self._channels.get(owner)
        if channel is not None:
            channel.delta(task_id, ts, field, append)

    def forget_task(self, owner: Owner, task_id: str) -> None:
        """Let go of what is remembered about a task's streaming messages: it left the screen."""
        channel = self._channels.get(owner)
        if channel is not None:
            channel.forget_task(task_id)

    def publish_state(self, owner: Owner) -> None:
        """Send all tabs of one owner the whole state, because another conversation is on screen."""
        self.publish_to(owner, self._state_of(owner))

    def publish_to_all(self, message: ExtensionMessage) -> None:
        """Send a message to all tabs of everybody: about what all of them share."""
        for channel in self._channels.values():
            channel.publish(message)

    @property
    def stopping(self) -> bool:
        """Whether nobody may connect any more."""
        return self._stopping

    def connect(self, owner: Owner, socket: Socket, *, on_request: Callable[[], None]) -> TabConnection:
        """Take in a socket of ``owner``; ``on_request`` is called for every request a person makes with it."""
        if self._heart is None:
            self._heart = asyncio.create_task(self._beat(), name="hdsp-agent heartbeats")
        return TabConnection(
            self.channel(owner), socket, version=self.version, on_request=on_request, complaints=BadInputLog(self._log)
        )

    async def stop(self) -> None:
        """End all channels; nothing runs afterwards."""
        self._stopping = True
        await asyncio.gather(*(channel.stop() for channel in self._channels.values()))
        if self._heart is not None:
            self._heart.cancel()
            await asyncio.wait([self._heart])

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self.limits.heartbeat_seconds / _BEATS_PER_HEARTBEAT)
            for channel in list(self._channels.values()):
                channel.beat()
