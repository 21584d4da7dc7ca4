"""What the page may ask for about stored conversations over the channel."""

from __future__ import annotations

from pydantic import JsonValue

from ..messages import (
    DeleteMultipleTasksWithIdsRequest,
    DeleteTaskWithIdRequest,
    ExportTaskWithIdRequest,
    GetTaskWithAggregatedCostsRequest,
    HistorySnippet,
    HistorySnippetPart,
    LoadMessagesRequest,
    MessagesPage,
    TaskWithAggregatedCostsMessage,
)
from ..persistence import HistoryHit, HistoryPage
from ._channel_hub import ChannelHub
from ._dispatch import Dispatcher, RequestContext
from .history import History

__all__ = ["HistoryRequests", "snippets_of"]

_PAGE = 50


class HistoryRequests:
    """Handles what concerns the history and conversations that are only read.

    A page goes to the tab that asked, before the answer; where the answer came without it, the connection was lost
    between the two and the page is to be asked for again.
    """

    def __init__(self, history: History, channels: ChannelHub) -> None:
        self._history = history
        self._channels = channels

    def register(self, dispatcher: Dispatcher) -> None:
        """Take responsibility for these types of message."""
        dispatcher.handle_all(
            {
                "loadMessages": self.load_messages,
                "deleteTaskWithId": self.delete,
                "deleteMultipleTasksWithIds": self.delete_several,
                "exportTaskWithId": self.export,
                "getTaskWithAggregatedCosts": self.costs,
            }
        )

    async def load_messages(self, context: RequestContext, message: LoadMessagesRequest) -> None:
        """A page of a conversation."""
        page = await self._history.messages(
            context.owner, message.task_id, before=message.before_ts, limit=message.limit or _PAGE
        )
        await self._channels.send_to(
            context,
            MessagesPage(
                task_id=message.task_id, cline_messages=page.messages, has_older_messages=page.has_older
            ),
        )  # fmt: skip

    async def delete(self, context: RequestContext, message: DeleteTaskWithIdRequest) -> JsonValue:
        """With its subtasks; the answer names all that went."""
        return list[JsonValue](await self._history.delete(context.owner, [message.task_id]))

    async def delete_several(self, context: RequestContext, message: DeleteMultipleTasksWithIdsRequest) -> JsonValue:
        """All or none."""
        return list[JsonValue](await self._history.delete(context.owner, message.ids))

    async def export(self, context: RequestContext, message: ExportTaskWithIdRequest) -> JsonValue:
        """Where the page downloads it, below base_url; a file is not for the channel."""
        return await self._address_of(context, message.task_id)

    async def costs(self, context: RequestContext, message: GetTaskWithAggregatedCostsRequest) -> None:
        """What a task cost together with its subtasks."""
        costs = await self._history.costs(context.owner, message.task_id)
        await self._channels.send_to(
            context, TaskWithAggregatedCostsMessage(text=message.task_id, aggregated_costs=costs)
        )

    async def _address_of(self, context: RequestContext, task_id: str) -> str:
        task = await self._history.task(context.owner, task_id)
        return f"hdsp-agent/api/tasks/{task.task_id}/export?format=markdown"


def snippets_of(page: HistoryPage) -> dict[str, HistorySnippet] | None:
    """Where the tasks of a page say what was searched for; None if nothing was."""
    found = {hit.item.id: snippet for hit in page.hits if (snippet := _snippet(hit)) is not None}
    return found or None


def _snippet(hit: HistoryHit) -> HistorySnippet | None:
    if hit.snippet is None:
        return None
    parts = [HistorySnippetPart(text=part.text, found=part.found) for part in hit.snippet.parts]
    return HistorySnippet(field=hit.snippet.field, parts=parts)
