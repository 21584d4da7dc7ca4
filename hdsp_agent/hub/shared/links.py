"""What a link to a conversation is: whose, for whom, until when, and what its page shows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from ...wire import WireModel

__all__ = ["LinkAudience", "LinkFacts", "PageContent", "PageMessage", "SharedLink"]

_MOST_NAMES: Final = 100

Name = Annotated[str, Field(min_length=1, max_length=255)]
Names = Annotated[tuple[Name, ...], Field(max_length=_MOST_NAMES)]


class LinkAudience(WireModel):
    """Who may open a link, beside the person who shares: everybody who can log in, or members of groups and people by name."""

    everybody: bool = False
    groups: Names = ()
    people: Names = ()

    @model_validator(mode="after")
    def _somebody(self) -> LinkAudience:
        if self.everybody == bool(self.groups or self.people):
            raise ValueError("name everybody, or groups or people")
        return self

    def has(self, name: str, groups: Collection[str]) -> bool:
        """Whether a person with these groups is in it."""
        return self.everybody or name in self.people or not frozenset(groups).isdisjoint(self.groups)


class PageMessage(WireModel):
    """A message as the page has it: ``html`` is harmless, and so are images."""

    ts: int
    by: Literal["person", "agent", "tool"]
    html: str
    images: tuple[str, ...] = ()
    """As addresses that hold the whole image."""
    outputs: tuple[str, ...] = ()
    """The text of long outputs."""


class PageContent(WireModel):
    """All of a page but what is around it, which is in the reader's language."""

    as_of: int
    images_left_out: int = 0
    outputs_left_out: int = 0
    messages: tuple[PageMessage, ...]


@dataclass(frozen=True)
class LinkFacts:
    """A link without a word of what it shows."""

    number: int
    """What it is called where its address must not stand."""
    owner: str
    audience: LinkAudience
    created: float
    ends: float
    bytes: int


@dataclass(frozen=True)
class SharedLink:
    """A link as the person who shared it sees it."""

    facts: LinkFacts
    id: str
    """What cannot be guessed of its address."""
    title: str

    def is_for(self, name: str, groups: Collection[str]) -> bool:
        """Whether somebody may open it."""
        return name == self.facts.owner or self.facts.audience.has(name, groups)
