"""Where the browser comes back to after the person logged in to an MCP server."""

from __future__ import annotations

import asyncio
from html import escape
from typing import TYPE_CHECKING, Final

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import JupyterHandler
from tornado import web

from .._page_language import page_language
from ..errors import NotFound
from .identity import owner_of
from .rest._rest_endpoint import AUTH_RESOURCE

if TYPE_CHECKING:
    from .._page_language import PageLanguage
    from .services import Services

__all__ = ["MCP_LOGIN_PATH", "McpLoginDoneHandler"]

MCP_LOGIN_PATH: Final = "/hdsp-agent/mcp-login"
_PAGE: Final = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>HDSP Agent</title>
<style>main {{ font: 1rem/1.5 system-ui, sans-serif; margin: 20vh auto 0; max-width: 30rem; padding: 0 1rem; }}</style>
</head>
<body><main><h1>HDSP Agent</h1><p>{text}</p></main></body>
</html>
"""


class McpLoginDoneHandler(JupyterHandler):
    """`GET mcp-login`: what comes back is told to whoever waits for it, if they are the same person."""

    @web.authenticated
    @authorized("write", resource=AUTH_RESOURCE)  # type: ignore[untyped-decorator]
    async def get(self) -> None:
        """The state in the address tells which log-in it is; nobody else knows it."""
        language = await asyncio.to_thread(page_language, self.request.headers.get("Accept-Language", ""))
        text = self._come_back(language)
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        self.set_header("Vary", "Accept-Language")
        self.set_header("Referrer-Policy", "no-referrer")
        await self.finish(_PAGE.format(language=language.code, text=escape(text)))

    def _come_back(self, language: PageLanguage) -> str:
        """Tell it on; what the person reads."""
        services: Services = self.settings["hdsp_agent_services"]
        state = self.get_query_argument("state", "")
        code, issuer, error = (self.get_query_argument(name, None) for name in ("code", "iss", "error"))
        try:
            services.mcp_servers.hub.logins(owner_of(self)).come_back(state, code, issuer, error)
        except NotFound as problem:
            self.set_status(problem.status)
            return language.translated("This sign-in is over. Start it again in JupyterLab.")
        if code is None:
            return language.translated("You are not signed in. You can close this page and try again in JupyterLab.")
        return language.translated("You are signed in. You can close this page.")
