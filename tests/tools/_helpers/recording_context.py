"""A small task for tools under test: real files, a real vault and masker, and a record of all that was asked and said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hdsp_agent.config import GlobalSettings, ModeConfig
from hdsp_agent.errors import NotFound
from hdsp_agent.memory import TaskMemory
from hdsp_agent.messages import (
    Attachment,
    ClineAsk,
    ClineAskResponse,
    ClineSay,
    CommandRun,
    Ending,
    JsonObject,
    NotebookRef,
    NoteSuggestion,
    ProgressStatus,
    RecalledItem,
    TaskId,
    TodoItem,
)
from hdsp_agent.notebooks import Notebooks
from hdsp_agent.persistence import Masker, Vault
from hdsp_agent.recall import RecallHit
from hdsp_agent.tools import (
    ActionRequest,
    Approval,
    ApprovalAsk,
    Completion,
    McpServers,
    PathPolicy,
    Proposal,
    PutBack,
    SinceAsked,
    ToolContext,
    ToolFailed,
    ToolRegistry,
    ToolResult,
    ToolState,
)
from hdsp_agent.tools.compound import put_back

CODE_MODE = ModeConfig(slug="code", name="Code", role_definition="Write code.", groups=("read", "edit", "command"))


@dataclass(frozen=True)
class Reply:
    """A person's answer to a question."""

    response: ClineAskResponse = "messageResponse"
    text: str | None = None
    images: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass
class Approved:
    """One thing that was shown for approval."""

    action: ActionRequest
    ask: ApprovalAsk
    text: str

    @property
    def shown(self) -> JsonObject:
        shown: JsonObject = json.loads(self.text)
        return shown


@dataclass
class ShownMessage:
    """One message as it was last shown."""

    say: ClineSay
    text: str | None
    partial: bool | None
    images: tuple[str, ...] = ()
    notebook: NotebookRef | None = None
    command_run: CommandRun | None = None


@dataclass
class RecordingFlow:
    """The task as the steering tools see it."""

    plan: list[TodoItem] = field(default_factory=list)
    switched: list[tuple[str, str | None]] = field(default_factory=list)
    subtasks: list[tuple[str, str, list[TodoItem]]] = field(default_factory=list)
    completion: Completion = field(default_factory=lambda: Completion(accepted=True))
    edit_plan: Callable[[list[TodoItem]], list[TodoItem]] = lambda plan: plan
    since: SinceAsked = field(default_factory=lambda: SinceAsked("", ""))
    completed: list[str] = field(default_factory=list)
    endings: list[Ending | None] = field(default_factory=list)
    context: ToolContext | None = None
    suggested: list[NoteSuggestion | None] = field(default_factory=list)
    answer_is_cut: bool = False

    @property
    def todos(self) -> Sequence[TodoItem]:
        return self.plan

    async def update_todos(self, todos: Sequence[TodoItem]) -> Sequence[TodoItem]:
        self.plan = self.edit_plan(list(todos))
        return self.plan

    async def modes(self) -> Sequence[str]:
        return ["code", "ask", "architect"]

    async def switch_mode(self, slug: str, reason: str | None) -> None:
        if slug == "architect":
            raise ToolFailed("The operator does not allow architect.")
        self.switched.append((slug, reason))

    async def new_task(self, mode: str, message: str, todos: Sequence[TodoItem]) -> str:
        self.subtasks.append((mode, message, list(todos)))
        return "The subtask has begun."

    async def since_asked(self) -> SinceAsked:
        return self.since

    async def put_back(self, *, failed_only: bool = False) -> PutBack:
        assert self.context is not None
        return await put_back(self.context, failed_only=failed_only)

    async def complete(
        self, result: str, suggestion: NoteSuggestion | None = None, ending: Ending | None = None
    ) -> Completion:
        self.completed.append(result)
        self.endings.append(ending)
        self.suggested.append(suggestion)
        return self.completion


class RecordingContext:
    """What tools need of a task; ``decide`` answers approvals and may do something while one waits."""

    def __init__(self, workspace: Path, settings: GlobalSettings | None = None, mode: ModeConfig = CODE_MODE) -> None:
        self.task_id = TaskId("task-1")
        self.paths = PathPolicy(workspace, forbidden=(workspace.parent / "agent-home",))
        self.workspace = self.paths.workspace
        self.settings = settings or GlobalSettings()
        self.mode = mode
        self._masker = Masker(self.settings.masked_kinds)
        self.vault: Vault = self._masker.vault
        self.flow = RecordingFlow(context=self)
        self.state = ToolState()
        self.decide: Callable[[Approved], Approval | Awaitable[Approval]] = lambda _: Approval(
            approved=True, by_person=True
        )
        self.saved: Callable[[Approved], Awaitable[None]] = _saved_at_once
        """The end of the saving that goes on before what was approved is done."""
        self.reply = Reply()
        self.approvals: list[Approved] = []
        self.asked: list[tuple[ClineAsk, str | None]] = []
        self.said: dict[int, ShownMessage] = {}
        self.shown_texts: list[str] = []
        self.recalled: list[RecalledItem] = []
        self.artifacts: dict[str, bytes] = {}
        self.registry = ToolRegistry()
        self.working_notebooks: Notebooks | None = None
        self.working_memory: TaskMemory | None = None
        self.notebook: NotebookRef | None = None
        self.servers: McpServers | None = None

    @property
    def notebooks(self) -> Notebooks:
        if self.working_notebooks is None:
            raise ToolFailed("There are no notebooks here.")
        return self.working_notebooks

    @property
    def memory(self) -> TaskMemory:
        if self.working_memory is None:
            raise ToolFailed("Nothing is remembered here.")
        return self.working_memory

    @property
    def mcp(self) -> McpServers:
        """What was given, if anything was."""
        if self.servers is None:
            raise ToolFailed("There are no MCP servers here.")
        return self.servers

    async def search_past(self, query: str, limit: int) -> Sequence[RecallHit]:
        raise ToolFailed("Nothing can be searched here.")

    async def note_recalled(self, items: Sequence[RecalledItem]) -> None:
        self.recalled += items

    async def notebooks_here(self, hits: Sequence[RecallHit]) -> Mapping[str, str]:
        return {}

    def mask(self, text: str) -> str:
        return self._masker.mask(text)

    async def approve(
        self,
        action: ActionRequest,
        ask: ApprovalAsk,
        text: str,
        *,
        proposal: Proposal | None = None,
        meanwhile: Callable[[], Awaitable[None]] | None = None,
        progress: ProgressStatus | None = None,
    ) -> Approval:
        approved = Approved(action, ask, text)
        self.approvals.append(approved)
        decision = self.decide(approved)
        approval = decision if isinstance(decision, Approval) else await decision
        if approval.approved and meanwhile is not None:
            await meanwhile()
            await self.saved(approved)
        return approval

    async def ask(self, ask: ClineAsk, text: str | None = None, *, verbatim: bool = False) -> Reply:
        self.asked.append((ask, text))
        return self.reply

    async def say(
        self,
        say: ClineSay,
        text: str | None = None,
        *,
        partial: bool | None = None,
        ts: int | None = None,
        images: Sequence[str] = (),
        notebook: NotebookRef | None = None,
        command_run: CommandRun | None = None,
    ) -> int:
        at = len(self.said) + 1 if ts is None else ts
        self.said[at] = ShownMessage(say, text, partial, tuple(images), notebook, command_run)
        self.shown_texts.append(text or "")
        return at

    async def put_artifact(self, data: bytes) -> str:
        name = hashlib.sha256(data).hexdigest()
        self.artifacts[name] = data
        return name

    async def read_artifact(self, name: str) -> bytes:
        if name not in self.artifacts:
            raise NotFound(f"This task has no artifact {name}.")
        return self.artifacts[name]

    async def call(self, tool: str, **arguments: object) -> ToolResult:
        """Call a tool as the model does."""
        return await self.registry.get(tool).run(self.registry.validate(tool, json.dumps(arguments)), self)

    async def text(self, tool: str, **arguments: object) -> str:
        """The result of a call that succeeds with text."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, result.content
        assert isinstance(result.content, str)
        return result.content

    async def failure(self, tool: str, **arguments: object) -> str:
        """What a call that fails tells the model."""
        result = await self.call(tool, **arguments)
        assert result.is_error, result.content
        assert isinstance(result.content, str)
        return result.content


async def _saved_at_once(approved: Approved) -> None:
    """Nothing took long."""
