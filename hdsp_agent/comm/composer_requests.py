"""What the page needs while a person writes: modes, slash commands, files by name, commits, and better words."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from ..agent import enhanced_prompt, search_commits
from ..mcp.client import TaskServers
from ..messages import (
    CommandsMessage,
    CommitSearchResultsMessage,
    EnhancedPromptMessage,
    EnhancePromptRequest,
    FileSearchResultsMessage,
    ModeName,
    ModesListMessage,
    RequestCommandsRequest,
    RequestModesRequest,
    SearchCommitsRequest,
    SearchFilesRequest,
    TaskId,
)
from ..tools import PathPolicy, ToolFailed
from ._channel_hub import ChannelHub
from ._dispatch import Dispatcher, RequestContext
from .file_search import FileSearch
from .history import History
from .running_agent import RunningAgent

if TYPE_CHECKING:
    from ..agent import TaskManager

__all__ = ["ComposerRequests"]

_EARLIER_MESSAGES: Final = 10
_READ_AHEAD: Final = 40
_WORDS: Final = frozenset({"text", "user_feedback", "completion_result"})


class ComposerRequests:
    """Handles what helps to write a message. What was asked for goes to the tab that asked, before the answer."""

    def __init__(self, agent: RunningAgent, history: History, channels: ChannelHub) -> None:
        self._agent = agent
        self._history = history
        self._channels = channels
        self._search: FileSearch | None = None

    def register(self, dispatcher: Dispatcher) -> None:
        """Take responsibility for these types of message."""
        dispatcher.handle_all(
            {
                "requestModes": self.modes,
                "requestCommands": self.commands,
                "searchFiles": self.search_files,
                "searchCommits": self.search_commits,
                "enhancePrompt": self.enhance,
            }
        )

    async def modes(self, context: RequestContext, _: RequestModesRequest) -> JsonValue:
        """All modes that may be used by name; the answer has them whole."""
        services = (await self._agent.manager()).services
        modes = await services.modes.modes(str(services.workspace))
        names = [ModeName(slug=mode.slug, name=mode.name) for mode in modes]
        await self._channels.send_to(context, ModesListMessage(modes=names))
        return [mode.to_wire() for mode in modes]

    async def commands(self, context: RequestContext, _: RequestCommandsRequest) -> None:
        """The slash commands of the workspace, the person and the agent itself, and the prompts of MCP servers."""
        services = (await self._agent.manager()).services
        commands = await services.commands.listed(str(services.workspace))
        if services.mcp is not None:
            commands += TaskServers(services.mcp, context.owner, services.workspace).commands()
        await self._channels.send_to(context, CommandsMessage(commands=commands))

    async def search_files(self, context: RequestContext, message: SearchFilesRequest) -> None:
        """Files and folders of the workspace by name; why there are none is part of the result."""
        search = self._search_of(await self._agent.manager())
        try:
            found, problem = await search.find(message.query or ""), None
        except (OSError, ToolFailed) as error:
            found, problem = [], str(error)
        results = FileSearchResultsMessage(results=found, request_id=context.request_id, error=problem)
        await self._channels.send_to(context, results)

    async def search_commits(self, context: RequestContext, message: SearchCommitsRequest) -> None:
        """Commits by hash or subject; why there are none, as in a folder without Git, is part of the result."""
        workspace = (await self._agent.manager()).services.workspace
        try:
            found = await asyncio.to_thread(search_commits, workspace, message.query or "")
            problem = None
        except ToolFailed as error:
            found, problem = [], str(error)
        results = CommitSearchResultsMessage(commits=found, request_id=context.request_id, error=problem)
        await self._channels.send_to(context, results)

    async def enhance(self, context: RequestContext, message: EnhancePromptRequest) -> None:
        """The prompt in better words, by the profile that is for that, else the conversation's, else the current one."""
        manager = await self._agent.manager()
        task_id = message.task_id or self._history.shown_id(context.owner)
        better = await enhanced_prompt(
            manager.services,
            message.text,
            profile=await self._profile(context, manager, task_id),
            earlier=await self._earlier(context, manager, task_id),
        )
        await self._channels.send_to(context, EnhancedPromptMessage(text=better, request_id=context.request_id))

    # ---- inside

    def _search_of(self, manager: TaskManager) -> FileSearch:
        if self._search is None:
            services = manager.services

            def police() -> PathPolicy:
                return services.paths(services.workspace, services.settings())

            self._search = FileSearch(police)
        return self._search

    async def _profile(self, context: RequestContext, manager: TaskManager, task_id: str | None) -> str:
        settings, models = manager.services.settings(), manager.services.models
        chosen = settings.enhancement_api_config_id
        if chosen is not None and models.settings_of(chosen) is not None:
            return chosen
        if task_id is not None:
            task = manager.tasks.opened(TaskId(task_id))
            item = task.state.item if task is not None else await self._history.item(context.owner, task_id)
            if item.api_config_name is not None:
                return item.api_config_name
        return models.profile_for(settings.mode)

    async def _earlier(self, context: RequestContext, manager: TaskManager, task_id: str | None) -> list[str]:
        if task_id is None or not manager.services.settings().include_task_history_in_enhance:
            return []
        page = await self._history.messages(context.owner, task_id, limit=_READ_AHEAD)
        said = [message.text for message in page.messages if message.say in _WORDS and message.text]
        return said[-_EARLIER_MESSAGES:]
