"""One conversation that is being worked on: an asyncio task of its own, and everything it knows."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue
from typing_extensions import Unpack

from ..._background_tasks import BackgroundTasks
from ...config import (
    GlobalSettings,
    ModeConfig,
    ProviderSettings,
    ToolSet,
    tool_set,
    tools_left_out,
    with_profile,
    with_project,
)
from ...errors import HdspAgentError, InvalidInput
from ...messages import (
    ClineMessage,
    CompletionInfo,
    HistoryItem,
    JsonObject,
    NotebookRef,
    QueuedMessage,
    QueuedMessagesUpdated,
    TaskAborted,
    TaskCompleted,
    TaskId,
    TaskModeSwitched,
    TaskStatus,
    TodoItem,
)
from ...persistence import Masker, MessageManager, TaskLog, as_left, iso_time, task_logger
from ...persistence import Outcome as LogOutcome
from ...providers import ModelClient, ToolSpec
from .._agent_services import AgentServices
from .._ports import ContextPort
from ..checkpoints.checkpoint_messages import CheckpointMessages
from ..context_window import ContextWindow
from ..conversation.asks import AnswerGiven, AskAnswer, AskNotOpen
from ..conversation.auto_answer import AutoAnswer
from ..conversation.conversation import Conversation
from ..conversation.dialogue import Dialogue
from ..conversation.history_items import HistoryItemChange, TaskConfig, fresh_item
from ..conversation.history_sync import HistorySync
from ..conversation.message_queue import MessageQueue
from ..conversation.notebook_copy import NotebookCopy
from ..conversation.user_input import PendingUserInput
from ..modes import DEFAULT_MODE
from ..user_messages import MessageExpander
from .cancellation import BoundedCancellation
from .flow_port import TaskFlow
from .loop import Loop
from .model_requests import ModelRequests
from .outcomes import Again, ChildDone, Completed, Delegated, Opening, Outcome, TaskStopped
from .persisted_state import PersistedTaskState
from .recorded_state import recall
from .repetition import RepetitionGuard
from .start_resume import TaskStarter
from .task_limits import Mistakes, Spending
from .tool_calls import ToolCalls
from .tool_context import CallContext
from .usage_meter import UsageMeter

if TYPE_CHECKING:
    from ...tools import PathPolicy, ToolState

__all__ = ["CANCEL_SECONDS", "Task"]

logger = logging.getLogger(__name__)

CANCEL_SECONDS: Final = 0.18
"""A cancel answers within 200 ms, whatever is running."""

_LAST_SECONDS: Final = 1.0
_READY_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.05
_GO_ON: Final = ("resume_task", "resume_completed_task", "mistake_limit_reached")
"""Questions that any words answer. Words typed before a question was read answer no other."""
OnSettled = Callable[["Task", Outcome], Awaitable[None]]
OnFailure = Callable[["Task"], Awaitable[None]]


class Task:
    """Works on one conversation: ``launch`` begins the work, ``cancel`` and ``close`` end it."""

    def __init__(
        self,
        services: AgentServices,
        log: TaskLog,
        history: MessageManager,
        mode: ModeConfig,
        profile: str,
        *,
        parent_waits: bool,
        on_settled: OnSettled,
        on_failure: OnFailure,
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
        self.counted_from: Final = self._config.forked_at
        self._made_of: tuple[GlobalSettings | None, frozenset[str]] = (None, frozenset())
        self._settings: GlobalSettings | None = None
        self._project: Mapping[str, JsonValue] = {}
        self._ending = asyncio.Lock()
        self._is_over = False

        masker = Masker(services.settings().masked_kinds)
        self.conversation: Final = Conversation(log, history, masker, services.sink, services.events)
        self.dialogue: Final = Dialogue(self.conversation, services.events)
        self.context: Final[ContextPort] = services.contexts(self.conversation, metadata.workspace)
        self.leash: Final = BoundedCancellation()
        self._kept: Final = PersistedTaskState(log)
        self.queue: Final = MessageQueue(self._save_queue, self._kept.queue)
        self._queue_told = self.queue.messages
        self.dialogue.asks.on_open = self._asked
        self.item: HistoryItem = log.state.history_item or fresh_item(metadata)
        self.usage = UsageMeter()
        self.spending = Spending()
        struck = self._kept.strikes
        self.mistakes: Final = Mistakes(struck.mistakes)
        self.repetition: Final = RepetitionGuard(last_call=struck.last_call, same_calls=struck.same_calls)
        self.todos: list[TodoItem] = []
        self.edited_todos: list[TodoItem] | None = None
        self.asks_everything = False
        self.told_unsaved = False
        """Whether the person was told that files could not be saved."""
        self.stopping = False
        self.server_ends = False
        """Nobody stops it: all tasks are put aside."""
        self.completed = False
        """It has done what it was to do; what is recorded of that may be under way."""
        self.condensing = False
        """What its model sees is being condensed."""
        self.tool_state: Final[ToolState] = services.tool_state(self.task_id)
        self.tool_state.outputs.attach(self._kept.outputs, save=self._kept.save_outputs, shown=self._kept.shown_text)
        self.flow: Final = TaskFlow(self)
        self.calls: Final = ToolCalls(self)
        self.upkeep: Final = ContextWindow(self)
        self.requests: Final = ModelRequests(self)
        self.loop: Final = Loop(self)
        self._openings: Final = TaskStarter(self)
        self.words: Final = PendingUserInput(self, self._kept)
        self.answers_itself: Final = AutoAnswer(self)
        self.speech: Final = MessageExpander(self)
        self.checkpoint_messages: Final = CheckpointMessages(self.conversation)
        self._embedding: Final = NotebookCopy(self)
        self._on_settled = on_settled
        self._on_failure = on_failure
        self._worker: asyncio.Task[None] | None = None
        self._cancelled: asyncio.Task[None] | None = None
        self._settled = False
        self._held = BackgroundTasks()
        self._line: Final = HistorySync(services.history, metadata.user, self.logger, on_listed=self._listed)
        self._paths: tuple[GlobalSettings, PathPolicy] | None = None
        self._tools: tuple[tuple[ModeConfig, GlobalSettings, ToolSet], list[ToolSpec]] | None = None

    # ---- what it is

    @property
    def task_id(self) -> TaskId:
        """Its id."""
        return self.conversation.task_id

    @property
    def status(self) -> TaskStatus:
        """What it is doing, as its questions tell."""
        return self.dialogue.status

    @property
    def notebook(self) -> NotebookRef | None:
        """The notebook it is about."""
        # Its line in the history follows when the notebook is renamed.
        return self.item.notebook or self.conversation.log.metadata.notebook

    @property
    def situation(self) -> Task:
        """What the context is built from."""
        return self

    @property
    def settings(self) -> GlobalSettings:
        """The settings in force, with what was set for this task alone."""
        base, provider = self.services.settings(), self.provider
        left_out = tools_left_out(provider)
        if self._settings is None or base is not self._made_of[0] or left_out != self._made_of[1]:
            self._made_of = base, left_out
            policy = self.services.policy()
            own = self._config.settings(with_project(base, self._project, policy.forced_settings()), policy)
            self._settings = with_profile(own, provider)
        return self._settings

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
        mode, settings, chosen = key = (self.mode, self.settings, tool_set(self.provider))
        known = self._tools
        if known is None or known[0][0] is not mode or known[0][1] is not settings or known[0][2] != chosen:
            specs = self.services.tools.specs(mode, self.services.policy(), settings, tool_set=chosen)
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

    # ---- life

    def launch(self, opening: Opening) -> None:
        """Begin to work."""
        self._worker = asyncio.create_task(self._work(opening), name=f"hdsp-agent task {self.task_id}")

    async def answer(self, ts: int, given: AnswerGiven) -> AskAnswer:
        """The person's answer to the question ``ts``. Raises AskNotOpen for a late, second or unknown one."""
        deadline = asyncio.get_running_loop().time() + _READY_SECONDS
        while await self._is_about_to_ask(ts) and asyncio.get_running_loop().time() < deadline:
            await self.dialogue.asks.next_open(_LOOK_SECONDS)
        # To its end, even if whoever brings the answer goes away.
        return await self._held.finish(self.dialogue.answer(ts, given))

    async def _is_about_to_ask(self, ts: int) -> bool:
        """Whether its log shows a question that it has not put yet: a page that opens just now reads the log too."""
        asks = self.dialogue.asks
        if self.stopping or self._is_over or asks.is_open(ts):
            return False
        if any(other.ts > ts and other.ask != "command_output" for other in asks.open):
            # Something else was asked instead.
            return False
        message = await self.conversation.log.ui.get(ts)
        return message is not None and message.type == "ask" and message.is_answered is None and not message.partial

    async def recount(self) -> None:
        """Count again what was spent, without taking the work up."""
        conversation = self.conversation
        recalled = await recall(
            conversation.log, conversation.history.view, conversation.masker, counted_from=self.counted_from
        )
        self.usage, self.spending, self.todos = recalled.usage, recalled.spending, recalled.todos

    async def cancel(self) -> None:
        """Stop what is being done; afterwards the person is asked whether to go on. Answers within 200 ms."""
        self.upkeep.give_up()
        worker = self._worker
        if (
            worker is None
            or worker.done()
            or self._settled
            or self.dialogue.asks.newest("resume_task", "resume_completed_task")
        ):
            return
        if worker is not self._cancelled:
            # Who cancels again waits with the first; the work is taken up once.
            self._cancelled = worker
            self.queue.leave()
            asked = self.dialogue.asks.open
            worker.cancel()
            self.tool_state.runs.interrupt_all()
            self._held.begin(self._after_cancel(worker, asked))
        await asyncio.wait({worker}, timeout=CANCEL_SECONDS)

    async def halt(self) -> None:
        """End the work where it is, without a word; ``launch`` goes on."""
        self.stopping = True
        worker = self._worker
        if worker is not None:
            worker.cancel()
            await asyncio.wait({worker})
        await self.upkeep.stop()
        await self._held.drain()
        self.stopping = False
        self.dialogue.at_rest()

    async def go_on_with(self, opening: ChildDone) -> None:
        """Its subtask is done while it asks whether to go on: the question has an answer. One that went on needs none."""
        asked = self.dialogue.asks.newest("resume_task")
        if asked is None:
            return
        await self.halt()
        await self.dialogue.withdraw(asked)
        self.launch(opening)

    async def close(self) -> None:
        """Stop with the server, and let go of the log: a question that waits goes on waiting in it."""
        self.server_ends = True
        await self.halt()
        self.stopping = True
        await self.let_go()

    async def ended(self) -> None:
        """Wait until the work has come to its end by itself."""
        if self._worker is not None:
            await asyncio.wait({self._worker})

    async def let_go(self) -> None:
        """Let go of everything: a task that was done already is completed again, any other is paused. The work has ended."""
        await self._end("completed" if self.item.status == "completed" else None)

    async def finish(self) -> None:
        """The task is over: put its log with the completed ones. The work has ended."""
        await self._end("completed")

    async def run_out(self, why: str) -> None:
        """Its time is over: put it with the completed ones, from where it can go on. The work has ended."""
        try:
            await self.conversation.say("error", why, durable=True)
        except HdspAgentError as error:
            self.logger.error("The conversation does not say that its time was over: %s", error)
        await self._end("timeout", why)

    async def _end(self, outcome: LogOutcome | None, error: str | None = None) -> None:
        # The server may stop just when the task comes to its end by itself.
        async with self._ending:
            if self._is_over:
                return
            self.dialogue.asks.go_on()
            log = self.conversation.log
            try:
                await self._end_tools()
                await self._line.told()
                await self._embedding.write()
                if outcome is not None:
                    await log.finish(outcome, error=error, resumable=outcome == "timeout")
            finally:
                # Whatever was refused, such as by a full disk: with its lock kept nobody could go on with the task.
                await log.close()
                self._is_over = True
            self._line.tell(as_left(self.item, log.state))
            await self._line.told()

    async def _end_tools(self) -> None:
        """Nothing the task has begun goes on without it: no command, and no cell."""
        await self.leash.gone(_LAST_SECONDS)
        if self.services.notebooks is not None:
            await self.services.notebooks.executor.release(self.task_id)
        await self.tool_state.close()

    async def _after_cancel(self, worker: asyncio.Task[None], asked: Sequence[ClineMessage]) -> None:
        await asyncio.wait({worker})
        for message in asked:
            # Whoever stops the task does not want to be asked this again.
            await self.dialogue.withdraw(message)
        await self._embedding.write()
        self.services.events.emit(TaskAborted(payload=(self.task_id,)))
        if not self.stopping and not self._settled:
            self.launch(Again(stopped_by="person"))

    async def _work(self, opening: Opening) -> None:
        self.logger.info("Work begins (%s): mode %s, profile %s", type(opening).__name__, self.mode.slug, self.profile)
        outcome: Outcome | None = None
        failed_at: int | None = None
        while outcome is None:
            try:
                outcome = await self._openings.run(opening)
            except TaskStopped:
                self.queue.leave()
                opening = Again(stopped_by="person")
            except Exception as error:  # noqa: BLE001 -- a task ends with a word to the person, whatever it was
                self.queue.leave()
                # What fails even before a question is put would fail again and again.
                for_good, failed_at = failed_at == self.dialogue.asks.asked, self.dialogue.asks.asked
                if not await self._tell_failure(error, for_good=for_good):
                    return
                opening = Again()
        try:
            await self._held.finish(self._settle(outcome))
        except Exception as error:
            self.logger.error("The end of the task could not be recorded: %s", error, exc_info=error)
            self._held.begin(self._give_up())

    async def _tell_failure(self, error: Exception, *, for_good: bool) -> bool:
        """Say what went wrong; whether the conversation can go on."""
        self.logger.error("The task stopped: %s", error, exc_info=error)
        text = error.message if isinstance(error, HdspAgentError) else f"{type(error).__name__}: {error}"
        try:
            await self.conversation.say("error", f"The task stopped because of an error: {text}", durable=True)
        except HdspAgentError as second:
            self.logger.error("Nothing can be recorded, so the task is put aside: %s", second)
            for_good = True
        if for_good:
            self.dialogue.at_rest()
            self._held.begin(self._give_up())
        return not for_good

    async def _give_up(self) -> None:
        await self._on_failure(self)

    async def _settle(self, outcome: Outcome) -> None:
        self._settled = True
        self.logger.info(
            "Work ended (%s): %d tokens in, %d out, $%.4f",
            type(outcome).__name__,
            self.usage.tokens_in,
            self.usage.tokens_out,
            self.cost,
        )
        match outcome:
            case Completed(again=again, result=result):
                self.completed = True
                if not again:
                    await self._tell_completed(result)
            case Delegated():
                self.dialogue.at_rest()
        await self._on_settled(self, outcome)

    async def _tell_completed(self, result: str) -> None:
        waits = self.parent is not None and not self.returned
        if not waits:
            await self.conversation.create(self.conversation.ask_message("completion_result", ""), durable=True)
        await self.note_item(status="completed", completion_result_summary=result)
        info = CompletionInfo(is_subtask=self.parent is not None)
        payload = (self.task_id, self.usage.tokens(), self.usage.tool_usage(), info)
        self.services.events.emit(TaskCompleted(payload=payload, tools=self.usage.own_tools()))
        if not waits:
            self.dialogue.resting_with("completion_result")

    # ---- what waits in the queue

    def _asked(self) -> None:
        self._heed_queue()
        if self.dialogue.asks.newest("followup") is not None:
            self._held.begin(self._embedding.write())

    def _heed_queue(self) -> None:
        """What was said since the work stopped is the answer to a question whether to go on; it is told in the next turn."""
        question = self.dialogue.asks.newest(*_GO_ON)
        if question is not None and self.queue.wants_to_go_on and not self.stopping:
            self._held.begin(self._go_on(question.ts))

    async def _go_on(self, ts: int) -> None:
        # Whoever answers first does.
        with suppress(AskNotOpen):
            await self.dialogue.answer(ts, AnswerGiven("messageResponse"))

    async def _save_queue(self, messages: Sequence[QueuedMessage]) -> None:
        await self._kept.save_queue(self.queue.to_store)
        waiting = list(messages)
        if waiting == self._queue_told:
            return
        self._queue_told = waiting
        self.services.events.emit(QueuedMessagesUpdated(payload=(self.task_id, waiting)))
        self._heed_queue()

    # ---- what the loop needs

    def preview(self, tool: str, partial: JsonObject) -> str | None:
        """What to show of a call while its arguments stream."""
        try:
            return self.services.tools.get(tool).preview(partial, CallContext(self, self.calls))
        except HdspAgentError:
            return None

    def turn_condensing(self, on: bool) -> None:
        """Whether what its model sees is being condensed."""
        self.condensing = on
        self.conversation.log.update_state(status="compressing" if on else "processing")

    def _listed(self, item: HistoryItem) -> None:
        """Keep the number that the history gave the task, so that it stays when the index is lost."""
        if not self._is_over and item.number != self.item.number:
            self.item = self.item.model_copy(update={"number": item.number})
            self.conversation.log.update_state(history_item=self.item)

    async def client(self) -> ModelClient:
        """The model it uses."""
        return await self.services.models.client(self.profile)

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
        self.profile = self.services.models.profile_for(slug, self.profile)
        await self.note_item(mode=slug, api_config_name=self.profile)
        self.services.events.emit(TaskModeSwitched(payload=(self.task_id, slug)))

    async def renew(self) -> None:
        """Go by its mode and its folder's settings as they are now: files may have changed, and whether the folder is trusted."""
        modes, project = await asyncio.to_thread(self._look_at_folder)
        if project != self._project:
            self._project, self._settings = project, None
        now = modes.get(self.mode.slug)
        if now is not None and now != self.mode:
            self.mode = now
        elif now is None and self.mode.source == "project":
            for slug in (self.settings.mode, DEFAULT_MODE):
                if await self.services.modes.get(slug, self.workspace) is not None:
                    await self.switch_mode(slug)
                    return

    def _look_at_folder(self) -> tuple[Mapping[str, ModeConfig], Mapping[str, JsonValue]]:
        services, folder = self.services, self.folder
        return services.modes.by_slug(str(folder)), services.project_settings(folder)

    async def switch_profile(self, name: str) -> None:
        """Go on with another model."""
        self.profile = name
        await self.note_item(api_config_name=name)

    async def await_child(self, child: TaskId) -> None:
        """Note that it waits for a subtask, before there is one."""
        children = [*(self.item.child_ids or ()), child]
        await self.note_item(status="delegated", delegated_to_id=child, awaiting_child_id=child, child_ids=children)

    async def note_item(self, **changes: Unpack[HistoryItemChange]) -> None:
        """Change its line in the history; it is on the disk then."""
        self.item = self.item.model_copy(update=dict(changes))
        await self.note_progress()
        await self.conversation.log.save_state()
        await self._line.told()

    async def note_progress(self, *, text: str | None = None, pictures: int = 0) -> None:
        """Bring its state up to date; its line in the history follows without being waited for.

        ``text`` and ``pictures`` are what it begins with.
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
            "api_config_name": self.profile,
            "state": None,
        }
        if text is not None:
            changes["task"] = await self.conversation.mask(text)
            changes["pictures"] = pictures or None if not text.strip() else None
        self.item = self.item.model_copy(update=changes)
        log.update_state(
            status="compressing" if self.condensing else "processing",
            history_item=self.item,
            llm_call_count=usage.requests,
            total_tokens_used=usage.total_tokens,
            current_context_tokens=usage.context_tokens,
            last_activity=iso_time(),
        )
        await self._kept.save_strikes(self.mistakes, self.repetition)
        self._line.tell(self.item, text=None if text is None else self.item.task)
