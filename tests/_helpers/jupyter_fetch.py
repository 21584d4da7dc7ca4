"""The types of ``jp_fetch`` and ``jp_ws_fetch``, which pytest-jupyter leaves untyped."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tornado.httpclient import HTTPResponse
from tornado.websocket import WebSocketClientConnection

__all__ = ["Fetch", "SocketFetch"]

Fetch = Callable[..., Awaitable[HTTPResponse]]
SocketFetch = Callable[..., Awaitable[WebSocketClientConnection]]
