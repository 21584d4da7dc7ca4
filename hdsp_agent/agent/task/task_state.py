"""What is known of one task: its conversation, mode, profile, usage, queue and plan. Its parts read and change it here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue
from typing_extensions import Unpack

from ...config import (
    ApprovalPreset,
    GlobalSettings,
    ModeConfig,
    ProviderSettings,
    ToolSet,
    tool_set,
    tools_left_out,
    with_preset,
    with_profile,
    with_project,
)
from ...errors import InvalidInput
from ...mcp.client import TaskServers
from ...messages import (
    Attachment,
    CellId,
    EndingReason,
    HistoryItem,
    NotebookRef,
    QueuedMessage,
    QueuedMessagesUpdated,
    StoppedBy,
    TaskId,
    TaskModeSwitched,
    TaskStatus,
    TodoItem,
    TooManyTools,
    labels_of,
)
from ...persistence import Masker, MessageManager, TaskLog, task_logger
from ...providers import ModelClient, ToolSpec
from ...tools import MOST_OFFERED_MCP_TOOLS, offers_search
from .._agent_services import AgentServices
from ..checkpoints.checkpoint_messages import CheckpointMessages
from ..context_window.port import ContextPort
from ..conversation.conversation import Conversation
from ..conversation.dialogue import Dialogue
from ..conversation.history_items import HistoryItemChange, TaskConfig, fresh_item
from ..conversation.history_sync import HistorySync
from ..conversation.inherited_marks import inherit_marks
from ..conversation.message_queue import MessageQueue
from ..modes import DEFAULT_MODE, allows_group
from .cancellation import BoundedCancellation
from .persisted_state import PersistedTaskState
from .recorded_state import recall
from .repetition import RepetitionGuard
from .task_limits import Mistakes, Spending
from .usage_meter import UsageMeter

if TYPE_CHECKING:
    from ...mcp.client import McpHub
    from ...memory import Memories, TaskMemory
    from ...tools import McpOffer, PathPolicy, ToolState

__all__ = ["TaskState"]

logger = logging.getLogger(__name__)

_CHANGES_SETTINGS: Final = ("memory_off", "approval_preset", "notebook")
"""What of its line in the history counts for the settings in force."""


class TaskState:
    """One task as all its parts share it. It does no work by itself."""

    def __init__(
        self,
        services: AgentServices,
        log: TaskLog,
        history: MessageManager,
        mode: ModeConfig,
        profile: str,
        *,
        parent_waits: bool,
    ) -> None:
        metadata = log.metadata
        self.services: Final = services
        self.logger: Final = task_logger(logger, log.task_id)
        self.mode = mode
        self.profile = profile
        self.workspace: Final = metadata.workspace
        self.folder: Final = Path(metadata.workspace) if metadata.workspace else services.workspace
        self.parent: Final = metadata.parent_task_id
        self.returned: Final = not parent_waits
        self._config: Final = TaskConfig.of(metadata.config)
        self.external_agent: Final = self._config.external_agent
        """The name of the program outside whose calls this task makes; None for our own agent's."""
        self.toolbox: Final = services.tools if self.external_agent is None else services.external_tools
        self.counted_from: Final = self._config.forked_at
        self._made_of: tuple[GlobalSettings | None, frozenset[str]] = (None, frozenset())
        self._settings: GlobalSettings | None = None
        self._project: Mapping[str, JsonValue] = {}

        masker = Masker(services.settings().masked_kinds)
        self.conversation: Final = Conversation(log, history, masker, services.sink, services.events)
        self.dialogue: Final = Dialogue(self.conversation, services.events)
        self._context_of: Final = services.contexts(self.conversation, metadata.workspace)
        self.cancellation: Final = BoundedCancellation()
        self.persisted: Final = PersistedTaskState(log)
        self.queue: Final = MessageQueue(self._save_queue, self.persisted.queue)
        self._queue_told = self.queue.messages
        self.on_queue_changed: Callable[[], None] = lambda: None
        """Called when what waits in the queue is another."""
        self.item: HistoryItem = log.state.history_item or fresh_item(metadata)
        self.usage = UsageMeter()
        self.spending = Spending()
        struck = self.persisted.strikes
        self.mistakes: Final = Mistakes(struck.mistakes)
        self.repetition: Final = RepetitionGuard(last_call=struck.last_call, same_calls=struck.same_calls)
        self.todos: list[TodoItem] = []
        self.edited_todos: list[TodoItem] | None = None
        self.asks_everything = False
        self.told_unsaved = False
        """Whether the person was told that files could not be saved."""
        self.stopping = False
        self.stopped_by: StoppedBy = "person"
        """Who stopped its work last."""
        self.server_ends = False
        """Nobody stops it: all tasks are put aside."""
        self.is_over = False
        """Its log is closed."""
        self.completed = False
        """It has done what it was to do; what is recorded of that may be under way."""
        self.condensing = False
        """What its model sees is being condensed."""
        self.tool_state: Final[ToolState] = services.tool_state(self.task_id)
        self.dialogue.on_said = self.tool_state.person_spoke
        outputs = self.persisted
        self.tool_state.outputs.attach(outputs.outputs, save=outputs.save_outputs, shown=outputs.shown_text)
        self.tool_state.changed.attach(self.persisted.changed_cells, self.persisted.save_changed_cells)
        self.on_halt: Callable[[EndingReason], Awaitable[None]] = _nothing_to_do
        """Awaited before the work stops half-way, and the person is asked about that."""
        self.checkpoint_messages: Final = CheckpointMessages(self.conversation)
        self.history_sync: Final = HistorySync(services.history, metadata.user, self.logger, on_listed=self._listed)
        self.memory: Final = self._own_memory(services.memories)
        """What is remembered, as far as it counts here; None where nothing is."""
        self._paths: tuple[GlobalSettings, PathPolicy] | None = None
        self._tools: tuple[tuple[ModeConfig, GlobalSettings, ToolSet, McpOffer | None], list[ToolSpec]] | None = None
        self.mcp: Final = self._own_servers(services.mcp)
        """The MCP servers of its person; None where there are none."""
        self.told_too_many = False
        """The person knows that there are too many tools."""

    def _own_memory(self, memories: Memories | None) -> TaskMemory | None:
        if memories is None:
            return None
        owner = self.conversation.log.metadata.user
        return memories.of_task(owner, self.folder, lambda: self.notebook.path if self.notebook is not None else None)

    def _own_servers(self, hub: McpHub | None) -> TaskServers | None:
        return None if hub is None else TaskServers(hub, self.conversation.log.metadata.user, self.folder)

    @property
    def task_id(self) -> TaskId:
        """Its id."""
        return self.conversation.task_id

    @property
    def owner(self) -> str | None:
        """Whose it is."""
        return self.conversation.log.metadata.user

    @property
    def masker(self) -> Masker:
        """Masks what it is told."""
        return self.conversation.masker

    @property
    def status(self) -> TaskStatus:
        """What it is doing, as its questions tell."""
        return self.dialogue.status

    @property
    def notebook(self) -> NotebookRef | None:
        """The notebook it is about. Another agent names one with each call."""
        if self.external_agent is not None:
            return None
        # Its line in the history follows when the notebook is renamed.
        return self.item.notebook or self.conversation.log.metadata.notebook

    @property
    def ends_by_tool(self) -> bool:
        """Whether words alone never end it: the person agrees to a subtask's result, to a run of memory nobody listens, and of
        a small model it is said how it ended."""
        is_memory = self.conversation.log.metadata.task_key.task_source == "memory"
        return is_memory or tool_set(self.provider) == "compound" or (self.parent is not None and not self.returned)

    @property
    def settings(self) -> GlobalSettings:
        """The settings in force, with what was set for this task alone."""
        base, provider = self.services.settings(), self.provider
        left_out = tools_left_out(provider)
        if self._settings is None or base is not self._made_of[0] or left_out != self._made_of[1]:
            self._made_of = base, left_out
            policy = self.services.policy()
            here = with_project(base, self._project, policy.forced_settings())
            here = with_preset(here, self._chosen_approvals(base), policy)
            own = with_preset(self._config.settings(here, policy), self.item.approval_preset, policy)
            if self.item.memory_off:
                own = own.model_copy(update={"memory_enabled": False})
            self._settings = with_profile(own, provider)
        return self._settings

    def _chosen_approvals(self, base: GlobalSettings) -> ApprovalPreset | None:
        """What was chosen for the other agent, which asks until something is, or for the notebook that it is about."""
        if self.external_agent is not None:
            return base.client_approvals.get(self.external_agent, "ask")
        return self._notebook_approvals(base)

    async def look_for_notebook(self) -> None:
        """See that the notebook it is about is there still: what was chosen for it ends with its file."""
        notebooks, notebook = self.services.notebooks, self.notebook
        if notebooks is None or notebook is None or self._notebook_approvals(self.services.settings()) is None:
            return
        await notebooks.access.look_for(notebook.path)

    def _notebook_approvals(self, base: GlobalSettings) -> ApprovalPreset | None:
        """What was chosen for the notebook it is about. A server of another folder has other notebooks of that name."""
        if self.notebook is None:
            return None
        notebooks, path = self.services.notebooks, self.notebook.path
        return base.notebook_approvals.get(path if notebooks is None else notebooks.access.file_of(path))

    @property
    def context(self) -> ContextPort:
        """What its model sees."""
        return self._context_of(self)

    @property
    def mistake_limit(self) -> int:
        """After how many mistakes in a row it asks."""
        return self.services.models.mistake_limit(self.profile)

    @property
    def paths(self) -> PathPolicy:
        """Which files it may touch."""
        settings = self.settings
        if self._paths is None or self._paths[0] is not settings:
            self._paths = settings, self.services.paths(self.folder, settings)
        return self._paths[1]

    @property
    def tools(self) -> Sequence[ToolSpec]:
        """The tools the model may call, in an order that stays."""
        offer = None if self.mcp is None else self.mcp.offer
        mode, settings, chosen, _ = key = (self.mode, self.settings, tool_set(self.provider), offer)
        known = self._tools
        is_known = known is not None and known[0][0] is mode and known[0][1] is settings and known[0][2] == chosen
        if known is None or not is_known or known[0][3] is not offer:
            specs = self.toolbox.specs(mode, self.services.policy(), settings, tool_set=chosen, mcp=offer)
            self._tools = known = key, specs
        return known[1]

    @property
    def provider(self) -> ProviderSettings | None:
        """The profile of its model."""
        return self.services.models.settings_of(self.profile)

    @property
    def cost(self) -> float:
        """What it has cost so far, in US dollars."""
        return self.usage.cost

    @property
    def asked_at(self) -> CellId | None:
        """The cell at which the person asked to have it changed, if that is what they said last."""
        cell = self.tool_state.allowed_edits.cell
        return None if cell is None else cell[1]

    async def recount(self) -> None:
        """Count again what was spent, without taking the work up."""
        conversation = self.conversation
        recalled = await recall(
            conversation.log, conversation.history.view, conversation.masker, counted_from=self.counted_from
        )
        self.usage, self.spending, self.todos = recalled.usage, recalled.spending, recalled.todos

    async def _save_queue(self, messages: Sequence[QueuedMessage]) -> None:
        await self.persisted.save_queue(self.queue.to_store)
        waiting = list(messages)
        if waiting == self._queue_told:
            return
        self._queue_told = waiting
        self.services.events.emit(QueuedMessagesUpdated(payload=(self.task_id, waiting)))
        self.on_queue_changed()

    def turn_condensing(self, on: bool) -> None:
        """Whether what its model sees is being condensed."""
        self.condensing = on
        log = self.conversation.log
        if on:
            log.update_state(status="compressing", last_activity="compression")
        else:
            log.update_state(status="processing")

    def _listed(self, item: HistoryItem) -> None:
        """Keep the number that the history gave the task, so that it stays when the index is lost."""
        if not self.is_over and item.number != self.item.number:
            self.item = self.item.model_copy(update={"number": item.number})
            self.conversation.log.update_state(history_item=self.item)

    async def client(self) -> ModelClient:
        """The model it uses."""
        return await self.services.models.client(self.profile)

    async def put_artifact(self, data: bytes) -> str:
        """Keep a long output or a picture, and return its name."""
        return await self.conversation.log.put_artifact(data)

    async def read_artifact(self, name: str) -> bytes:
        """What was kept. Raises NotFound."""
        return await self.conversation.log.read_artifact(name)

    def note_external(self) -> None:
        """It was given words that strangers wrote."""
        self.conversation.log.update_state(has_external_content=True)

    async def inherit_marks(self, source: TaskId) -> None:
        """It was given what another conversation says."""
        await inherit_marks(self.conversation.log, self.services.store, source)

    async def withdraw_question(self, ts: int, text: str | None = None, failure: str | None = None) -> None:
        """A question that was shown while a call streamed is not asked after all.

        ``text`` is all of it, where it is known, and ``failure`` why the call failed, where it did.
        """
        message = await self.conversation.log.ui.get(ts)
        if message is not None and message.partial:
            whole = message if text is None else message.model_copy(update={"text": text})
            await self.dialogue.withdraw(whole, failure)

    async def switch_mode(self, slug: str) -> None:
        """Go on in another mode, with its profile."""
        mode = await self.services.modes.get(slug, self.workspace)
        if mode is None:
            raise InvalidInput(f"There is no mode {slug}.", field="mode", mode=slug)
        self.mode = mode
        if self.external_agent is None:
            self.profile = self.services.models.profile_for(slug, self.profile)
        await self.note_item(mode=slug, api_config_name=self.profile)
        self.services.events.emit(TaskModeSwitched(payload=(self.task_id, slug)))

    async def renew(self) -> None:
        """Go by its mode and its folder's settings as they are now: files may have changed, and whether the folder is trusted."""
        await self.look_for_notebook()
        modes, project = await asyncio.to_thread(self._look_at_folder)
        if project != self._project:
            self._project, self._settings = project, None
        await self._renew_mode(modes.get(self.mode.slug))
        await self._prepare_servers()

    async def _renew_mode(self, now: ModeConfig | None) -> None:
        if now is not None and now != self.mode:
            self.mode = now
        elif now is None and self.mode.source == "project":
            for slug in (self.settings.mode, DEFAULT_MODE):
                if await self.services.modes.get(slug, self.workspace) is not None:
                    await self.switch_mode(slug)
                    return

    async def _prepare_servers(self) -> None:
        """See that the MCP servers are there before the model is told of their tools."""
        uses_them = allows_group(self.mode, "mcp") and tool_set(self.provider) == "full"
        if self.mcp is None or not uses_them or not self.settings.mcp_enabled:
            return
        await self.mcp.prepare()
        offer = self.mcp.offer
        if offers_search(offer) and not self.told_too_many:
            self.told_too_many = True
            warning = TooManyTools(
                tool_count=len(offer.tools), server_count=offer.servers, threshold=MOST_OFFERED_MCP_TOOLS
            )
            await self.conversation.say("too_many_tools_warning", warning.to_json())

    def _look_at_folder(self) -> tuple[Mapping[str, ModeConfig], Mapping[str, JsonValue]]:
        services, folder = self.services, self.folder
        return services.modes.by_slug(str(folder)), services.project_settings(folder)

    async def switch_profile(self, name: str) -> None:
        """Go on with another model. A program outside has none here."""
        if self.external_agent is not None:
            return
        self.profile = name
        await self.note_item(api_config_name=name)

    async def await_child(self, child: TaskId) -> None:
        """Note that it waits for a subtask, before there is one."""
        children = [*(self.item.child_ids or ()), child]
        await self.note_item(status="delegated", delegated_to_id=child, awaiting_child_id=child, child_ids=children)

    async def note_item(self, **changes: Unpack[HistoryItemChange]) -> None:
        """Change its line in the history; it is on the disk then."""
        before, self.item = self.item, self.item.model_copy(update=dict(changes))
        if any(getattr(before, name) != getattr(self.item, name) for name in _CHANGES_SETTINGS):
            self._settings = None
        await self.note_progress()
        await self.conversation.log.save_state()
        await self.history_sync.told()

    async def note_progress(
        self, *, text: str | None = None, pictures: int = 0, attachments: Sequence[Attachment] = ()
    ) -> None:
        """Bring its state up to date; its line in the history follows without being waited for.

        ``text``, ``pictures`` and ``attachments`` are what it begins with. Without words it is listed under what it is about.
        """
        log, usage = self.conversation.log, self.usage
        changes: dict[str, object] = {
            "ts": log.last_ui_ts,
            "tokens_in": usage.tokens_in,
            "tokens_out": usage.tokens_out,
            "cache_writes": usage.cache_writes,
            "cache_reads": usage.cache_reads,
            "total_cost": usage.cost,
            "mode": self.mode.slug,
            "api_config_name": self.profile or None,
            "state": None,
        }
        if text is not None:
            begins_with = text if text.strip() else labels_of(attachments)
            changes["task"] = await self.conversation.mask(begins_with)
            changes["pictures"] = pictures or None if not begins_with else None
        self.item = self.item.model_copy(update=changes)
        log.update_state(
            status="compressing" if self.condensing else "processing",
            history_item=self.item,
            llm_call_count=usage.requests,
            total_tokens_used=usage.total_tokens,
            current_context_tokens=usage.context_tokens,
        )
        await self.persisted.save_strikes(self.mistakes, self.repetition)
        self.history_sync.tell(self.item, text=None if text is None else self.item.task)


async def _nothing_to_do(reason: EndingReason) -> None:
    """Nobody has anything to do about a halt."""
