"""What the page may ask for about the conversations that are open beside each other."""

from __future__ import annotations

from ..errors import HdspAgentError
from ..messages import (
    CloseConversationRequest,
    FavoriteTaskRequest,
    NewConversationRequest,
    RememberTaskRequest,
    RenameTaskRequest,
    SetTaskApprovalsRequest,
    TaskId,
)
from ._dispatch import Dispatcher, RequestContext
from ._owner import Owner
from .history import History, ItemChange
from .open_panels import OpenPanels
from .running_agent import RunningAgent
from .subtask_chain import change_chain

__all__ = ["OpenTaskRequests"]


class OpenTaskRequests:
    """Handles the strip of tabs: an empty one, closing, names and favourites."""

    def __init__(self, agent: RunningAgent, history: History, panels: OpenPanels) -> None:
        self._agent = agent
        self._history = history
        self._panels = panels

    def register(self, dispatcher: Dispatcher) -> None:
        """Take responsibility for these types of message."""
        dispatcher.handle_all(
            {
                "newConversation": self.new_conversation,
                "closeConversation": self.close,
                "renameTask": self.rename,
                "favoriteTask": self.favorite,
                "rememberTask": self.remember,
                "setTaskApprovals": self.set_approvals,
            }
        )

    async def new_conversation(self, context: RequestContext, _: NewConversationRequest) -> None:
        """Show an empty panel on all tabs; everything goes on."""
        self._history.hide(context.owner)

    async def close(self, context: RequestContext, message: CloseConversationRequest) -> None:
        """Take it out of the open ones, show its neighbour if it was on screen, and put it aside unless it works."""
        owner, task_id = context.owner, message.task_id
        neighbours = _neighbours(self._history.open_tasks.ids(owner), task_id)
        self._history.open_tasks.remove(owner, [task_id])
        if self._history.shows(owner, task_id):
            await self._show_one_of(owner, neighbours)
        doing = self._history.details(task_id)
        if doing is not None and (message.stop or not (doing.status == "running" or doing.commands)):
            await (await self._agent.manager()).tasks.close(task_id)

    async def rename(self, context: RequestContext, message: RenameTaskRequest) -> None:
        """Give it a title; a blank one takes it away."""
        await self._history.change(context.owner, message.task_id, ItemChange(title=message.title))

    async def favorite(self, context: RequestContext, message: FavoriteTaskRequest) -> None:
        """Make it a favourite, or an ordinary one."""
        await self._history.change(context.owner, message.task_id, ItemChange(favorite=message.favorite))

    async def remember(self, context: RequestContext, message: RememberTaskRequest) -> None:
        """Turn memory off for it, or on again."""
        await change_chain(self._history, context.owner, message.task_id, ItemChange(memory_off=not message.remember))

    async def set_approvals(self, context: RequestContext, message: SetTaskApprovalsRequest) -> None:
        """Set what it may do without asking."""
        change = ItemChange(approvals=message.approval_preset or "as settings")
        await change_chain(self._history, context.owner, message.task_id, change)

    async def _show_one_of(self, owner: Owner, neighbours: list[str]) -> None:
        for neighbour in neighbours:
            try:
                await self._panels.show(owner, TaskId(neighbour))
            except HdspAgentError:
                # Deleted just now, or it cannot be read: the next one then.
                continue
            return
        self._history.hide(owner)


def _neighbours(task_ids: list[str], task_id: str) -> list[str]:
    """What may be shown instead, the best first: what is right of it, then what is left of it."""
    if task_id not in task_ids:
        return []
    at = task_ids.index(task_id)
    return [*task_ids[at + 1 : at + 2], *reversed(task_ids[:at]), *task_ids[at + 2 :]]
