"""What all tasks of one manager share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pydantic import JsonValue

from ..config import ApprovalPreset, GlobalSettings, OperatorPolicy
from ..context import Calibration, NoticeKind
from ..errors import Unsupported
from ..events import Emitter
from ..messages import TaskId
from ..persistence import TaskStore
from ..providers import CompactionOffers
from ._ports import HistoryPort, MessageSink, Models, NoListener, ToolBox
from .context_window.port import Contexts
from .context_window.seen_histories import SeenHistories
from .external.offered_tools import ExternalTools
from .modes import ModeRegistry
from .task.read_pacing import ReadPacing
from .task.retry import Sleep
from .user_messages._slash_commands import SlashCommands

if TYPE_CHECKING:
    from ..mcp.client import McpHub
    from ..memory import Memories
    from ..notebooks import Notebooks
    from ..tools import PathPolicy, ToolState
    from .approval import ApprovalEngine
    from .checkpoints.checkpoint_service import CheckpointService
    from .context_window.recovery_notice import RecoveryNotice
    from .recall import PastSearch

__all__ = ["AgentServices", "ContextNoticed", "CountTokens", "RecoveryNoticed", "Spacing"]

ContextNoticed: TypeAlias = Callable[[TaskId, NoticeKind, int], None]
RecoveryNoticed: TypeAlias = "Callable[[TaskId, RecoveryNotice], None]"
CountTokens: TypeAlias = Callable[[str, Sequence[str]], Awaitable[list[int] | None]]
"""The tokens of each text for the profile of this name; None if nobody can tell."""


async def _nobody_chooses(name: str, preset: ApprovalPreset | None) -> None:
    raise Unsupported("What other agents may do cannot be chosen here.")


async def _nobody_decides(name: str, may_ask: bool) -> None:
    raise Unsupported("Where other agents may ask cannot be chosen here.")


async def _nobody_counts(profile: str, texts: Sequence[str]) -> list[int] | None:
    return None


class Spacing:
    """When a model may be asked, by profile, over all tasks."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def take_turn(self, profile: str, least: float) -> float:
        """The seconds until this profile's model may be asked. The turn is taken: who comes next waits longer."""
        now = asyncio.get_running_loop().time()
        last = self._last.get(profile)
        turn = self._last[profile] = now if last is None else max(now, last + least)
        return turn - now

    def take_free_turn(self, profile: str, least: float) -> bool:
        """Whether this profile's model may be asked at once. If not, no turn is taken."""
        last = self._last.get(profile)
        if last is not None and last + least > asyncio.get_running_loop().time():
            return False
        self.take_turn(profile, least)
        return True


@dataclass(frozen=True)
class AgentServices:
    """Built once; everything here may be used by several tasks at a time."""

    store: TaskStore
    settings: Callable[[], GlobalSettings]
    policy: Callable[[], OperatorPolicy]
    models: Models
    modes: ModeRegistry
    tools: ToolBox
    approvals: ApprovalEngine
    contexts: Contexts
    paths: Callable[[Path, GlobalSettings], PathPolicy]
    tool_state: Callable[[TaskId], ToolState]
    workspace: Path
    events: Emitter = field(default_factory=Emitter)
    sink: MessageSink = field(default_factory=NoListener)
    history: HistoryPort | None = None
    on_notice: ContextNoticed = lambda task_id, kind, percent: None
    """Is told once when a conversation has come to fill so much of its model's window."""
    on_recovery: RecoveryNoticed = lambda task_id, notice: None
    """Is told what is tried where a provider refuses a request, and whether it helped."""
    notebooks: Notebooks | None = None
    """None where no notebooks can be worked with."""
    checkpoints: CheckpointService | None = None
    """None where nothing is kept of files."""
    past: PastSearch | None = None
    """None where nothing of the past can be searched."""
    mcp: McpHub | None = None
    """None where no MCP servers are used."""
    memories: Memories | None = None
    """None where nothing is remembered between conversations."""
    external_tools: ExternalTools = field(default_factory=lambda: ExternalTools(()))
    """What programs outside may call; nothing where none can come."""
    choose_client_approvals: Callable[[str, ApprovalPreset | None], Awaitable[None]] = _nobody_chooses
    """Lets every program of this name do so much without asking, from now on."""
    choose_client_questions: Callable[[str, bool], Awaitable[None]] = _nobody_decides
    """Lets every program of this name ask in its own window, too, or only here."""
    count_tokens: CountTokens = _nobody_counts
    """Counts as a profile's model does, if that is on this machine and tells."""
    commands: SlashCommands = field(default_factory=SlashCommands)
    project_settings: Callable[[Path], Mapping[str, JsonValue]] = lambda folder: {}
    """What the folder a task works in sets, if the person trusts it. Blocks."""
    is_trusted: Callable[[Path], bool] = lambda folder: False
    """Whether the person trusts a folder. Blocks."""
    spacing: Spacing = field(default_factory=Spacing)
    gathering: ReadPacing = field(default_factory=ReadPacing)
    calibration: Calibration = field(default_factory=Calibration)
    offers: CompactionOffers = field(default_factory=CompactionOffers)
    seen: SeenHistories = field(default_factory=SeenHistories)
    sleep: Sleep = asyncio.sleep

    @property
    def checkpoint_service(self) -> CheckpointService:
        """The checkpoints. Raises Unsupported where there are none."""
        if self.checkpoints is None:
            raise Unsupported("This agent keeps no checkpoints.")
        return self.checkpoints
