"""Conversations as links: what the hub service is asked by a person's server."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Final, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from pydantic.alias_generators import to_camel
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest

from ..errors import Conflict, HdspAgentError, InvalidInput, NotAllowed, Unavailable, Unsupported

if TYPE_CHECKING:
    from ..persistence import SharedConversation, TaskReader

__all__ = ["HubLinks", "LinkOffer", "NewLink"]

_SECONDS: Final = 20.0
_MAKING_SECONDS: Final = 180.0
"""The service makes one page at a time."""


class _Answer(BaseModel):
    # Of a newer service, which says more.
    model_config = ConfigDict(alias_generator=to_camel, extra="ignore", frozen=True, defer_build=True)


T = TypeVar("T", bound=_Answer)


class NewLink(_Answer):
    """A link. Times are seconds since 1970."""

    number: int
    url: str
    """A whole address, or a path of the hub's."""
    ends: float


class LinkOffer(_Answer):
    """What a person may share."""

    allowed: bool
    most_bytes: int
    most_days: int
    most_links: int
    groups: tuple[str, ...]
    page: str
    """Where the person's links are listed."""
    links: tuple[NewLink, ...]


class HubLinks:
    """The service at an address, asked with the token that JupyterHub gave this server."""

    def __init__(self, url: str, token: str) -> None:
        self._url = f"{url.rstrip('/')}/api/shared" if url else ""
        self._token = token

    @property
    def is_there(self) -> bool:
        """Whether this server has a service to share with."""
        return bool(self._url and self._token)

    async def offer(self) -> LinkOffer:
        """What the person may share. Raises Unsupported, Unavailable and NotAllowed."""
        return _read(LinkOffer, await self._ask("GET", _SECONDS))

    async def conversation(self, reader: TaskReader, offer: LinkOffer) -> SharedConversation:
        """What goes. Raises NotAllowed, and InvalidInput if it cannot be shared."""
        if not offer.allowed:
            raise NotAllowed("Sharing conversations as links is switched off on this hub.", why="sharing_not_allowed")
        from ..persistence import shared_conversation

        return await shared_conversation(reader, offer.most_bytes)

    async def share(self, conversation: SharedConversation, audience: dict[str, JsonValue], days: int) -> NewLink:
        """Send it. Raises InvalidInput, Conflict, Unsupported, Unavailable and NotAllowed."""
        body = await asyncio.to_thread(_body, conversation, audience, days)
        return _read(NewLink, await self._ask("POST", _MAKING_SECONDS, body))

    async def _ask(self, method: str, seconds: float, body: bytes | None = None) -> bytes:
        if not self.is_there:
            raise Unsupported("This server has no hub service to share conversations with.", why="no_hub_service")
        request = HTTPRequest(
            self._url,
            method=method,
            headers={"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
            body=body,
            connect_timeout=_SECONDS,
            request_timeout=seconds,
            follow_redirects=False,
        )
        try:
            answer = await AsyncHTTPClient().fetch(request, raise_error=False)
        except (OSError, HTTPClientError) as error:
            raise Unavailable(f"The hub service does not answer ({type(error).__name__}). Try again later.") from None
        if answer.code in (200, 201):
            return bytes(answer.body)
        raise _refused(answer.code, bytes(answer.body or b""))


def _body(conversation: SharedConversation, audience: dict[str, JsonValue], days: int) -> bytes:
    # Not through Python's objects once more: it may be long.
    told = f'{{"audience":{json.dumps(audience)},"days":{days},"conversation":{conversation.to_json()}}}'
    return told.encode()


def _read(model: type[T], content: bytes) -> T:
    try:
        return model.model_validate_json(content)
    except ValidationError:
        raise Unavailable("The hub service gave an answer that this version does not know. Update both.") from None


def _refused(status: int, body: bytes) -> HdspAgentError:
    try:
        message = str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        message = f"The hub service answered {status}."
    match status:
        case 400 | 413:
            return InvalidInput(message)
        case 401 | 403:
            return NotAllowed(message)
        case 404 | 405:
            return Unavailable(
                "The hub service is too old to share conversations. Ask your administrator to update it."
            )
        case 409:
            return Conflict(message)
        case _:
            return Unavailable(message)
