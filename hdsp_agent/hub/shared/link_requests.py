"""What people's servers and administrators ask of links: share a conversation, list links, take one back."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from pydantic import Field, JsonValue, ValidationError
from tornado.http1connection import HTTP1Connection
from tornado.web import HTTPError, stream_request_body

from ...errors import Conflict, InvalidInput
from ...persistence import SharedConversation
from ...wire import WireModel
from ..hub_handler import HubHandler
from ..people import HubPerson
from ..policies import SharingPolicy
from ..refusals import Refusal
from ..service import HubService
from .links import LinkAudience, LinkFacts, SharedLink

__all__ = ["AdminLinkHandler", "AdminLinksHandler", "LinkHandler", "LinksHandler"]

_DAY_SECONDS: Final = 86_400
_DAYS: Final = 30
_MOST_AT_ONCE: Final = 16
_MOST_FRAME: Final = 64 * 1024
"""What a request has beside the conversation."""


class _ShareRequest(WireModel):
    conversation: SharedConversation
    audience: LinkAudience
    days: Annotated[int, Field(ge=1, le=366)] = _DAYS


@stream_request_body
class LinksHandler(HubHandler):
    """A person's own links. What is to be shared is not read before it is known who sends it."""

    def initialize(self, service: HubService) -> None:
        """Nothing of the body is there yet."""
        super().initialize(service)
        self._pieces: list[bytes] = []
        self._is_sharing = self._is_making = False

    async def prepare(self) -> None:
        """See who asks, and whether what they send is not too much."""
        self._person = await self.user()
        if self.request.method != "POST":
            return
        policy = self._policy()
        if not policy.allowed:
            raise Refusal(403, "sharing_not_allowed", "Sharing conversations as links is switched off on this hub.")
        connection = self.request.connection
        assert isinstance(connection, HTTP1Connection)
        if connection.stream.closed():
            # Nobody would tell us again that the client is gone.
            return
        most = policy.most_bytes + _MOST_FRAME
        connection.set_max_body_size(most)
        length = self.request.headers.get("Content-Length", "")
        if length.isascii() and length.isdigit() and int(length) > most:
            raise Refusal(413, "request_too_large", f"A shared conversation may have {policy.mebibytes} MiB at most.")
        if self._person.name in self.service.sharing:
            raise Refusal(
                429, "rate_limit_error", "You are sharing another conversation just now. Try again when it is done."
            )
        if len(self.service.sharing) >= _MOST_AT_ONCE:
            raise Refusal(
                503, "service_unavailable", "Many people share a conversation just now. Try again later.",
                headers={"x-should-retry": "true", "retry-after": "5"},
            )  # fmt: skip
        self.service.sharing.add(self._person.name)
        self._is_sharing = True

    def data_received(self, chunk: bytes) -> None:
        """Keep a piece of the body."""
        self._pieces.append(chunk)

    def on_finish(self) -> None:
        """The person may share another, unless this one is still worked on."""
        if self._is_sharing and not self._is_making:
            self.service.sharing.discard(self._person.name)
            self._is_sharing = False

    def on_connection_close(self) -> None:
        """It may never come to its end."""
        super().on_connection_close()
        self.on_finish()

    async def get(self) -> None:
        """Tell the person's links, and what they may share."""
        policy, now = self._policy(), self.service.time()
        links: list[JsonValue] = [_told(self, link) for link in await self.service.links.of(self._person.name, now)]
        self.answer(
            {
                "allowed": policy.allowed,
                "mostBytes": policy.most_bytes,
                "mostDays": policy.days,
                "mostLinks": policy.links,
                "groups": list(self._person.groups),
                "page": _address(self.service, "shared"),
                "links": links,
            }
        )

    async def post(self) -> None:
        """Share a conversation."""
        self._is_making = True
        try:
            link = await self._share()
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise Refusal(400, "invalid_request_error", f"The request is not valid: {where}: {first['msg']}.") from None
        except InvalidInput as error:
            raise Refusal(400, "invalid_request_error", error.message) from None
        except Conflict as error:
            raise Refusal(409, "too_many_links", error.message) from None
        finally:
            self._is_making = False
            self.on_finish()
        self.set_status(201)
        self.answer(_told(self, link))

    async def _share(self) -> SharedLink:
        person, policy, service = self._person, self._policy(), self.service
        body = b"".join(self._pieces)
        self._pieces.clear()
        wanted = await asyncio.to_thread(_ShareRequest.model_validate_json, body)
        if wanted.days > policy.days:
            raise InvalidInput(f"A link may last {policy.days} days at most.")
        page = await service.pages.make((await asyncio.to_thread(wanted.conversation.to_json)).encode())
        now = service.time()
        link = await service.links.add(
            person.name,
            wanted.conversation.title,
            wanted.audience,
            page,
            now=now,
            ends=now + wanted.days * _DAY_SECONDS,
            most=policy.links,
        )
        try:
            await service.record_access(person.name, f"hub share link {link.facts.number}", "export")
        except BaseException:
            # Nothing is shared that the log does not know of.
            await service.links.end(link.facts.number)
            raise
        return link

    def _policy(self) -> SharingPolicy:
        return self.service.policies.now.policies.sharing


class LinkHandler(HubHandler):
    """One of a person's own links."""

    async def delete(self, number: str) -> None:
        """Take it back. Nobody opens it from now on."""
        person = await self.user()
        await _end(self, person, number, person.name)


class AdminLinksHandler(HubHandler):
    """Everybody's links, for administrators, without a word of what they show."""

    async def get(self) -> None:
        """Whose, for whom, and until when."""
        await self.admin("hub links")
        links: list[JsonValue] = [_facts(one) for one in await self.service.links.all(self.service.time())]
        self.answer({"links": links})


class AdminLinkHandler(HubHandler):
    """One of everybody's links."""

    async def delete(self, number: str) -> None:
        """End it, without reading it."""
        await _end(self, await self.admin("hub links"), number, None)


async def _end(handler: HubHandler, person: HubPerson, number: str, owner: str | None) -> None:
    ended = await handler.service.links.end(int(number), owner)
    if ended is None:
        raise HTTPError(404, reason="There is no such link.")
    await handler.service.record_access(person.name, f"hub end link {ended.number} of {ended.owner}", "delete")
    handler.answer({"number": ended.number})


def _facts(link: LinkFacts) -> dict[str, JsonValue]:
    return {
        "number": link.number,
        "owner": link.owner,
        "audience": link.audience.to_wire(),
        "created": link.created,
        "ends": link.ends,
        "bytes": link.bytes,
    }


def _told(handler: HubHandler, link: SharedLink) -> dict[str, JsonValue]:
    return {**_facts(link.facts), "title": link.title, "url": _address(handler.service, f"shared/{link.id}")}


def _address(service: HubService, page: str) -> str:
    """Where browsers find a page: with a host where the hub has one for services, else as a path of the hub's."""
    oauth = service.addresses.oauth
    own = oauth.redirect.removesuffix("oauth_callback") if oauth is not None else service.addresses.prefix
    return f"{own if own.endswith('/') else service.addresses.prefix}{page}"
