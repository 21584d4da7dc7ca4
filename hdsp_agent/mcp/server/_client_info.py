"""The program at the other end, from what it says of itself and from who sent it."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from ...agent.external.port import ExternalClient
from ._elicitation import can_be_asked
from .caller import CALLER, Caller

__all__ = ["Context", "caller_of", "client_of"]

Context = ServerRequestContext[dict[str, Any], Any]

_NAMELESS: Final = "Another agent"
_NAME_LENGTH: Final = 60
_VERSION_LENGTH: Final = 30
_SESSION_HEADER: Final = "mcp-session-id"
_KNOWN: Final[Mapping[str, str]] = {"gemini-cli-mcp-client": "Gemini CLI"}
"""What people call programs that say it in no title."""
_VERSION_HEADER: Final = "mcp-protocol-version"
_INVISIBLE: Final = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""What shows as nothing, though Unicode counts it among letters, marks and signs."""


def caller_of(context: Context) -> Caller:
    """Who sent the request that the message came in."""
    assert context.request is not None
    caller: Caller = context.request.scope[CALLER]
    return caller


def client_of(context: Context) -> ExternalClient:
    """The program, as the engine knows it."""
    caller, params = caller_of(context), context.session.client_params
    info = None if params is None else params.client_info
    said = "" if info is None else info.title or _KNOWN.get(info.name, info.name)
    name = _cleaned(said, _NAME_LENGTH) or _NAMELESS
    return ExternalClient(
        owner=caller.owner,
        name=name,
        version=_cleaned("" if info is None else info.version, _VERSION_LENGTH) or None,
        key=_session(context) or _key(caller, name),
        folder=caller.folder,
        can_ask=can_be_asked(context.session),
    )


def _session(context: Context) -> str | None:
    """The session, where the protocol knows any: elsewhere nobody has looked at what a program writes there."""
    assert context.request is not None
    headers = context.request.headers
    version = headers.get(_VERSION_HEADER)
    return headers.get(_SESSION_HEADER) if version is None or version in HANDSHAKE_PROTOCOL_VERSIONS else None


def _key(caller: Caller, name: str) -> str:
    """The same for every request of one program of one person in one folder, where the protocol knows no sessions."""
    parts = "\0".join((caller.owner or "", name, caller.folder or ""))
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _cleaned(text: str, length: int) -> str:
    """One line of what can be seen: a name is shown where people decide what it may do."""
    # Letters that join or turn what stands around them are format characters (Cf), as are control characters (Cc).
    plain = _INVISIBLE.sub("", text[: 10 * length])
    seen = "".join(" " if unicodedata.category(each)[0] in "CZ" else each for each in plain)
    return " ".join(seen.split())[:length].rstrip()
