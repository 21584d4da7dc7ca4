"""The history: found, paged, renamed, deleted."""

from __future__ import annotations

from ...messages import HistoryItem
from ...persistence import HistoryQuery
from ..history import ItemChange
from ..history_requests import snippets_of
from ..identity import owner_of
from ..subtask_chain import change_chain
from ._history_bodies import Deleted, HistoryChangeBody, HistoryList, HistoryListQuery, HistoryPlacesView, PlaceView
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["HistoryHandler", "HistoryItemHandler", "HistoryPlacesHandler"]


class HistoryHandler(RestHandler):
    """`GET history`"""

    @endpoint(
        "The caller's conversations, searched, sorted, a page at a time", answer=HistoryList, query=HistoryListQuery
    )
    async def get(self, *, query: HistoryListQuery) -> HistoryList:
        """Answer from the index."""
        page = await self.services.history.page(
            owner_of(self),
            HistoryQuery(
                text=query.query or "",
                sort=query.sort,
                workspace=query.workspace,
                notebook=query.notebook,
                favorites=query.favorites,
                since=query.since,
                until=query.until,
                limit=query.limit,
                cursor=query.cursor,
            ),
        )
        return HistoryList(
            task_history=[hit.item for hit in page.hits],
            total=page.total,
            next_cursor=page.next,
            snippets=snippets_of(page),
        )


class HistoryPlacesHandler(RestHandler):
    """`GET history/places`"""

    @endpoint("The folders and notebooks the caller's conversations are about", answer=HistoryPlacesView)
    async def get(self) -> HistoryPlacesView:
        """Answer from the index."""
        places = await self.services.history.places(owner_of(self))
        return HistoryPlacesView(
            workspaces=[PlaceView(path=place.path, tasks=place.tasks) for place in places.workspaces],
            notebooks=[PlaceView(path=place.path, tasks=place.tasks) for place in places.notebooks],
        )


class HistoryItemHandler(RestHandler):
    """`GET|PATCH|DELETE history/{task}`"""

    @endpoint("One line of the history", answer=HistoryItem)
    async def get(self, task: str) -> HistoryItem:
        """As the task's folder has it."""
        return await self.services.history.item(owner_of(self), task)

    @endpoint(
        "Rename a conversation, mark it as a favorite, or turn memory off for it",
        answer=HistoryItem,
        body=HistoryChangeBody,
        action="write",
    )
    async def patch(self, task: str, *, body: HistoryChangeBody) -> HistoryItem:
        """Not while it is worked on."""
        owner, history = owner_of(self), self.services.history
        if body.memory_off is not None:
            # What a subtask hears and learns is part of the conversation.
            await change_chain(history, owner, task, ItemChange(memory_off=body.memory_off))
        return await history.change(owner, task, ItemChange(title=body.title, favorite=body.is_favorited))

    @endpoint("Delete a conversation and its subtasks", answer=Deleted, action="write")
    async def delete(self, task: str) -> Deleted:
        """Not while it, or one of its subtasks, is worked on."""
        return Deleted(task_ids=await self.services.history.delete(owner_of(self), [task]))
