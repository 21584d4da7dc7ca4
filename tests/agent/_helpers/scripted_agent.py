"""A whole agent on a folder: the real store, loop and approval engine, a scripted model, and small tools of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from pydantic import ValidationError

from hdsp_agent.agent import AgentServices, ConversationShown, FullContext, Situation, Task, TaskManager, TaskRequest
from hdsp_agent.agent._ports import ToolBox
from hdsp_agent.agent.approval import ApprovalEngine
from hdsp_agent.agent.checkpoints.checkpoint_service import CheckpointService
from hdsp_agent.agent.context_window.port import ContextOf
from hdsp_agent.agent.context_window.recovery_notice import RecoveryNotice
from hdsp_agent.agent.conversation.conversation import Conversation
from hdsp_agent.agent.environment import CurrentEnvironment, EnvironmentBasis, Section, SectionEntry
from hdsp_agent.agent.external.checkpoint_tools import checkpoint_tools
from hdsp_agent.agent.external.offered_tools import ExternalTools
from hdsp_agent.agent.modes import ModeRegistry
from hdsp_agent.agent.user_messages import SlashCommands
from hdsp_agent.config import (
    ApprovalPreset,
    GlobalSettings,
    ModeConfig,
    OperatorPolicy,
    ProviderSettings,
    ToolSet,
    TrustedFolders,
    chosen_for,
    project_settings,
)
from hdsp_agent.context import NoticeKind
from hdsp_agent.errors import InvalidInput
from hdsp_agent.mcp.client import McpHub
from hdsp_agent.memory import Memories
from hdsp_agent.messages import (
    ClineAsk,
    ClineMessage,
    ConversationMarks,
    HistoryItem,
    JsonObject,
    ModelRecord,
    TaskEvent,
    TaskId,
    TodoItem,
)
from hdsp_agent.notebooks import Notebooks
from hdsp_agent.persistence import TaskStore
from hdsp_agent.providers import ModelClient, ScriptedModel, ToolSpec
from hdsp_agent.providers._scripted import Turn
from hdsp_agent.tools import (
    ActionRequest,
    McpOffer,
    PathPolicy,
    SimpleTool,
    Tool,
    ToolArguments,
    ToolContext,
    ToolFailed,
    ToolResult,
    ToolState,
    program_tools,
)

from ..._helpers.stored_tasks import make_store

__all__ = ["Agent", "ExpandedMessage", "Toolbox", "running_agent", "until"]

PATIENCE = 60.0


class NoteArguments(ToolArguments):
    """A line to add to a file."""

    text: str


class WriteNote(SimpleTool[NoteArguments]):
    """Adds a line to notes.txt, after it was approved: so every run can be counted."""

    name: ClassVar[str] = "write_note"
    description: ClassVar[str] = "Add a line to notes.txt."

    async def _run(self, arguments: NoteArguments, context: ToolContext) -> ToolResult:
        action = ActionRequest(frozenset({"write"}), self.name, path="notes.txt")
        shown = json.dumps({"tool": "newFileCreated", "path": "notes.txt", "content": arguments.text})
        approval = await context.approve(action, "tool", shown)
        if not approval.approved:
            return ToolResult(json.dumps({"status": "denied", "feedback": approval.feedback}), is_error=True)
        with (context.workspace / "notes.txt").open("a", encoding="utf-8") as file:
            file.write(arguments.text + "\n")
        said = f"{approval.feedback}\n" if approval.feedback else ""
        return ToolResult(f"{said}wrote {arguments.text}")

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        return json.dumps({"tool": "newFileCreated", "path": "notes.txt", "content": partial.get("text", "")})


class Look(SimpleTool[NoteArguments]):
    """Takes a moment to look, beside others."""

    name: ClassVar[str] = "look"
    description: ClassVar[str] = "Look at something."
    parallel_safe: ClassVar[bool] = True
    at_once: ClassVar[int] = 0
    most_at_once: ClassVar[int] = 0

    async def _run(self, arguments: NoteArguments, context: ToolContext) -> ToolResult:
        await context.approve(ActionRequest(frozenset({"none"}), self.name), "tool", json.dumps({"tool": "readFile"}))
        cls = type(self)
        cls.at_once += 1
        cls.most_at_once = max(cls.most_at_once, cls.at_once)
        try:
            await asyncio.sleep(0.02)
        finally:
            cls.at_once -= 1
        return ToolResult(f"saw {arguments.text}")


class Slow(SimpleTool[NoteArguments]):
    """Runs until it is cancelled, and says in a file that it began; ``deaf`` does not heed that at once."""

    name: ClassVar[str] = "slow"
    description: ClassVar[str] = "Take very long."

    async def _run(self, arguments: NoteArguments, context: ToolContext) -> ToolResult:
        action = ActionRequest(frozenset({"write"}), self.name)
        approval = await context.approve(action, "tool", json.dumps({"tool": "newFileCreated", "path": "slow.txt"}))
        if not approval.approved:
            return ToolResult("denied", is_error=True)
        with (context.workspace / "slow.txt").open("a", encoding="utf-8") as file:
            file.write("began\n")
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            if arguments.text == "deaf":
                await asyncio.sleep(0.6)
            raise
        return ToolResult("done")


class Broken(SimpleTool[NoteArguments]):
    """Fails in the way it is told."""

    name: ClassVar[str] = "broken"
    description: ClassVar[str] = "Fail."

    async def _run(self, arguments: NoteArguments, context: ToolContext) -> ToolResult:
        if arguments.text == "bug":
            raise RuntimeError("a slip of ours")
        raise ToolFailed(arguments.text)


class ResultArguments(ToolArguments):
    """The result."""

    result: str


class Complete(SimpleTool[ResultArguments]):
    """Ends the task."""

    name: ClassVar[str] = "attempt_completion"
    description: ClassVar[str] = "Finish."

    async def _run(self, arguments: ResultArguments, context: ToolContext) -> ToolResult:
        completion = await context.flow.complete(arguments.result)
        return ToolResult("accepted" if completion.accepted else f"not yet: {completion.feedback}")


class QuestionArguments(ToolArguments):
    """A question."""

    question: str


class Question(SimpleTool[QuestionArguments]):
    """Asks the person."""

    name: ClassVar[str] = "ask_followup_question"
    description: ClassVar[str] = "Ask."

    async def _run(self, arguments: QuestionArguments, context: ToolContext) -> ToolResult:
        reply = await context.ask("followup", json.dumps({"question": arguments.question, "suggest": []}))
        return ToolResult(f"<user_message>\n{reply.text}\n</user_message>")


class SubtaskArguments(ToolArguments):
    """What the subtask is."""

    mode: str
    message: str


class Subtask(SimpleTool[SubtaskArguments]):
    """Hands work over."""

    name: ClassVar[str] = "new_task"
    description: ClassVar[str] = "Begin a subtask."

    async def _run(self, arguments: SubtaskArguments, context: ToolContext) -> ToolResult:
        action = ActionRequest(frozenset({"subtask"}), self.name)
        shown = json.dumps({"tool": "newTask", "mode": arguments.mode, "content": arguments.message})
        if not (await context.approve(action, "tool", shown)).approved:
            return ToolResult("denied", is_error=True)
        return ToolResult(await context.flow.new_task(arguments.mode, arguments.message, ()))


class TodoArguments(ToolArguments):
    """The list."""

    todos: list[str]


class Todos(SimpleTool[TodoArguments]):
    """Sets the plan."""

    name: ClassVar[str] = "update_todo_list"
    description: ClassVar[str] = "Plan."

    async def _run(self, arguments: TodoArguments, context: ToolContext) -> ToolResult:
        todos = [TodoItem(id=str(at), content=text, status="pending") for at, text in enumerate(arguments.todos)]
        shown = json.dumps({"tool": "updateTodoList", "todos": [todo.to_wire() for todo in todos]})
        await context.approve(ActionRequest(frozenset({"none"}), self.name), "tool", shown)
        await context.flow.update_todos(todos)
        return ToolResult("noted")


class SwitchArguments(ToolArguments):
    """The mode."""

    mode: str


class Switch(SimpleTool[SwitchArguments]):
    """Changes the mode."""

    name: ClassVar[str] = "switch_mode"
    description: ClassVar[str] = "Switch."

    async def _run(self, arguments: SwitchArguments, context: ToolContext) -> ToolResult:
        await context.flow.switch_mode(arguments.mode, None)
        return ToolResult("switched")


class Toolbox:
    """A registry of the tools above."""

    def __init__(self) -> None:
        tools: Sequence[Tool] = (
            WriteNote(), Look(), Slow(), Broken(), Complete(), Question(), Subtask(), Todos(), Switch(),
        )  # fmt: skip
        self._tools = {tool.name: tool for tool in tools}

    def add(self, tool: Tool) -> None:
        """Have this tool, instead of the one of its name."""
        self._tools[tool.name] = tool

    def specs(
        self,
        mode: ModeConfig,
        policy: OperatorPolicy,
        settings: GlobalSettings,
        *,
        tool_set: ToolSet = "full",
        mcp: McpOffer | None = None,
    ) -> list[ToolSpec]:
        return [
            ToolSpec(tool.name, tool.description, tool.Arguments.model_json_schema()) for tool in self._tools.values()
        ]

    def get(self, name: str) -> Tool:
        if name not in self._tools:
            raise InvalidInput(f"There is no tool {name}.")
        return self._tools[name]

    def validate(self, name: str, arguments: str) -> ToolArguments:
        try:
            return self.get(name).Arguments.model_validate_json(arguments or "{}")
        except ValidationError as error:
            raise InvalidInput(f"{name}: {error.errors()[0]['msg']}") from None


@dataclass
class ExpandedMessage:
    """A sink that remembers, and rebuilds each conversation from what it heard alone."""

    shown: dict[str, dict[int, ClineMessage]] = field(default_factory=dict)
    log: list[tuple[str, TaskId, object]] = field(default_factory=list)
    notices: list[tuple[TaskId, NoticeKind, int]] = field(default_factory=list)
    recoveries: list[str] = field(default_factory=list)

    def noticed(self, task_id: TaskId, kind: NoticeKind, percent: int) -> None:
        self.notices.append((task_id, kind, percent))

    def recovering(self, task_id: TaskId, notice: RecoveryNotice) -> None:
        assert notice.text
        self.recoveries.append(notice.kind)

    def created(self, task_id: TaskId, message: ClineMessage) -> None:
        assert message.ts not in self.shown.setdefault(task_id, {}), "created twice"
        self.shown[task_id][message.ts] = message
        self.log.append(("created", task_id, message))

    def updated(self, task_id: TaskId, message: ClineMessage) -> None:
        self.shown.setdefault(task_id, {})[message.ts] = message
        self.log.append(("updated", task_id, message))

    def delta(self, task_id: TaskId, ts: int, field: str, append: str) -> None:
        message = self.shown[task_id][ts]
        self.shown[task_id][ts] = message.model_copy(update={"text": (message.text or "") + append})
        self.log.append(("delta", task_id, append))

    def reset(self, task_id: TaskId, shown: ConversationShown) -> None:
        kept = self.shown.setdefault(task_id, {})
        for ts in list(kept):
            if any(span.first <= ts <= span.last for span in shown.removed):
                del kept[ts]
        kept.update({message.ts: message for message in shown.restored or shown.newest})
        self.log.append(("reset", task_id, shown))

    def marked(self, task_id: TaskId, marks: ConversationMarks) -> None:
        self.log.append(("marked", task_id, marks))


@dataclass
class ScriptedModels:
    """One scripted model for all profiles."""

    model: ModelClient
    limit: int = 3
    spacing: float = 0

    locked: bool = False

    def profile_for(self, mode: str, now: str | None = None) -> str:
        return now if self.locked and now is not None else f"{mode}-profile"

    async def client(self, profile: str) -> ModelClient:
        return self.model

    def settings_of(self, profile: str) -> ProviderSettings | None:
        return ProviderSettings(api_provider="fake-ai") if profile.endswith("-profile") else None

    def mistake_limit(self, profile: str) -> int:
        return self.limit

    def rate_limit_seconds(self, profile: str) -> float:
        return self.spacing

    async def known(self) -> ModelRecord:
        return {}

    async def close(self) -> None:
        await self.model.close()


@dataclass
class HistoryList:
    """The list of tasks in memory."""

    items: dict[str, HistoryItem] = field(default_factory=dict)

    async def put(self, item: HistoryItem, *, text: str | None = None, owner: str | None = None) -> HistoryItem:
        self.items[item.id] = item.model_copy(update={"number": item.number or len(self.items) + 1})
        return self.items[item.id]


@dataclass
class Agent:
    """What a test talks to."""

    manager: TaskManager
    store: TaskStore
    model: ScriptedModel
    heard: ExpandedMessage
    models: ScriptedModels
    workspace: Path
    events: list[TaskEvent]
    slept: list[float]
    history: HistoryList

    async def start(self, text: str = "Do it") -> TaskId:
        return await self.manager.start(TaskRequest(text))

    def task(self, task_id: TaskId) -> Task:
        return self.manager.tasks.get(task_id)

    async def asked(self, task_id: TaskId, kind: ClineAsk, *, after: int = 0) -> ClineMessage:
        """The question of this kind, once it is open."""

        def waiting() -> ClineMessage | None:
            task = self.manager.tasks.opened(task_id)
            message = task.state.dialogue.asks.newest(kind) if task else None
            return message if message is not None and message.ts > after else None

        return await until(waiting)

    async def completed(self, task_id: TaskId) -> ClineMessage:
        """The question a finished task leaves behind."""
        await until(lambda: self.manager.tasks.opened(task_id) is None or None)
        return (await self.ui(task_id))[-1]

    async def finished(self, text: str = "Do it") -> TaskId:
        """A task that runs to its end."""
        task_id = await self.start(text)
        await self.completed(task_id)
        return task_id

    async def ui(self, task_id: TaskId) -> list[ClineMessage]:
        reader = await self.store.view(task_id)
        return [message async for message in reader.ui.iterate()]

    async def says(self, task_id: TaskId, kind: str) -> list[ClineMessage]:
        return [message for message in await self.ui(task_id) if message.say == kind]

    async def asks(self, task_id: TaskId, kind: str) -> list[ClineMessage]:
        return [message for message in await self.ui(task_id) if message.ask == kind]

    async def results(self, task_id: TaskId) -> dict[str, str]:
        """Each call's result in the log; fails if there are two."""
        reader = await self.store.view(task_id)
        found: dict[str, str] = {}
        async for record in reader.api.iterate():
            for block in record.content if isinstance(record.content, list) else ():
                if block.get("type") == "tool_result":
                    call = str(block["tool_use_id"])
                    assert call not in found, f"two results for {call}"
                    found[call] = (
                        json.dumps(block["content"]) if isinstance(block["content"], list) else str(block["content"])
                    )
        return found

    def notes(self) -> list[str]:
        path = self.workspace / "notes.txt"
        return path.read_text().splitlines() if path.exists() else []

    def names(self) -> list[str]:
        """The names of all events but those of single messages."""
        return [event.event_name for event in self.events if event.event_name != "message"]


async def until(ready: Callable[[], object], seconds: float = PATIENCE) -> ClineMessage:
    """Wait until this gives something."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        value = ready()
        if value:
            return value  # type: ignore[return-value]  # mostly a message; who waits for something else drops it
        if asyncio.get_running_loop().time() > deadline:
            raise AssertionError("it did not happen")
        await asyncio.sleep(0.002)


@asynccontextmanager
async def running_agent(
    home: Path,
    turns: Sequence[Turn] = (),
    *,
    settings: GlobalSettings | None = None,
    policy: OperatorPolicy | None = None,
    tools: ToolBox | None = None,
    notebooks: Notebooks | None = None,
    files: CheckpointService | None = None,
    trusted: bool = False,
    engine: ApprovalEngine | None = None,
    mcp: McpHub | None = None,
) -> AsyncIterator[Agent]:
    """An agent on this folder; stopped in the end as a server stops. ``trusted`` is what the person says of the folder."""
    workspace = home / "work"
    workspace.mkdir(parents=True, exist_ok=True)
    current = settings or GlobalSettings()
    operator = policy or OperatorPolicy()
    folders = TrustedFolders(home / "home", lambda: operator)
    if trusted:
        await asyncio.to_thread(folders.decide, workspace, True)
    memories = Memories(home / "home", "", folders.trusted)
    store = make_store(home / "home", heartbeat_seconds=5)
    model = ScriptedModel(turns)
    models, heard, history = ScriptedModels(model), ExpandedMessage(), HistoryList()
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await asyncio.sleep(0)

    async def prompt(situation: Situation, workspace: str | None) -> EnvironmentBasis:
        text = f"You are in mode {situation.mode.slug}."
        return EnvironmentBasis(text, (Section("role", (SectionEntry("Role", text),)),))

    work_folder = workspace

    def context(conversation: Conversation, workspace: str | None) -> ContextOf:
        bound = conversation.log.metadata.notebook
        around = CurrentEnvironment(
            policy=lambda: operator,
            paths=lambda: PathPolicy(work_folder),
            notebooks=notebooks,
            notebook=bound.path if bound is not None else None,
            memory=memories.of_task(None, work_folder, lambda: bound.path if bound is not None else None),
        )
        plain = FullContext(conversation, workspace, prompt=prompt, surrounded=around)
        return lambda situation: plain

    async def choose_client_approvals(name: str, preset: ApprovalPreset | None) -> None:
        nonlocal current
        chosen = chosen_for(name, preset)(current.client_approvals)
        current = current.model_copy(update={"client_approvals": {**chosen}})

    async def choose_client_questions(name: str, may_ask: bool) -> None:
        nonlocal current
        chosen = chosen_for(name, True if may_ask else None)(current.client_questions)
        current = current.model_copy(update={"client_questions": {**chosen}})

    def owner_of(task_id: TaskId) -> str | None:
        return manager.tasks.owner_of(task_id)

    others = program_tools(notebooks=notebooks is not None)
    if files is not None:
        others += checkpoint_tools(files, owner_of)

    services = AgentServices(
        store=store,
        settings=lambda: current,
        policy=lambda: operator,
        models=models,
        modes=ModeRegistry(lambda: current, lambda: operator, folders.trusted),
        tools=tools or Toolbox(),
        external_tools=ExternalTools(others),
        choose_client_approvals=choose_client_approvals,
        choose_client_questions=choose_client_questions,
        approvals=engine or ApprovalEngine(),
        contexts=context,
        paths=lambda folder, settings: PathPolicy(folder, around=work_folder),
        tool_state=lambda task_id: ToolState(),
        workspace=workspace,
        sink=heard,
        on_notice=heard.noticed,
        on_recovery=heard.recovering,
        history=history,
        notebooks=notebooks,
        checkpoints=files,
        memories=memories,
        mcp=mcp,
        commands=SlashCommands(None, folders.trusted),
        project_settings=lambda folder: {} if folders.trusted(folder) is None else project_settings(folder),
        is_trusted=lambda folder: folders.trusted(folder) is not None,
        sleep=sleep,
    )
    manager = TaskManager(services)
    agent = Agent(manager, store, model, heard, models, workspace, [], slept, history)
    manager.tasks.events.on_any(agent.events.append)
    await store.start()
    try:
        yield agent
    finally:
        await manager.stop()
        await store.stop()
