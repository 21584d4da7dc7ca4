"""Conversations that notebooks carry in their metadata: found, and on a person's wish made one of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

# What is imported from there by name would be loaded with the server, and only who opens a conversation needs it.
from .. import persistence
from ..config import MaskedKind
from ..errors import HdspAgentError, InvalidInput, NotFound
from ..messages import (
    EmbeddedConversationOffer,
    FindEmbeddedConversationRequest,
    OpenEmbeddedConversationRequest,
    TaskId,
)
from ..notebooks import NotebookAccess
from ..persistence import Masker
from ._dispatch import Dispatcher, RequestContext
from ._owner import Owner
from .history import History
from .open_panels import OpenPanels
from .task_storage import TaskStorage

if TYPE_CHECKING:
    from ..persistence import EmbeddedConversation

__all__ = ["EmbeddedConversations"]

_INDEXED_TEXTS: Final = 40


class EmbeddedConversations:
    """Handles what a page asks about them. What is in a notebook may come from anybody: only its words are taken."""

    def __init__(
        self,
        storage: TaskStorage,
        history: History,
        panels: OpenPanels,
        access: NotebookAccess,
        workspace: Path,
        *,
        masked_kinds: Callable[[], Collection[MaskedKind]],
    ) -> None:
        self._storage = storage
        self._history = history
        self._panels = panels
        self._access = access
        self._workspace = workspace
        self._masked_kinds = masked_kinds
        self._one_at_a_time = asyncio.Lock()

    def register(self, dispatcher: Dispatcher) -> None:
        """Take responsibility for these types of message."""
        dispatcher.handle_all(
            {
                "findEmbeddedConversation": self.find,
                "openEmbeddedConversation": self.open,
            }
        )

    async def find(self, context: RequestContext, message: FindEmbeddedConversationRequest) -> JsonValue:
        """What could be opened, if the person does not have it."""
        conversation = await self._in_file(message.path)
        if conversation is None or await self._known(context.owner, conversation) is not None:
            return None
        return EmbeddedConversationOffer(
            title=conversation.title, messages=len(conversation.messages), left_out=conversation.left_out
        ).to_wire()

    async def open(self, context: RequestContext, message: OpenEmbeddedConversationRequest) -> JsonValue:
        """Show the person's own, or make one that they can go on with."""
        conversation = await self._in_file(message.path)
        if conversation is None:
            raise NotFound("This notebook no longer contains a conversation.", path=message.path)
        owner = context.owner
        async with self._one_at_a_time:
            task_id = await self._known(owner, conversation) or await self._made(owner, message.path, conversation)
        await self._panels.show(owner, task_id)
        return task_id

    async def _in_file(self, path: str) -> EmbeddedConversation | None:
        snapshot = await self._access.in_file(path).snapshot()
        value = snapshot.metadata.get(persistence.EMBEDDED_KEY)
        return await asyncio.to_thread(persistence.read_embedded, value) if value is not None else None

    async def _known(self, owner: Owner, conversation: EmbeddedConversation) -> TaskId | None:
        """The owner's own conversation that this is, or the copy they have of it."""
        copy = await asyncio.to_thread(persistence.embedded_copy_id, conversation, owner)
        for task_id in (conversation.task_id, copy):
            try:
                return (await self._history.task(owner, task_id)).task_id
            except (NotFound, InvalidInput):
                # Not there, or no id at all: a notebook may name anything.
                continue
        return None

    async def _made(self, owner: Owner, path: str, conversation: EmbeddedConversation) -> TaskId:
        store = await self._storage.store()
        made = await persistence.import_embedded(
            conversation,
            store,
            task_id=await asyncio.to_thread(persistence.embedded_copy_id, conversation, owner),
            notebook=self._access.now_at(path),
            workspace=str(self._workspace),
            masker=Masker(self._masked_kinds()),
            user=owner,
        )
        if made.outcome != "imported":
            raise HdspAgentError("The conversation in this notebook could not be opened. See the server's log.")
        item = (await (await store.view(made.task_id)).read_state()).history_item
        assert item is not None
        await self._history.put(owner, item, text="\n".join(one.text for one in conversation.messages[:_INDEXED_TEXTS]))
        return made.task_id
