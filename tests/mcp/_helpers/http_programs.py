"""Programs of other makers, by the SDK's own client over real HTTP, and messages by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
from mcp import Client
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation
from pydantic import JsonValue

from hdsp_agent.messages import JsonObject

__all__ = ["LEGACY", "MODERN", "Programs", "modern_headers", "modern_request"]

LEGACY = "2025-11-25"
MODERN = "2026-07-28"


@dataclass(frozen=True)
class Programs:
    """Who knows the address and has the token."""

    url: str
    headers: Mapping[str, str]

    @asynccontextmanager
    async def connected(
        self,
        mode: str = "auto",
        name: str = "Claude Code",
        headers: Mapping[str, str] | None = None,
        asked: ElicitationFnT | None = None,
    ) -> AsyncIterator[Client]:
        """A program that has said hello; with ``asked`` it puts questions to its person."""
        info = Implementation(name="claude-code", title=name, version="2.1")
        async with (
            httpx2.AsyncClient(
                headers={**self.headers, **(headers or {})}, trust_env=False, timeout=httpx2.Timeout(60)
            ) as http,
            Client(
                streamable_http_client(self.url, http_client=http, max_sse_event_size=None),
                mode=mode,
                client_info=info,
                cache=None,
                elicitation_callback=asked,
            ) as client,
        ):
            yield client

    async def post(self, message: JsonObject, headers: Mapping[str, str] | None = None) -> httpx2.Response:
        """One message of 2026-07-28 by hand; ``headers`` replace ours."""
        sent = {**self.headers, **modern_headers(message), **(headers or {})}
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
            return await http.post(self.url, json=message, headers={k: v for k, v in sent.items() if v})

    async def session(self, capabilities: JsonObject | None = None) -> Mapping[str, str]:
        """Say hello as 2025-11-25 has it; the headers that later messages need."""
        hello: JsonObject = {
            "protocolVersion": LEGACY,
            "capabilities": capabilities or {},
            "clientInfo": {"name": "by-hand", "version": "1"},
        }
        answer = await self._post({}, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
        answer.raise_for_status()
        headers = {"Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": LEGACY}
        await self._post(headers, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        return headers

    async def post_in_session(self, session: Mapping[str, str], method: str, /, **params: JsonValue) -> httpx2.Response:
        """One request of 2025-11-25 by hand."""
        return await self._post(session, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})

    async def _post(self, session: Mapping[str, str], message: JsonObject) -> httpx2.Response:
        sent = {**self.headers, **session, "Accept": "application/json, text/event-stream"}
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
            return await http.post(self.url, json=message, headers=sent)


def modern_request(method: str, request_id: int = 1, /, **params: JsonValue) -> JsonObject:
    """A message with all that this version wants."""
    meta: JsonObject = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "by-hand", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**params, "_meta": meta}}


def modern_headers(message: JsonObject) -> dict[str, str]:
    """And the headers that say the same."""
    params = message.get("params")
    name = params.get("name", params.get("uri")) if isinstance(params, dict) else None
    return {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": str(message["method"]),
        **({"Mcp-Name": str(name)} if name else {}),
    }
