"""The agent in the running server: there once the stored conversations are, and put aside before they are."""

from __future__ import annotations

import asyncio
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..agent import IpcCommandSession, build_agent
from ..agent.external.sessions import ExternalSessions
from ..agent.recall import past_search
from ..config import ContextProxy
from ..errors import Unavailable
from ..memory import MEMORY_SCHEMA, Memories
from ..memory.memory_jobs import StateJobDatabase
from ..messages import TaskId
from ..recall import open_recall
from .task_feed import TaskFeed
from .task_storage import TaskStorage

if TYPE_CHECKING:
    from ..agent import Spacing, Task, TaskManager
    from ..events import Emitter
    from ..local import LocalModels
    from ..mcp.client import McpHub
    from ..memory.pipeline import MemoryPipeline
    from ..notebooks import Notebooks

__all__ = ["RunningAgent"]


class RunningAgent:
    """Whoever wants something of the agent asks here for it first. Programs outside talk to it as it is."""

    def __init__(
        self,
        config: ContextProxy,
        storage: TaskStorage,
        feed: TaskFeed,
        *,
        workspace: Path,
        notebooks: Notebooks | None = None,
        local: LocalModels | None = None,
        mcp: McpHub | None = None,
    ) -> None:
        self._storage = storage
        memories = Memories(config.home, storage.person, config.trusted_folders.trusted)
        if storage.memory is not None:
            from ..memory.sharing import MemorySharing  # only with a database

            memories.sharing = MemorySharing(storage.memory, memories.folder, lambda: config.policy.allow_memory)
        self._feed = feed
        self._stopping = False
        self.past: Final = past_search(
            open_recall(storage.unopened_index, storage.database),
            config=config,
            person=storage.person,
            workspace=workspace,
            memories=memories,
            store=storage.store,
            index=storage.index,
        )
        """Finds things in what was said and written before."""
        self._manager = build_agent(
            config,
            storage.unopened,
            workspace=workspace,
            sink=feed,
            history=feed,
            on_command=feed.command,
            on_notice=feed.noticed,
            notebooks=notebooks,
            local=local,
            memories=memories,
            past=self.past,
            mcp=mcp,
        )
        self.external: Final = ExternalSessions(self._manager, ready=self.manager)
        """The programs outside that work through it."""
        feed.attach(self._manager)
        feed.on_changed = self.past.feed.touched
        storage.database.add(MEMORY_SCHEMA)

    async def memory_pipeline(self) -> MemoryPipeline:
        """What learns from its conversations. It is made once, by who needs it: what it is made of takes a while to load."""
        room = await asyncio.to_thread(import_module, "hdsp_agent.agent.memory")
        jobs = self._storage.memory or StateJobDatabase(self._storage.database)
        pipeline: MemoryPipeline = room.memory_pipeline(
            self._manager, jobs, store=self._storage.store, index=self._storage.index
        )
        return pipeline

    @property
    def memories(self) -> Memories:
        """What is remembered between its conversations."""
        memories = self._manager.services.memories
        assert memories is not None
        return memories

    @property
    def spacing(self) -> Spacing:
        """When its models may be asked."""
        return self._manager.services.spacing

    @property
    def open_tasks(self) -> list[Task]:
        """The tasks that are worked on."""
        tasks = self._manager.tasks
        return [task for task_id in tasks.open if (task := tasks.opened(task_id)) is not None]

    @property
    def events(self) -> Emitter:
        """What happens to tasks."""
        return self._manager.tasks.events

    async def manager(self) -> TaskManager:
        """What reaches all tasks. Raises why there is none: the storage cannot be used, or the server stops."""
        await self._storage.store()
        if self._stopping:
            raise Unavailable("The server is stopping. Try again when it is running.")
        return self._manager

    def tell_progress(self, task_id: TaskId) -> None:
        """Let the tabs hear what a task is doing now, of what no event tells."""
        self._feed.tell_progress(task_id)

    def session(self) -> IpcCommandSession:
        """A program outside; what it begins belongs to the person whose server this is."""
        return IpcCommandSession(self.manager, self._feed.person)

    async def stop(self) -> None:
        """Put all tasks aside: what waits in their logs goes on waiting."""
        self._stopping = True
        await self.external.stop()
        await self._manager.stop()
        await self._feed.stop()
