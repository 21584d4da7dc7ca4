"""The pages of links: one that shows a conversation, a person's own links, and everybody's for administrators."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from markupsafe import Markup

from ..admin.page_handler import PageHandler, PageRefusal
from ..admin.usage_summaries import PAGE_ROWS

if TYPE_CHECKING:
    from ..people import HubPerson
    from .links import PageContent

__all__ = ["AllLinksPage", "EndAnyLinkHandler", "EndLinkHandler", "OwnLinksPage", "SharedPage"]


class SharedPage(PageHandler):
    """A conversation to read."""

    for_readers = True
    images = "data:"

    async def get(self, name: str) -> None:
        """Show it to those it is for. For others there is no such page, as for those who guess."""
        if (reader := await self.signed_in()) is None:
            return
        link = await self.service.links.find(name, self.service.time())
        is_allowed = self.service.policies.now.policies.sharing.allowed and not reader.is_service
        if link is None or not is_allowed or not link.is_for(reader.name, reader.groups):
            raise self._not_there()
        async with self.service.showing:
            content = await self.service.links.content(link.facts.number)
            if content is None:
                raise self._not_there()
            if not self.service.openings.has(reader.name, link.facts.number):
                what = f"hub open link {link.facts.number} of {link.facts.owner}"
                await self.service.record_access(reader.name, what)
                self.service.openings.add(reader.name, link.facts.number)
            # A long page takes seconds; other requests go on meanwhile.
            text = await asyncio.to_thread(
                self.rendered, "shared.html", None, reader=reader, link=link, content=content, messages=_shown(content)
            )
        self.send_page(text)

    def _not_there(self) -> PageRefusal:
        return PageRefusal(404, self.translated("There is no such link, it has ended, or it is not for you."))


class OwnLinksPage(PageHandler):
    """What the person shares."""

    for_readers = True

    async def get(self) -> None:
        """Show it to them."""
        if (reader := await self.signed_in()) is None:
            return
        links = await self.service.links.of(reader.name, self.service.time())
        self.show(
            "own_links.html", None, reader=reader, links=links, xsrf=self.session.xsrf,
            was_ended=self.get_query_argument("ended", ""),
        )  # fmt: skip


class EndLinkHandler(PageHandler):
    """Takes one of a person's own links back."""

    for_readers = True

    async def post(self) -> None:
        """Nobody opens it from now on."""
        if (reader := await self.signed_in()) is not None:
            await _end(self, reader, reader.name, "shared")


class AllLinksPage(PageHandler):
    """Everybody's links, without a word of what they show."""

    page = "links"

    async def get(self) -> None:
        """Show it to an administrator."""
        if (viewer := await self.enter()) is None:
            return
        now, (part, first) = self.service.time(), self.first_row()
        count = await self.service.links.count(now)
        links = await self.service.links.all(now, first, PAGE_ROWS)
        self.show(
            "all_links.html",
            viewer,
            links=links,
            count=count,
            first=first,
            part=part,
            parts=max(1, -(-count // PAGE_ROWS)),
            xsrf=self.session.xsrf,
            was_ended=self.get_query_argument("ended", ""),
        )


class EndAnyLinkHandler(PageHandler):
    """Ends somebody's link."""

    page = "links"

    async def post(self) -> None:
        """Without reading it."""
        if (viewer := await self.enter()) is not None:
            await _end(self, viewer, None, "links")


async def _end(handler: PageHandler, person: HubPerson, owner: str | None, page: str) -> None:
    number = handler.get_body_argument("link", "")
    is_number = number.isascii() and number.isdigit() and len(number) < 16
    ended = await handler.service.links.end(int(number), owner) if is_number else None
    if ended is not None:
        await handler.service.record_access(person.name, f"hub end link {ended.number} of {ended.owner}", "delete")
    handler.redirect(f"{handler.service.addresses.prefix}{page}?ended={'yes' if ended else 'no'}", status=303)


def _shown(content: PageContent) -> list[tuple[str, float, Markup, tuple[str, ...], tuple[str, ...]]]:
    """Who says what and when. What the service itself made of it when it was shared is harmless."""
    return [
        (one.by, one.ts / 1000, Markup(one.html), one.images, one.outputs)  # noqa: S704
        for one in content.messages
    ]
