"""A conversation as a link for others of the hub: what would go, and sending it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue

from ...errors import NotAllowed
from ...wire import WireModel
from ..identity import owner_of
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["TaskShareHandler"]

Names = Annotated[list[Annotated[str, Field(min_length=1, max_length=255)]], Field(max_length=100)]


class ShareOffer(WireModel):
    """What a link to a conversation would show, and what the hub allows."""

    available: bool
    """Whether this server has a hub service, and is the person's own. Otherwise the rest is empty."""
    messages: int = 0
    images: int = 0
    outputs: int = 0
    """Long outputs that go in full."""
    images_left_out: int = 0
    outputs_left_out: int = 0
    """Those for which there is no room."""
    groups: list[str] = Field(default_factory=list)
    """The person's own."""
    most_days: int = 0
    links: int = 0
    """How many links the person has."""
    most_links: int = 0
    page: str = ""
    """Where they are listed: a whole address, or a path of the hub's."""


class ShareBody(WireModel):
    """Who may read it: everybody who can log in to the hub, or groups and people. And for how many days."""

    everybody: bool = False
    groups: Names = Field(default_factory=list)
    people: Names = Field(default_factory=list)
    days: Annotated[int, Field(ge=1, le=366)] = 30


class SharedLinkView(WireModel):
    """The link."""

    url: str
    """A whole address, or a path of the hub's."""
    ends: int
    """Milliseconds since 1970."""


class TaskShareHandler(RestHandler):
    """`GET|POST tasks/{task}/share`"""

    @endpoint("Show what a link to a conversation would show to others of the hub", answer=ShareOffer)
    async def get(self, task: str) -> ShareOffer:
        """Nothing is sent."""
        reader = await self.services.history.task(owner_of(self), task)
        hub = self.services.hub_links
        if not hub.is_there or not self._is_own_server:
            return ShareOffer(available=False)
        offer = await hub.offer()
        conversation = await hub.conversation(reader, offer)
        return ShareOffer(
            available=True,
            messages=len(conversation.messages),
            images=sum(len(message.images) for message in conversation.messages),
            outputs=sum(len(message.outputs) for message in conversation.messages),
            images_left_out=conversation.images_left_out,
            outputs_left_out=conversation.outputs_left_out,
            groups=list(offer.groups),
            most_days=offer.most_days,
            links=len(offer.links),
            most_links=offer.most_links,
            page=offer.page,
        )

    @endpoint(
        "Share a conversation as a link for others of the hub",
        answer=SharedLinkView,
        body=ShareBody,
        action="write",
        status=201,
    )
    async def post(self, task: str, *, body: ShareBody) -> SharedLinkView:
        """As it is now; what happens later is not in it."""
        reader = await self.services.history.task(owner_of(self), task)
        if not self._is_own_server:
            raise NotAllowed("Only the person whose server this is can share conversations from it.", why="guest")
        hub = self.services.hub_links
        conversation = await hub.conversation(reader, await hub.offer())
        audience: dict[str, JsonValue] = {
            "everybody": body.everybody,
            "groups": [*body.groups],
            "people": [*body.people],
        }
        link = await hub.share(conversation, audience, body.days)
        return SharedLinkView(url=link.url, ends=int(link.ends * 1000))

    @property
    def _is_own_server(self) -> bool:
        # The hub would take what a guest shares for the owner's.
        return owner_of(self) == self.services.storage.person
