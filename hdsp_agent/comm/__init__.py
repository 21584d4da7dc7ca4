"""The way between server and page: the channel and, under ``rest``, what is not a stream.

Tornado is met only in ``websocket``, ``identity`` and ``rest``; what is named here runs without a server.
"""

from __future__ import annotations

from ._channel import Channel, StateOf
from ._channel_hub import ChannelHub
from ._channel_limits import ChannelLimits
from ._dispatch import Dispatcher, Handler, RequestContext
from ._owner import Owner
from ._tab_session import SessionStats

__all__ = [
    "Channel",
    "ChannelHub",
    "ChannelLimits",
    "Dispatcher",
    "Handler",
    "Owner",
    "RequestContext",
    "SessionStats",
    "StateOf",
]
