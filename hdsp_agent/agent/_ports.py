"""What a task needs of others, and what others hear of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ..config import GlobalSettings, ModeConfig, OperatorPolicy, ProviderSettings, ToolSet
from ..messages import (
    CellId,
    ClineMessage,
    ConversationMarks,
    HistoryItem,
    JsonObject,
    ModelRecord,
    TaskId,
    TimeSpan,
)
from ..providers import ModelClient, ToolSpec
from ..tools import McpOffer, Tool, ToolArguments

__all__ = [
    "ConversationShown",
    "DeltaField",
    "EnvironmentText",
    "HistoryPort",
    "MessageSink",
    "Models",
    "NoListener",
    "Situation",
    "ToolBox",
]

DeltaField = Literal["text", "reasoning"]


@dataclass(frozen=True)
class ConversationShown:
    """A conversation after a change: what went, what came back (None if that is too much to tell), and its newest messages."""

    removed: Sequence[TimeSpan]
    restored: Sequence[ClineMessage] | None
    newest: Sequence[ClineMessage]
    has_older: bool
    marks: ConversationMarks


class MessageSink(Protocol):
    """Whoever shows conversations. It is told only of what is recorded, in the order of recording, and must not block."""

    def created(self, task_id: TaskId, message: ClineMessage) -> None:
        """A message was added."""

    def updated(self, task_id: TaskId, message: ClineMessage) -> None:
        """A message changed; this is what it is now."""

    def delta(self, task_id: TaskId, ts: int, field: DeltaField, append: str) -> None:
        """A message that streams got longer."""

    def reset(self, task_id: TaskId, shown: ConversationShown) -> None:
        """The conversation shows other messages now, because some were taken back or brought back."""

    def marked(self, task_id: TaskId, marks: ConversationMarks) -> None:
        """This is what can be undone and redone now."""


class NoListener:
    """A sink for tasks nobody watches."""

    def created(self, task_id: TaskId, message: ClineMessage) -> None:
        """Nobody hears of it."""

    def updated(self, task_id: TaskId, message: ClineMessage) -> None:
        """Nobody hears of it."""

    def delta(self, task_id: TaskId, ts: int, field: DeltaField, append: str) -> None:
        """Nobody hears of it."""

    def reset(self, task_id: TaskId, shown: ConversationShown) -> None:
        """Nobody hears of it."""

    def marked(self, task_id: TaskId, marks: ConversationMarks) -> None:
        """Nobody hears of it."""


class HistoryPort(Protocol):
    """The list of all tasks, a copy of what the tasks' own states say."""

    async def put(self, item: HistoryItem, *, text: str | None = None, owner: str | None = None) -> HistoryItem:
        """A task is new or changed; ``text`` is what it can be found by. The line as it is listed, with its number."""


class Models(Protocol):
    """Where a task gets its model from."""

    def profile_for(self, mode: str, now: str | None = None) -> str:
        """The name of the profile tasks in this mode use; ``now``, a task's own, stays where one is for all modes."""

    async def client(self, profile: str) -> ModelClient:
        """The model of this profile, ready to be asked; the same one until the profile changes. Not the task's to close."""

    def settings_of(self, profile: str) -> ProviderSettings | None:
        """The settings of the profile of this name, without its keys; None if there is no such profile."""

    def mistake_limit(self, profile: str) -> int:
        """After how many mistakes in a row the agent asks; 0 is never."""

    def rate_limit_seconds(self, profile: str) -> float:
        """How far apart requests are spaced."""

    async def known(self) -> ModelRecord:
        """The models the current profile can choose from, by id."""

    async def close(self) -> None:
        """Let go of all models."""


class ToolBox(Protocol):
    """The tools there are."""

    def specs(
        self,
        mode: ModeConfig,
        policy: OperatorPolicy,
        settings: GlobalSettings,
        *,
        tool_set: ToolSet = "full",
        mcp: McpOffer | None = None,
    ) -> list[ToolSpec]:
        """What the model is told of them, and of those of MCP servers, in an order that stays."""

    def get(self, name: str) -> Tool:
        """One of them. Raises InvalidInput or NotFound."""

    def validate(self, name: str, arguments: str) -> ToolArguments:
        """What a call means. Raises InvalidInput naming field and reason."""


class Situation(Protocol):
    """What the context is built from."""

    @property
    def task_id(self) -> TaskId:
        """The conversation's id."""

    @property
    def mode(self) -> ModeConfig:
        """The mode it is in."""

    @property
    def tools(self) -> Sequence[ToolSpec]:
        """The tools the model may call."""

    @property
    def provider(self) -> ProviderSettings | None:
        """The profile of its model, without keys; None if there is no such profile any more."""

    @property
    def settings(self) -> GlobalSettings:
        """The settings in force for it."""

    @property
    def cost(self) -> float:
        """What it has cost so far, in US dollars."""

    @property
    def asked_at(self) -> CellId | None:
        """The cell at which the person asked to have it changed, if that is what they said last."""


@dataclass(frozen=True)
class EnvironmentText:
    """What a model is told of its surroundings, and what to keep beside the message so that it is known what it told."""

    text: str
    told: JsonObject | None = None
