"""One search over what was said and written before, and how its comparing of meanings stands."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ...agent.recall import MeaningStatus
from ...config import SearchByMeaning
from ...errors import InvalidInput
from ...messages import ErrorBody, error_body
from ...recall import RecallHit, RecallKind
from ...wire import WireModel
from ..identity import owner_of
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["RecallHandler", "RecallMeaningHandler"]

_KINDS: tuple[RecallKind, ...] = ("conversation", "memory", "notebook")


class RecallSearchQuery(WireModel):
    """What to look for, and where. ``kinds`` is a list with commas."""

    query: Annotated[str, Field(min_length=1, max_length=2_000)]
    kinds: Annotated[str, Field(max_length=100)] = ",".join(_KINDS)
    workspace: Annotated[str, Field(max_length=4_096)] | None = None
    since: Annotated[int, Field(ge=0)] | None = None
    """In milliseconds since 1970, as ``until``."""
    until: Annotated[int, Field(ge=0)] | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20


class RecallPart(WireModel):
    """A stretch of a snippet, and whether it is what was looked for."""

    text: str
    found: bool


class RecallFound(WireModel):
    """A passage that was found: a message of a conversation, a section of a memory file, a cell of a notebook."""

    kind: RecallKind
    source: str
    """The conversation's id, the memory file's name, or the notebook's whole path."""
    title: str
    path: str | None = None
    """The notebook's path in Jupyter; absent if it is in another workspace."""
    place: str
    """The message's time, the section's number, or the cell's id."""
    ts: int
    author: Literal["person", "agent"] | None = None
    text: str
    snippet: list[RecallPart]


class RecallFoundList(WireModel):
    """The passages that answer best, the best first."""

    found: list[RecallFound]


class RecallMeaningView(WireModel):
    """How searching by meaning stands."""

    by: SearchByMeaning
    installed: bool
    """Whether the extra ``semantic`` is."""
    unread: int
    """How many passages are found by their words alone so far."""
    failure: ErrorBody | None = None
    """Why searching goes by words alone just now."""


class RecallHandler(RestHandler):
    """`GET recall`"""

    @endpoint(
        "Search the caller's conversations, memory and notebooks", answer=RecallFoundList, query=RecallSearchQuery
    )
    async def get(self, *, query: RecallSearchQuery) -> RecallFoundList:
        """What was said just now is found as well."""
        kinds = [kind for kind in _KINDS if kind in query.kinds.split(",")]
        if not kinds or len(kinds) != len(query.kinds.split(",")):
            raise InvalidInput(f"kinds is {query.kinds!a}. It may contain {', '.join(_KINDS)}.", field="kinds")
        await self.services.storage.index()
        hits = await self.services.past.search(
            owner_of(self),
            query.query,
            kinds=frozenset(kinds),
            workspace=query.workspace,
            since=query.since,
            until=query.until,
            limit=query.limit,
        )
        paths = await self.services.past.notebooks_here(hits)
        return RecallFoundList(found=[_found(hit, paths.get(hit.source.id)) for hit in hits])


class RecallMeaningHandler(RestHandler):
    """`GET|POST recall/meaning`"""

    @endpoint("Show the state of searching by meaning", answer=RecallMeaningView)
    async def get(self) -> RecallMeaningView:
        """No word is sent for this. What is unread is soon read in the background."""
        await self.services.storage.index()
        return _view(await self.services.past.meaning())

    @endpoint(
        "Test the embeddings endpoint, or the installed model, with one word",
        answer=RecallMeaningView,
        action="write",
    )
    async def post(self) -> RecallMeaningView:
        """What went wrong is in the answer."""
        await self.services.storage.index()
        return _view(await self.services.past.try_meaning())


def _view(status: MeaningStatus) -> RecallMeaningView:
    failure = error_body(status.failure) if status.failure is not None else None
    return RecallMeaningView(by=status.by, installed=status.installed, unread=status.unread, failure=failure)


def _found(hit: RecallHit, path: str | None) -> RecallFound:
    return RecallFound(
        kind=hit.source.kind,
        source=hit.source.id,
        title=hit.source.title,
        path=path if hit.source.kind == "notebook" else None,
        place=hit.passage.place,
        ts=hit.passage.ts,
        author=hit.passage.author,
        text=hit.passage.text,
        snippet=[RecallPart(text=part.text, found=part.found) for part in hit.snippet.parts],
    )
