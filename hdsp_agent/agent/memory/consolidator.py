"""The run that makes one memory of many: a task on our own loop, in a mode whose tools reach only the memory folder."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Final

from ..._timeouts import wait_at_most
from ...config import GlobalSettings, ModeConfig, OperatorPolicy, ProviderSettings
from ...errors import HdspAgentError
from ...memory import MemoryFolder
from ...memory.model_port import NOT_AS_TOLD, ConsolidationBrief, ConsolidationFailed, MemoryModels
from ...memory.run_log import RunCost
from ...messages import (
    HistoryItem,
    ModelRecord,
    ModeName,
    TaskCompleted,
    TaskEvent,
    TaskId,
    TaskIdle,
    TaskInteractive,
    TaskResumable,
)
from ...persistence import FileStore
from ...providers import ModelClient
from ...tools import (
    AttemptCompletion,
    AttemptCompletionArguments,
    PathPolicy,
    ToolContext,
    ToolFailed,
    ToolRegistry,
    ToolResult,
    ToolState,
    file_tools,
)
from .._agent_services import AgentServices
from .._ports import Models, Situation
from .._task_manager import TaskManager, TaskRequest
from ..approval import ApprovalEngine
from ..context_window import FullContext
from ..environment import EnvironmentBasis, Section, SectionEntry
from ..modes import ModeRegistry
from .consolidation_prompt import MEMORY_MODE, task_text

__all__ = ["LoopConsolidator"]

_MOST_REQUESTS: Final = 60
_MOST_COST: Final = 2.0
"""US dollars of one run."""
_MOST_SECONDS: Final = 3_000.0
"""Well below the lease, so that whoever is stuck fails before another one takes over."""
_LOOK_SECONDS: Final = 0.5
_MOST_REFUSED: Final = 5
_APPROVALS: Final = frozenset({"tool", "command", "use_mcp_server"})


class LoopConsolidator:
    """See ``Consolidator``."""

    def __init__(
        self,
        models: Models,
        memory_models: MemoryModels,
        settings: Callable[[], GlobalSettings],
        profile: Callable[[], str],
    ) -> None:
        self._models = models
        self._memory_models = memory_models
        self._settings = settings
        self._profile = profile

    async def consolidate(self, folder: MemoryFolder, brief: ConsolidationBrief) -> RunCost:
        """Write the files. Raises ConsolidationFailed, ModelNeededElsewhere, HdspAgentError."""
        client = await self._memory_models.client()
        # Beside the folder: what the run records of itself is nothing for it to read.
        records = folder.root.with_name(f"{folder.root.name}-run")
        store = FileStore(records)
        manager = TaskManager(self._services(folder.root, store, client, brief))
        run = _Run(manager, self._memory_models)
        try:
            await store.start()
            async with asyncio.timeout(_MOST_SECONDS):
                problem = await run.end(task_text(brief))
            used = await _cost(manager, store, run.task_id, client)
        except TimeoutError:
            used = await _cost(manager, store, run.task_id, client)
            raise ConsolidationFailed(f"It took longer than {_MOST_SECONDS:.0f} seconds.", used) from None
        finally:
            task = manager.tasks.opened(run.task_id)
            if task is not None:
                brief.spent(_cost_of(task.state.item, client))
            await manager.stop()
            await store.stop()
            await asyncio.to_thread(shutil.rmtree, records, ignore_errors=True)
        if problem is not None:
            raise ConsolidationFailed(problem, used)
        return used

    def _services(
        self, folder: Path, store: FileStore, client: ModelClient, brief: ConsolidationBrief
    ) -> AgentServices:
        settings = GlobalSettings(
            auto_approval_enabled=True,
            always_allow_read_only=True,
            always_allow_write=True,
            allowed_max_requests=_MOST_REQUESTS,
            allowed_max_cost=_MOST_COST if brief.most_cost is None else min(_MOST_COST, brief.most_cost),
            memory_enabled=False,
            enable_checkpoints=False,
            masked_kinds=self._settings().masked_kinds,
            language=self._settings().language,
        )
        policy = OperatorPolicy()
        text = f"{MEMORY_MODE.role_definition}\n\n{MEMORY_MODE.custom_instructions}"

        async def prompt(situation: Situation, workspace: str | None) -> EnvironmentBasis:
            return EnvironmentBasis(text, (Section("role", (SectionEntry("Role", text),)),))

        return AgentServices(
            store=store,
            settings=lambda: settings,
            policy=lambda: policy,
            models=_OneModel(self._models, client, self._profile()),
            modes=_OneMode(lambda: settings, lambda: policy),
            tools=ToolRegistry([*file_tools(), FinishMemory(brief.problem)]),
            approvals=ApprovalEngine(),
            contexts=lambda conversation, where: _always(FullContext(conversation, where, prompt=prompt)),
            paths=lambda place, _: PathPolicy(place, allow_outside=False),
            tool_state=lambda task_id: ToolState(),
            workspace=folder,
        )


class FinishMemory(AttemptCompletion):
    """Ends the run once the files can be put in force; before that it says what is wrong with them."""

    description: ClassVar[str] = (
        "Finish when memory_summary.md and MEMORY.md are written. If something is wrong with them you are told what: mend "
        "it and finish again."
    )

    def __init__(self, problem: Callable[[], str | None]) -> None:
        self._problem = problem
        self._refused = 0

    async def _run(self, arguments: AttemptCompletionArguments, context: ToolContext) -> ToolResult:
        problem = await asyncio.to_thread(self._problem)
        if problem is not None:
            self._refused += 1
            if self._refused < _MOST_REFUSED:
                raise ToolFailed(problem)
        return await super()._run(arguments, context)


class _Run:
    """Drives the task to its end; nobody is there to ask."""

    def __init__(self, manager: TaskManager, models: MemoryModels) -> None:
        self._manager = manager
        self._models = models
        self._asking: asyncio.Queue[TaskId | None] = asyncio.Queue()
        self.task_id = TaskId("")

    async def end(self, text: str) -> str | None:
        """None when it is done, else why it stopped. Raises ModelNeededElsewhere."""
        hush = self._manager.tasks.events.on_any(self._heard)
        try:
            self.task_id = await self._manager.start(TaskRequest(text, source="memory"))
            while True:
                self._models.check_free()
                try:
                    asking = await wait_at_most(self._asking.get(), _LOOK_SECONDS)
                except TimeoutError:
                    continue
                if asking is None:
                    return None
                problem = await self._refused(asking)
                if problem is not None:
                    return problem
        finally:
            hush()

    def _heard(self, event: TaskEvent) -> None:
        match event:
            case TaskCompleted():
                self._asking.put_nowait(None)
            case TaskInteractive(payload=(task_id,)) | TaskIdle(payload=(task_id,)) | TaskResumable(payload=(task_id,)):
                self._asking.put_nowait(TaskId(task_id))
            case _:
                pass

    async def _refused(self, task_id: TaskId) -> str | None:
        """What asks whether it may is refused; at anything else it is over, and this is why."""
        task = self._manager.tasks.opened(task_id)
        question = task.state.dialogue.asks.newest() if task is not None else None
        if question is None:
            return None
        if question.ask == "auto_approval_max_req_reached":
            return "Writing the memory files took more requests, or cost more, than one run may."
        if question.ask not in _APPROVALS:
            return question.text if question.ask == "api_req_failed" and question.text else NOT_AS_TOLD
        with suppress(HdspAgentError):
            await self._manager.answer(task_id, question.ts, "noButtonClicked")
        return None


class _OneMode(ModeRegistry):
    """The mode of the run and no other."""

    async def get(self, slug: str, workspace: str | None) -> ModeConfig | None:
        """The mode."""
        return MEMORY_MODE

    async def names(self, workspace: str | None) -> Sequence[ModeName]:
        """Its name."""
        return [ModeName(slug=MEMORY_MODE.slug, name=MEMORY_MODE.name)]

    async def modes(self, workspace: str | None) -> Sequence[ModeConfig]:
        """Itself."""
        return [MEMORY_MODE]

    def by_slug(self, workspace: str | None) -> dict[str, ModeConfig]:
        """Itself, by its name."""
        return {MEMORY_MODE.slug: MEMORY_MODE}


class _OneModel:
    """The model that was chosen, which others go on using."""

    def __init__(self, models: Models, client: ModelClient, profile: str) -> None:
        self._models = models
        self._client = client
        self._profile = profile

    def profile_for(self, mode: str, now: str | None = None) -> str:
        """The profile."""
        return self._profile

    async def client(self, profile: str) -> ModelClient:
        """The model."""
        return self._client

    def settings_of(self, profile: str) -> ProviderSettings | None:
        """The profile's settings."""
        return self._models.settings_of(self._profile)

    def mistake_limit(self, profile: str) -> int:
        """After how many mistakes in a row it stops."""
        return 5

    def rate_limit_seconds(self, profile: str) -> float:
        """How far apart requests are spaced."""
        return self._models.rate_limit_seconds(self._profile)

    async def known(self) -> ModelRecord:
        """Nothing to choose from."""
        return {}

    async def close(self) -> None:
        """It is not ours to close."""


def _always(context: FullContext) -> Callable[[Situation], FullContext]:
    return lambda situation: context


async def _cost(manager: TaskManager, store: FileStore, task_id: TaskId, client: ModelClient) -> RunCost:
    with suppress(HdspAgentError):
        task = manager.tasks.opened(task_id)
        # What is on the disk of a task that goes on is a little older.
        item = task.state.item if task else (await (await store.view(task_id)).read_state()).history_item
        if item is not None:
            return _cost_of(item, client)
    return RunCost(model=client.info.id)


def _cost_of(item: HistoryItem, client: ModelClient) -> RunCost:
    return RunCost(model=client.info.id, tokens_in=item.tokens_in, tokens_out=item.tokens_out, cost=item.total_cost)
