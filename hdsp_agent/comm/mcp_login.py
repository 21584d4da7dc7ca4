"""Where the browser comes back to after the person logged in to an MCP server."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import JupyterHandler
from tornado import web

from ..errors import HdspAgentError
from .identity import owner_of
from .rest._rest_endpoint import AUTH_RESOURCE

if TYPE_CHECKING:
    from .services import Services

__all__ = ["MCP_LOGIN_PATH", "McpLoginDoneHandler"]

MCP_LOGIN_PATH: Final = "/hdsp-agent/mcp-login"
_PAGE: Final = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>HDSP Agent</title></head>
<body><p>{text}</p></body></html>"""


class McpLoginDoneHandler(JupyterHandler):
    """`GET mcp-login`: what comes back is told to whoever waits for it, if they are the same person."""

    @web.authenticated
    @authorized("write", resource=AUTH_RESOURCE)  # type: ignore[untyped-decorator]
    async def get(self) -> None:
        """The state in the address tells which log-in it is; nobody else knows it."""
        services: Services = self.settings["hdsp_agent_services"]
        state = self.get_query_argument("state", "")
        code, issuer, error = (self.get_query_argument(name, None) for name in ("code", "iss", "error"))
        try:
            services.mcp_servers.hub.logins(owner_of(self)).come_back(state, code, issuer, error)
        except HdspAgentError as problem:
            self.set_status(problem.status)
            text = problem.message
        else:
            text = "You are logged in. You can close this page." if code is not None else "You are not logged in."
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "no-referrer")
        await self.finish(_PAGE.format(text=escape(text)))
