"""How many tokens go along with a message that is being written."""

from __future__ import annotations

from typing import Annotated, Final

import anyio
from pydantic import Field

from ...agent.user_messages import DraftTokens, TokenCount, draft_state, draft_tokens
from ...messages import AttachmentList, Images, NotebookRef, TaskIdField, Text
from ...wire import WireModel
from ..identity import owner_of
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["AttachmentTokensHandler"]


class AttachmentTokensAsked(WireModel):
    """What goes along."""

    task: TaskIdField | None = None
    """The conversation; absent for one that is yet to begin."""
    notebook: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """What one works on that is yet to begin."""
    text: Text = ""
    """What the message names with an ``@``; the rest of it does not count."""
    attachments: AttachmentList = Field(default_factory=list)
    images: Images = Field(default_factory=list)
    """Their beginnings will do: those of most tell how large an image is."""


class TokenCountView(WireModel):
    """How many tokens something is."""

    tokens: int
    is_exact: bool
    """Whether the model counts so; else it is an estimate."""


class AttachmentTokensView(WireModel):
    """How many tokens go along."""

    total: TokenCountView
    """With what the message names."""
    is_partial: bool
    """Whether there is more that is not counted until it is read: from another machine, or since a checkpoint."""
    attachments: list[TokenCountView | None]
    """None for such a one."""
    images: list[TokenCountView]


class AttachmentTokensHandler(RestHandler):
    """`POST attachments/tokens`"""

    _work: anyio.CancelScope | None = None

    # Files are read for it as they would be for the conversation.
    @endpoint(
        "Count the tokens that go along with a message",
        answer=AttachmentTokensView,
        body=AttachmentTokensAsked,
        action="write",
    )
    async def post(self, *, body: AttachmentTokensAsked) -> AttachmentTokensView:
        """As its model counts, where that is on this machine and loaded; what was not sent goes to no other for it."""
        owner, view = owner_of(self), _NOTHING
        reader = None if body.task is None else await self.services.history.task(owner, body.task)
        manager = await self.services.agent.manager()
        notebook = None if body.notebook is None else NotebookRef(path=body.notebook)
        with anyio.CancelScope() as self._work:
            opened = None if reader is None else manager.tasks.opened(reader.task_id)
            worked_on = None if opened is None else opened.state
            state = await draft_state(manager.services, reader, worked_on=worked_on, owner=owner, notebook=notebook)
            view = _view(await draft_tokens(state, body.text, body.attachments, body.images))
        return view

    def on_connection_close(self) -> None:
        """Whoever changed the message waits for it no more."""
        super().on_connection_close()
        if self._work is not None:
            self._work.cancel()


def _view(found: DraftTokens) -> AttachmentTokensView:
    return AttachmentTokensView(
        total=_count(found.total),
        is_partial=found.is_partial,
        attachments=[None if one is None else _count(one) for one in found.attachments],
        images=[_count(one) for one in found.images],
    )


def _count(count: TokenCount) -> TokenCountView:
    return TokenCountView(tokens=count.tokens, is_exact=count.is_exact)


_NOTHING: Final = AttachmentTokensView(
    total=TokenCountView(tokens=0, is_exact=False), is_partial=True, attachments=[], images=[]
)
"""For who has gone."""
