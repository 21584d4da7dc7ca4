"""The memory work of a running agent, put together."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator

from ...config import ProviderSettings
from ...errors import Unsupported
from ...memory.memory_jobs import JobDatabase, MemoryJobs
from ...memory.pipeline import MemoryPipeline
from ...persistence import HistoryIndex, TaskStore
from .._task_manager import TaskManager
from .consolidator import LoopConsolidator
from .memory_models import ProfileMemoryModels

__all__ = ["memory_pipeline"]


def memory_pipeline(
    manager: TaskManager,
    jobs: JobDatabase,
    *,
    store: Callable[[], Awaitable[TaskStore]],
    index: Callable[[], Awaitable[HistoryIndex]],
    clock: Callable[[], float] = time.time,
) -> MemoryPipeline:
    """What learns from the agent's conversations. Raises Unsupported without memories."""
    services = manager.services
    memories = services.memories
    if memories is None:
        raise Unsupported("This agent was started without memory.")

    def in_use() -> Iterator[ProviderSettings | None]:
        for task_id in manager.tasks.open:
            task = manager.tasks.opened(task_id)
            if task is not None and task.state.status == "running":
                yield task.state.provider

    models = ProfileMemoryModels(services.models, services.settings, in_use)
    return MemoryPipeline(
        MemoryJobs(jobs, memories.sharing),
        store=store,
        index=index,
        folder_of=memories.folder,
        notes_of=memories.told_notes,
        settings=services.settings,
        models=models,
        consolidator=LoopConsolidator(services.models, models, services.settings, lambda: models.profile),
        clock=clock,
    )
