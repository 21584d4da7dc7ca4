"""The way between server and page: the channel and, under ``rest``, what is not a stream.

Tornado is met only in ``websocket``, ``identity`` and ``rest``; what is named here runs without a server.
"""

from __future__ import annotations

from ._channel import Channel
from ._channel_hub import ChannelHub
from ._channel_limits import ChannelLimits
from ._dispatch import Dispatcher, RequestContext
from ._owner import Owner

__all__ = [
    "Channel",
    "ChannelHub",
    "ChannelLimits",
    "Dispatcher",
    "Owner",
    "RequestContext",
]
