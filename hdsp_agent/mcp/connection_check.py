"""Whether a program could connect, and if not, why in plain words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from .._version import __version__

if TYPE_CHECKING:
    import httpx2

    from ..messages import JsonObject

__all__ = [
    "CHECK_NAME",
    "START_SECONDS",
    "SWITCHED_OFF",
    "CheckStep",
    "ConnectionCheck",
    "check_connection",
    "is_unknown_here",
    "not_installed",
]

SWITCHED_OFF: Final = "switched_off"
"""The code in a refusal's data while the server lets nobody connect."""

CHECK_NAME: Final = "Connection test"
"""What a check calls itself; it is not listed as connected."""

START_SECONDS: Final = (0.2, 0.5, 1.0, 2.0)
"""The pauses in which a Jupyter that is just starting is asked again: it answers before it has loaded us."""

_VERSION: Final = "2026-07-28"
_PATIENCE: Final = 30.0
_META: Final = "io.modelcontextprotocol/"


@dataclass(frozen=True)
class CheckStep:
    """One thing that was looked at."""

    step: Literal["found", "reached", "signedIn", "enabled", "tools"]
    ok: bool
    message: str


@dataclass(frozen=True)
class ConnectionCheck:
    """What was found, up to the first thing that is wrong."""

    steps: tuple[CheckStep, ...]
    tools: int | None = None
    """How many a program would see."""


async def check_connection(
    client: httpx2.AsyncClient, url: str, headers: Mapping[str, str] | None = None
) -> ConnectionCheck:
    """Ask the server for its tools, as a program does. It begins no session and shows nobody as connected."""
    import httpx2

    sent = {**_headers(), **(headers or {})}
    try:
        response = await client.post(url, json=_request(), headers=sent, timeout=_PATIENCE)
        for pause in START_SECONDS:
            if not is_unknown_here(response.status_code, response.content):
                break
            await asyncio.sleep(pause)
            response = await client.post(url, json=_request(), headers=sent, timeout=_PATIENCE)
    except httpx2.HTTPError as error:
        said = str(error) or type(error).__name__
        return ConnectionCheck((CheckStep("reached", False, f"{url} did not answer: {said}."),))
    return _judged(url, response.status_code, response.content)


def is_unknown_here(status: int, body: bytes) -> bool:
    """Whether Jupyter knows nothing of us: it has no HDSP Agent, or is just starting."""
    return status == 404 and "error" not in _parsed(body)


def not_installed(url: str) -> str:
    """What is said where it stays so."""
    return f"There is no HDSP Agent at {url}, or one that is older. Install it, then restart Jupyter."


def _judged(url: str, status: int, body: bytes) -> ConnectionCheck:
    reached = CheckStep("reached", True, f"{url} answers.")
    answer = _parsed(body)
    error = answer.get("error")
    said = str(error.get("message", "")) if isinstance(error, dict) else ""
    data = error.get("data") if isinstance(error, dict) else None
    if status == 401 or 300 <= status < 400:
        why = "The server wants a log-in. Give a token in the environment variable HDSP_AGENT_TOKEN."
        return ConnectionCheck((reached, CheckStep("signedIn", False, why)))
    if is_unknown_here(status, body):
        return ConnectionCheck((CheckStep("reached", False, not_installed(url)),))
    if isinstance(data, dict) and data.get("code") == SWITCHED_OFF:
        return ConnectionCheck(
            (reached, CheckStep("signedIn", True, "The server lets you in."), CheckStep("enabled", False, said))
        )
    if status == 403:
        return ConnectionCheck((reached, CheckStep("signedIn", False, said or "The server refused this token.")))
    signed_in = CheckStep("signedIn", True, "The server lets you in.")
    enabled = CheckStep("enabled", True, "Other agents may connect.")
    result = answer.get("result")
    tools = result.get("tools") if isinstance(result, dict) else None
    if not isinstance(tools, list):
        why = said or f"The server answered {status} with something else than its tools."
        return ConnectionCheck((reached, signed_in, enabled, CheckStep("tools", False, why)))
    offered = CheckStep("tools", True, f"A program sees {len(tools)} tools.")
    return ConnectionCheck((reached, signed_in, enabled, offered), len(tools))


def _parsed(body: bytes) -> JsonObject:
    try:
        answer = json.loads(body)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _request() -> JsonObject:
    meta: JsonObject = {
        f"{_META}protocolVersion": _VERSION,
        f"{_META}clientCapabilities": {},
        f"{_META}clientInfo": {"name": "hdsp-agent-test", "title": CHECK_NAME, "version": __version__},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}


def _headers() -> dict[str, str]:
    return {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": _VERSION,
        "Mcp-Method": "tools/list",
    }
