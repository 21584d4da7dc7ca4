"""What a model would write at the cursor."""

from __future__ import annotations

from typing import Annotated, Literal

import anyio
from pydantic import Field

from ...agent.ghost_text import CellAbove, Place
from ...wire import WireModel
from ..identity import owner_of
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["GhostTextHandler"]

_MOST_CHARACTERS = 100_000


class GhostTextCell(WireModel):
    """A cell above the one that is written in."""

    kind: Literal["code", "markdown"]
    source: Annotated[str, Field(max_length=_MOST_CHARACTERS)]


class GhostTextAsked(WireModel):
    """Where somebody writes."""

    before: Annotated[str, Field(max_length=_MOST_CHARACTERS)]
    """What is before the cursor, in the cell or file."""
    after: Annotated[str, Field(max_length=_MOST_CHARACTERS)] = ""
    kind: Literal["code", "markdown"] = "code"
    language: Annotated[str, Field(max_length=100)] = "python"
    path: Annotated[str, Field(max_length=4_096)] | None = None
    """The notebook or file."""
    cells: Annotated[list[GhostTextCell], Field(max_length=100)] = Field(default_factory=list)
    """Those above, the nearest last."""
    count: Annotated[int, Field(ge=1, le=3)] = 1
    """How many suggestions are wanted."""


class GhostTextView(WireModel):
    """What may be written there, the likeliest first."""

    suggestions: list[str]


class GhostTextHandler(RestHandler):
    """`POST ghost-text`"""

    _work: anyio.CancelScope | None = None

    @endpoint("Suggest what to write at the cursor", answer=GhostTextView, body=GhostTextAsked, action="write")
    async def post(self, *, body: GhostTextAsked) -> GhostTextView:
        """Nothing is suggested while ghost text is off, or a conversation has the model on this machine.

        What a request took of its model counts for the caller, who may have reached their limit.
        """
        place = Place(
            before=body.before,
            after=body.after,
            kind=body.kind,
            language=body.language,
            cells=[CellAbove(cell.kind, cell.source) for cell in body.cells],
        )
        found: list[str] = []
        with anyio.CancelScope() as self._work:
            found = await self.services.ghost_text.suggest(
                place, path=body.path, count=body.count, person=owner_of(self)
            )
        return GhostTextView(suggestions=found)

    def on_connection_close(self) -> None:
        """Who types on waits for it no more."""
        super().on_connection_close()
        if self._work is not None:
            self._work.cancel()
