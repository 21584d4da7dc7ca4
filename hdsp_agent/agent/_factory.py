"""The whole agent, put together from what is configured: for the server, and for the command line without one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import JsonValue

from .._person import person_of_server
from .._storage_dir import default_artifact_store_url, default_storage_backend, default_storage_url, home_folder
from ..config import (
    ApprovalPreset,
    ContextProxy,
    GlobalSettings,
    OperatorPolicy,
    SecretStore,
    TrustedFolders,
    chosen_for,
    overridden,
    project_settings,
    tool_set,
)
from ..local import LocalModels
from ..mcp.client import McpHub
from ..memory import MEMORY_SCHEMA, Memories
from ..messages import CommandExited, CommandOutput, CommandStarted, CommandTimedOut, HistoryItem, TaskId
from ..notebooks import Lazy, Notebooks, lazy_contents, lazy_kernels
from ..notebooks.kernels import RunLimits
from ..persistence import (
    Backend,
    HistoryIndex,
    StateDatabase,
    TaskSizes,
    TaskStore,
    backend_named,
    history_database,
    list_recovered,
    open_history,
    open_memory,
    open_store,
    task_records,
)
from ..tools import PathPolicy, ToolRegistry, ToolState, built_in_tools, program_tools
from ..tools.compound import NotebookFacts, surroundings
from ._agent_services import AgentServices, ContextNoticed, RecoveryNoticed
from ._ports import HistoryPort, MessageSink, NoListener, Situation
from ._profile_models import ProfileModels
from ._task_manager import TaskManager
from .approval import ApprovalEngine
from .checkpoints.checkpoint_service import CheckpointService
from .context_window import FullContext
from .context_window.port import ContextOf
from .conversation.conversation import Conversation
from .environment import CurrentEnvironment, EnvironmentBasis
from .external.checkpoint_tools import checkpoint_tools
from .external.offered_tools import ExternalTools
from .lite import LiteContext
from .modes import ModeRegistry
from .prompts import PromptFacts
from .prompts._mode_prompts import folder_prompt
from .user_messages import SlashCommands

if TYPE_CHECKING:
    from ..memory.pipeline import MemoryPipeline
    from ..notebooks.documents.contents import ContentsNotebooks
    from ..notebooks.kernels.headless import HeadlessKernels
    from .recall import PastSearch

__all__ = ["CommandHeard", "Headless", "build_agent", "headless_agent", "mcp_hub"]

T = TypeVar("T")

CommandHeard = Callable[[TaskId, CommandStarted | CommandOutput | CommandExited | CommandTimedOut], None]
"""Told how a shell command of a task fares."""


def build_agent(
    config: ContextProxy,
    store: TaskStore,
    *,
    workspace: Path,
    sink: MessageSink | None = None,
    history: HistoryPort | None = None,
    on_command: CommandHeard | None = None,
    on_notice: ContextNoticed = lambda task_id, kind, percent: None,
    on_recovery: RecoveryNoticed = lambda task_id, notice: None,
    overrides: Mapping[str, JsonValue] | None = None,
    notebooks: Notebooks | None = None,
    local: LocalModels | None = None,
    memories: Memories | None = None,
    past: PastSearch | None = None,
    mcp: McpHub | None = None,
) -> TaskManager:
    """The agent of one home folder. Nothing is opened or begun.

    ``overrides`` are settings that hold for this agent, by their names on the wire; the operator's come before them.
    """
    current = _Settings(config, overrides or {})
    folders = config.trusted_folders
    modes = ModeRegistry(current, lambda: config.policy, folders.trusted, folders.of_team)
    memories = memories or Memories(config.home, person_of_server(), folders.trusted)

    def paths(folder: Path, settings: GlobalSettings) -> PathPolicy:
        # What the agent keeps about itself would tell it keys' names, and let it rewrite its own past.
        return PathPolicy(folder, forbidden=(config.home,), around=workspace)

    def owner_of(task_id: TaskId) -> str | None:
        return manager.tasks.owner_of(task_id)

    async def choose_client_approvals(name: str, preset: ApprovalPreset | None) -> None:
        await config.update({}, by_client=chosen_for(name, preset))

    async def choose_client_questions(name: str, may_ask: bool) -> None:
        await config.update({}, asking=chosen_for(name, True if may_ask else None))

    def tool_state(task_id: TaskId) -> ToolState:
        if on_command is None:
            return ToolState()
        return ToolState(lambda status: on_command(task_id, status))

    checkpoints = CheckpointService(config.home, current, notebooks)
    models = ProfileModels(config, local)
    manager = TaskManager(
        AgentServices(
            store=store,
            settings=current,
            policy=lambda: config.policy,
            models=models,
            count_tokens=models.count_tokens,
            modes=modes,
            tools=ToolRegistry(built_in_tools(notebooks=notebooks is not None, past=past is not None)),
            external_tools=ExternalTools(
                [
                    *program_tools(notebooks=notebooks is not None, past=past is not None),
                    *checkpoint_tools(checkpoints, owner_of),
                ]
            ),
            choose_client_approvals=choose_client_approvals,
            choose_client_questions=choose_client_questions,
            approvals=ApprovalEngine(),
            contexts=lambda conversation, where: _context(
                current,
                lambda: config.policy,
                modes,
                folders,
                conversation,
                where,
                notebooks,
                memories,
                Path(where or workspace),
                lambda: paths(Path(where or workspace), current()),
            ),
            paths=paths,
            tool_state=tool_state,
            workspace=workspace,
            sink=sink or NoListener(),
            history=history,
            on_notice=on_notice,
            on_recovery=on_recovery,
            notebooks=notebooks,
            checkpoints=checkpoints,
            memories=memories,
            past=past,
            mcp=mcp,
            commands=SlashCommands(config.home / "commands", folders.trusted, folders.of_team),
            project_settings=lambda folder: _project_settings(folders, folder),
            is_trusted=lambda folder: folders.trusted(folder) is not None,
        )
    )
    return manager


def mcp_hub(config: ContextProxy, workspace: Path) -> McpHub:
    """The MCP servers of a home folder. Nothing is read or started."""
    hub = McpHub(
        config.home,
        policy=lambda: config.policy,
        settings=lambda: config.settings,
        secrets=config.secrets,
        trusted=config.trusted_folders.trusted,
        workspace=workspace,
        person=person_of_server(),
    )
    config.secrets.other_names = hub.secret_names
    return hub


@dataclass(frozen=True)
class Headless:
    """An agent that works without a server."""

    manager: TaskManager
    config: ContextProxy
    store: TaskStore
    memory_pipeline: Callable[[], MemoryPipeline]
    """Makes what learns from conversations; that takes a while to load."""


@asynccontextmanager
async def headless_agent(
    home: Path,
    policy: OperatorPolicy,
    *,
    workspace: Path,
    backend: Backend | None = None,
    storage_url: str = "",
    artifact_store_url: str = "",
    sink: MessageSink | None = None,
    on_notice: ContextNoticed = lambda task_id, kind, percent: None,
    on_recovery: RecoveryNoticed = lambda task_id, notice: None,
    overrides: Mapping[str, JsonValue] | None = None,
    local_models: Path | None = None,
) -> AsyncIterator[Headless]:
    """The agent of a home folder, ready to work; what is under way in the end is put aside, to be resumed.

    Notebooks are those of the workspace, and kernels its own, which end with it. ``backend`` is what tasks are kept in,
    if not what the environment says, and ``storage_url`` where, if that is PostgreSQL; its artifacts are in
    ``artifact_store_url``. ``local_models`` is where weights of embedded models are kept, if not in the usual place.
    """
    config = ContextProxy(home, policy, SecretStore(home, policy))
    kept_in = backend or backend_named(default_storage_backend())
    store = open_store(
        home,
        kept_in,
        url=storage_url or default_storage_url(),
        artifact_store_url=artifact_store_url or default_artifact_store_url(),
    )
    database = StateDatabase(history_database(home, kept_in))
    database.add(MEMORY_SCHEMA)
    # Before the database is started: it makes the index's tables. Tasks that name nobody get their owner from a server.
    index = open_history(store, kept_in, database, source=lambda: task_records(store, ""))
    async with AsyncExitStack() as stack:
        await config.start()
        stack.push_async_callback(config.stop)
        recovered = await store.start()
        stack.push_async_callback(store.stop)
        await stack.enter_async_context(database)
        await stack.enter_async_context(index)
        await list_recovered(recovered, store, index)
        local = LocalModels(local_models, policy=lambda: config.policy)
        stack.push_async_callback(local.stop)
        mcp = mcp_hub(config, workspace)
        stack.push_async_callback(mcp.stop)
        manager = build_agent(
            config,
            store,
            workspace=workspace,
            sink=sink,
            history=_IndexOnly(index, store),
            on_notice=on_notice,
            on_recovery=on_recovery,
            overrides=overrides,
            notebooks=await stack.enter_async_context(_notebooks_of(workspace, config)),
            local=local,
            mcp=mcp,
        )
        stack.push_async_callback(manager.stop)
        shared, memories = open_memory(store, kept_in), manager.services.memories
        if shared is not None and memories is not None and config.policy.allow_memory:
            from ..memory.sharing import MemorySharing

            memories.sharing = MemorySharing(shared, memories.folder)
            stack.push_async_callback(asyncio.to_thread, memories.bring_up_to_date, None)

        def memory_pipeline() -> MemoryPipeline:
            from ..memory.memory_jobs import StateJobDatabase
            from .memory.agent_memory import memory_pipeline

            jobs = shared or StateJobDatabase(database)
            return memory_pipeline(manager, jobs, store=lambda: _ready(store), index=lambda: _ready(index))

        yield Headless(manager, config, store, memory_pipeline)


async def _ready(opened: T) -> T:
    return opened


@asynccontextmanager
async def _notebooks_of(workspace: Path, config: ContextProxy) -> AsyncIterator[Notebooks]:
    """The notebooks of a folder, and kernels that nobody else sees."""

    def limits() -> RunLimits:
        settings = config.settings
        return RunLimits(
            idle_seconds=settings.kernel_run_idle_limit_seconds, total_seconds=settings.kernel_run_total_limit_seconds
        )

    headless = Lazy(lambda: _headless_kernels(workspace))
    disk = lazy_contents(Lazy(lambda: _notebook_files(headless())), workspace)
    notebooks = Notebooks(disk, lazy_kernels(Lazy(lambda: headless().port)), limits=limits)
    try:
        yield notebooks
    finally:
        await notebooks.close()
        if headless.made is not None:
            await headless.made.close()


def _headless_kernels(workspace: Path) -> HeadlessKernels:
    from ..notebooks.kernels.headless import HeadlessKernels

    return HeadlessKernels(workspace)


def _notebook_files(headless: HeadlessKernels) -> ContentsNotebooks:
    from ..notebooks.documents.contents import ContentsNotebooks

    return ContentsNotebooks(headless.contents)


class _IndexOnly:
    """The history where nobody watches it. A server on the same folder follows it."""

    def __init__(self, index: HistoryIndex, store: TaskStore) -> None:
        self._index = index
        self._store = store
        self._sizes = TaskSizes()

    async def put(self, item: HistoryItem, *, text: str | None = None, owner: str | None = None) -> HistoryItem:
        """A task is new or changed."""
        size = await self._sizes.of(item, self._store)
        return await self._index.upsert(item.model_copy(update={"size": size}), text=text, owner=owner)


class _Settings:
    """The settings in force, the same object until they change."""

    def __init__(self, config: ContextProxy, overrides: Mapping[str, JsonValue]) -> None:
        self._config = config
        self._overrides = overrides
        self._made: tuple[GlobalSettings, GlobalSettings] | None = None

    def __call__(self) -> GlobalSettings:
        """As they are now."""
        base = self._config.settings
        if not self._overrides:
            return base
        if self._made is None or self._made[0] is not base:
            self._made = base, overridden(base, self._overrides, self._config.policy)
        return self._made[1]


def _context(
    settings: _Settings,
    policy: Callable[[], OperatorPolicy],
    modes: ModeRegistry,
    folders: TrustedFolders,
    conversation: Conversation,
    workspace: str | None,
    notebooks: Notebooks | None,
    memories: Memories,
    folder: Path,
    paths: Callable[[], PathPolicy],
) -> ContextOf:
    notebook = conversation.log.metadata.notebook

    def notebook_now() -> str | None:
        item = conversation.log.state.history_item
        now = (item.notebook if item is not None else None) or notebook
        return None if now is None else now.path

    async def prompt(situation: Situation, where: str | None) -> EnvironmentBasis:
        surroundings = PromptFacts(
            workspace=Path(where) if where else None,
            person=home_folder(),
            notebook=notebook.path if notebook is not None else None,
            has_notebooks=any(tool.name == "read_notebook" for tool in situation.tools),
        )
        return await asyncio.to_thread(
            folder_prompt, situation.mode, situation.settings, surroundings, modes, folders.trusted
        )

    async def seen(situation: Situation) -> NotebookFacts | str | None:
        if notebooks is None or notebook is None:
            return None
        current, provider = settings(), situation.provider
        stays_here = provider is not None and provider.api_provider == "local"
        may_read = current.auto_approval_enabled and current.always_allow_read_only
        police = await asyncio.to_thread(paths)
        reads_files = stays_here or bool(may_read)
        at = situation.asked_at or notebook.cell_id
        return await surroundings(notebooks, notebook.path, police, reads_files=reads_files, at=at)

    memory = memories.of_task(conversation.log.metadata.user, folder, notebook_now)
    around = CurrentEnvironment(
        policy=policy,
        paths=paths,
        notebooks=notebooks,
        notebook=notebook.path if notebook is not None else None,
        memory=memory,
    )
    plain = FullContext(conversation, workspace, prompt=prompt, surrounded=around)
    lite = LiteContext(conversation, plain, settings=settings, seen=seen, memory=memory)
    # The profile of a task may be changed at any time.
    return lambda situation: lite if tool_set(situation.provider) == "compound" else plain


def _project_settings(folders: TrustedFolders, folder: Path) -> Mapping[str, JsonValue]:
    trusted = folders.trusted(folder)
    return {} if trusted is None else project_settings(trusted)
