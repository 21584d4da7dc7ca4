"""Where other agents reach the MCP server: under Jupyter's own address, log-in and authoriser."""

from __future__ import annotations

import asyncio
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlparse

from jupyter_core.utils import ensure_async
from jupyter_server.base.handlers import APIHandler
from tornado import web
from tornado.iostream import StreamClosedError

from ...errors import HdspAgentError, NotAllowed, Unavailable
from ...mcp.connection_check import SWITCHED_OFF
from ...mcp.server.caller import FOLDER_HEADER, Caller
from ..identity import owner_of
from ..request_body import RequestBody
from ..services import Services
from .bridge import AsgiBridge
from .endpoint import McpEndpoint

__all__ = ["MCP_PATH", "McpHandler"]

MCP_PATH: Final = "/hdsp-agent/mcp"
_RESOURCE: Final = "hdsp_agent"
_OFF: Final = "Other agents may not connect to this server. Switch it on in JupyterLab: HDSP Agent's panel, “Connect another agent…”."
_NO_LOGIN: Final = "Log in first: send Jupyter's token as “Authorization: Bearer …”."
_OTHER_HOST: Final = "This server does not go by that name. Use the address that JupyterLab shows."
# What JSON-RPC leaves to servers.
_REFUSED: Final = -32000


class _SwitchedOff(NotAllowed):
    """Nobody may connect now."""


@web.stream_request_body
class McpHandler(APIHandler):
    """One request of the protocol. Who asks is known before a byte of what they send is taken in."""

    def initialize(self, *args: object, **kwargs: object) -> None:
        """Nothing of the body is there yet."""
        super().initialize(*args, **kwargs)
        self._body = RequestBody(self.endpoint.max_body_bytes)
        self._closed = asyncio.Event()

    @property
    def endpoint(self) -> McpEndpoint:
        """The server, as the app built it."""
        services: Services = self.settings["hdsp_agent_services"]
        return services.mcp_endpoint

    async def prepare(self) -> None:  # type: ignore[override]  # as APIHandler has it
        """Refuse what may not be here: other hosts and pages, nobody, and everybody while the server is off."""
        if not self.check_host():
            self.current_user = None
            raise web.HTTPError(403, _OTHER_HOST)
        try:
            await super().prepare()
        except web.HTTPError:
            # Where nobody may in without log-in at all, Jupyter has refused it already, with no more than a status.
            if self.current_user is not None:
                raise
        if self.current_user is None:
            raise web.HTTPError(401, _NO_LOGIN)
        self._refuse_other_pages()
        if not self.endpoint.is_on:
            raise _SwitchedOff(_OFF)
        if not await self._may("read"):
            raise NotAllowed("You may not use HDSP Agent on this server.")

    def check_xsrf_cookie(self) -> None:
        """Hold those who came with a cookie to it. Nobody at all is told to log in; and where there is no log-in there is no
        cookie to abuse, while the origin is looked at in any case."""
        if getattr(self, "_jupyter_current_user", None) is not None and self.identity_provider.auth_enabled:
            super().check_xsrf_cookie()

    def data_received(self, chunk: bytes) -> None:
        """Keep the next piece."""
        self._body.add(chunk)

    def on_connection_close(self) -> None:
        """Nobody waits for the answer any more."""
        super().on_connection_close()
        self._closed.set()

    @web.authenticated
    async def post(self) -> None:
        """A message."""
        # Programs at work keep the server from being culled, as a person does; a stream that only waits does not.
        self.settings["last_activity_times"]["hdsp_agent"] = datetime.now(UTC)
        await self._serve()

    @web.authenticated
    async def get(self) -> None:
        """The stream for what the server says unasked."""
        await self._serve()

    @web.authenticated
    async def delete(self) -> None:
        """The end of a session."""
        session = self.request.headers.get("Mcp-Session-Id")
        await self._serve()
        if session is not None and self.get_status() == 200:
            await self.endpoint.agents.disconnect(owner_of(self), session)

    async def _serve(self) -> None:
        bridge = AsgiBridge(self, self._body.whole(), self._closed, self.endpoint.write_seconds)
        caller = Caller(
            owner=owner_of(self),
            may_write=await self._may("write") and await self._may("execute"),
            folder=await self._folder(),
            closed=self._closed,
        )
        try:
            await self.endpoint.serve(caller, bridge.scope(), bridge.receive, bridge.send)
        except Unavailable:
            if not bridge.answered:
                raise
            bridge.cut_off()

    async def _may(self, action: str) -> bool:
        return bool(await ensure_async(self.authorizer.is_authorized(self, self.current_user, action, _RESOURCE)))

    def _refuse_other_pages(self) -> None:
        """Jupyter lets a token excuse the origin; a page that got hold of one is still not a program of this person."""
        origin = self.request.headers.get("Origin")
        if origin is None or self.allow_origin == "*" or urlparse(origin.lower()).netloc == self.request.host.lower():
            return
        if self.allow_origin == origin:
            return
        # Not by check_origin, which lets in every page that has the token.
        if self.allow_origin_pat and re.fullmatch(self.allow_origin_pat, origin.lower()):
            return
        raise web.HTTPError(403, "Pages of other sites may not connect.")

    async def _folder(self) -> str | None:
        """Where the proxy says its program works, if this server serves that."""
        given = self.request.headers.get(FOLDER_HEADER)
        return await asyncio.to_thread(_inside, unquote(given), self.endpoint.root) if given else None

    def compute_etag(self) -> str | None:
        """No answer is one that somebody has already."""
        return None

    def write_error(self, status_code: int, **kwargs: object) -> None:
        """Every refusal is a sentence in the protocol's own form."""
        exc_info = kwargs.get("exc_info")
        error = exc_info[1] if isinstance(exc_info, tuple) else None
        if isinstance(error, HdspAgentError):
            message = error.message
        elif isinstance(error, web.HTTPError):
            message = error.log_message or self._reason
        else:
            message = "Something went wrong on the server. Its log has the details."
        if status_code == 401:
            self.set_header("WWW-Authenticate", "Bearer")
        self.set_header("Content-Type", "application/json")
        # What is refused before it is read ends the connection; whoever would send more over it has to know.
        self.set_header("Connection", "close")
        data = {"data": {"code": SWITCHED_OFF}} if isinstance(error, _SwitchedOff) else {}
        refusal = {"code": _REFUSED, "message": message, **data}
        self.finish(json.dumps({"jsonrpc": "2.0", "id": None, "error": refusal}))

    def send_error(self, status_code: int = 500, **kwargs: object) -> None:
        """Give our own errors their status; Tornado knows only its own."""
        exc_info = kwargs.get("exc_info")
        if isinstance(exc_info, tuple) and isinstance(exc_info[1], HdspAgentError):
            status_code = exc_info[1].status
        super().send_error(status_code, **kwargs)

    def log_exception(self, *args: object) -> None:
        """Our own errors are answers, not incidents."""
        error = args[1] if len(args) > 1 else None
        if isinstance(error, (HdspAgentError, StreamClosedError)):
            self.log.info("HDSP Agent: %s %s: %r", self.request.method, self.request.path, str(error))
            return
        super().log_exception(*args)  # type: ignore[arg-type]  # Tornado passes the three parts of exc_info


def _inside(folder: str, root: Path) -> str | None:
    if not os.path.isabs(folder) or "\0" in folder:
        return None
    real = os.path.realpath(folder)
    return real if Path(real).is_relative_to(os.path.realpath(root)) else None
