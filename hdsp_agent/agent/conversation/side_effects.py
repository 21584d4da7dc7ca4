"""What was done outside of a conversation in a part of it: files, commands, cells. Taking the part back leaves it done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import ValidationError

from ...messages import ClineAskUseMcpServer, ClineMessage, ClineSayTool, ConversationEffect
from .user_text import says_something

__all__ = ["SideEffectCounter", "SideEffects"]

_MOST_TOLD: Final = 50
_LONGEST_NAME: Final = 300
_WRITING: Final = frozenset(
    {"editedExistingFile", "appliedDiff", "newFileCreated", "generateImage", "editCells", "createNotebook"}
)

_WORDS: Final = frozenset({"text", "user_feedback", "user_feedback_diff", "followup", "completion_result"})

_Kind = Literal["file", "command", "cell", "mcp", "subtask"]
_CHANGES_FILES: Final = frozenset({"file", "command", "cell"})
"""What a subtask does is told in its own conversation, and of most MCP tools nobody knows."""


@dataclass
class SideEffects:
    """When the calls of a part were approved, when they changed something, and when the person said something."""

    approved: list[int] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    words: set[int] = field(default_factory=set)

    def any_before(self, saved: Sequence[int]) -> bool:
        """Whether something was done before files were saved first, which they were for these messages, in this order."""
        if not saved:
            return bool(self.done)
        first, known = saved[0], set(saved)
        if first in self.words:
            # For a call that was approved with words they are saved with the words.
            first = max((ts for ts in self.approved if ts < first and ts not in known), default=first)
        return any(ts < first and ts not in known for ts in self.done)


def _is_words(message: ClineMessage) -> bool:
    return (message.ask or message.say) in _WORDS and says_something(message)


class SideEffectCounter:
    """Counts what the messages of a part tell of; it remembers names, not messages."""

    def __init__(self) -> None:
        self.messages = 0
        self.said = 0
        """How many of them are words of the person or the agent: what somebody who looks at the page would count."""
        self.first_ts: int | None = None
        self.acts = SideEffects()
        self._counts: dict[tuple[_Kind, str], int] = {}

    def add(self, message: ClineMessage) -> None:
        """Take one more message into account. What was refused or never answered did nothing."""
        self.messages += 1
        self.said += _is_words(message)
        self.first_ts = message.ts if self.first_ts is None else self.first_ts
        if message.say == "user_feedback":
            self.acts.words.add(message.ts)
        if message.say == "cell_executed":
            self._done(message, "cell", message.notebook.path if message.notebook else "")
        if message.type != "ask" or not message.is_answered:
            return
        match message.ask:
            case "tool":
                self.acts.approved.append(message.ts)
                self._tool(message)
            case "command":
                self.acts.approved.append(message.ts)
                self._done(message, "command", message.text or "")
            case "use_mcp_server":
                self.acts.approved.append(message.ts)
                self._mcp(message)
            case _:
                pass

    @property
    def tool_calls(self) -> int:
        """How many calls were approved."""
        return len(self.acts.approved)

    def told(self) -> tuple[list[ConversationEffect], int]:
        """The first effects in the order they came, and how many others there are."""
        effects = [
            ConversationEffect(kind=kind, name=name, count=count) for (kind, name), count in self._counts.items()
        ]
        return effects[:_MOST_TOLD], max(0, len(effects) - _MOST_TOLD)

    def _tool(self, message: ClineMessage) -> None:
        try:
            shown = ClineSayTool.model_validate_json(message.text or "")
        except ValidationError:
            # A kind of a later or older version: it counts as a call, what it did cannot be said.
            return
        if shown.tool == "newTask":
            self._done(message, "subtask", shown.content or "")
        elif shown.tool in _WRITING:
            for path in [batch.path for batch in shown.batch_diffs or ()] or [shown.path or ""]:
                self._done(message, "file", path)

    def _mcp(self, message: ClineMessage) -> None:
        try:
            shown = ClineAskUseMcpServer.model_validate_json(message.text or "")
        except ValidationError:
            return
        if shown.type == "use_mcp_tool":
            self._done(message, "mcp", f"{shown.server_name}: {shown.tool_name or ''}")

    def _done(self, message: ClineMessage, kind: _Kind, name: str) -> None:
        if kind in _CHANGES_FILES:
            self.acts.done.append(message.ts)
        short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
        self._counts[kind, short] = self._counts.get((kind, short), 0) + 1
