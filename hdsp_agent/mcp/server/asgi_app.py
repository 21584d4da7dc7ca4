"""The MCP server as an ASGI application, with the sessions it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from .caller import CALLER, AsgiReceive, AsgiSend, Caller
from .protocol_server import McpServer

__all__ = ["McpApp"]

_IDLE_SECONDS: Final = 8 * 3600.0
"""How long a session of 2025-11-25 is kept that sends nothing; its program is open on somebody's desk."""
_MOST_SESSIONS: Final = 1_000


class McpApp:
    """Answers requests while ``running``. It runs once."""

    def __init__(self, server: McpServer, max_body_bytes: int) -> None:
        # Who may call, from where and under which name is looked at before a request gets here.
        self._manager = StreamableHTTPSessionManager(
            server,
            max_request_body_size=max_body_bytes,
            session_idle_timeout=_IDLE_SECONDS,
            max_sessions=_MOST_SESSIONS,
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """Its sessions live as long as this."""
        return self._manager.run()

    async def serve(self, caller: Caller, scope: Mapping[str, Any], receive: AsgiReceive, send: AsgiSend) -> None:
        """Answer one request."""
        # A session is bound to the person who began it; the SDK compares this.
        person = AuthenticatedUser(AccessToken(token="", client_id=caller.owner or "", scopes=[]))
        own = {**scope, CALLER: caller, "user": person}
        await self._manager.handle_request(own, receive, send)
