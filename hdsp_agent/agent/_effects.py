"""What was done outside of a conversation in a part of it: files, commands, cells. Taking the part back leaves it done."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import ValidationError

from ..messages import ClineAskUseMcpServer, ClineMessage, ClineSayTool, ConversationEffect

__all__ = ["EffectTally"]

_MOST_TOLD: Final = 50
_LONGEST_NAME: Final = 300
_WRITING: Final = frozenset(
    {"editedExistingFile", "appliedDiff", "newFileCreated", "generateImage", "editCells", "createNotebook"}
)

_Kind = Literal["file", "command", "cell", "mcp", "subtask"]


class EffectTally:
    """Counts what the messages of a part tell of; it remembers names, not messages."""

    def __init__(self) -> None:
        self.messages = 0
        self.first_ts: int | None = None
        self.tool_calls = 0
        self._counts: dict[tuple[_Kind, str], int] = {}

    def add(self, message: ClineMessage) -> None:
        """Take one more message into account. What was refused or never answered did nothing."""
        self.messages += 1
        self.first_ts = message.ts if self.first_ts is None else self.first_ts
        if message.say == "cell_executed":
            self._done("cell", message.notebook.path if message.notebook else "")
        if message.type != "ask" or not message.is_answered:
            return
        match message.ask:
            case "tool":
                self.tool_calls += 1
                self._tool(message.text or "")
            case "command":
                self.tool_calls += 1
                self._done("command", message.text or "")
            case "use_mcp_server":
                self.tool_calls += 1
                self._mcp(message.text or "")
            case _:
                pass

    def told(self) -> tuple[list[ConversationEffect], int]:
        """The first effects in the order they came, and how many others there are."""
        effects = [
            ConversationEffect(kind=kind, name=name, count=count) for (kind, name), count in self._counts.items()
        ]
        return effects[:_MOST_TOLD], max(0, len(effects) - _MOST_TOLD)

    def _tool(self, text: str) -> None:
        try:
            shown = ClineSayTool.model_validate_json(text)
        except ValidationError:
            # A kind of a later or older version: it counts as a call, what it did cannot be said.
            return
        if shown.tool == "newTask":
            self._done("subtask", shown.content or "")
        elif shown.tool in _WRITING:
            for path in [batch.path for batch in shown.batch_diffs or ()] or [shown.path or ""]:
                self._done("file", path)

    def _mcp(self, text: str) -> None:
        try:
            shown = ClineAskUseMcpServer.model_validate_json(text)
        except ValidationError:
            return
        if shown.type == "use_mcp_tool":
            self._done("mcp", f"{shown.server_name}: {shown.tool_name or ''}")

    def _done(self, kind: _Kind, name: str) -> None:
        short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
        self._counts[kind, short] = self._counts.get((kind, short), 0) + 1
