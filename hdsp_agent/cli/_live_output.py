"""A conversation on the terminal while it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from ..messages import ending_text
from ..question_texts import question_title
from ._cell_lines import executed_lines, kernel_line
from ._columns import one_line

if TYPE_CHECKING:
    from ..agent import ConversationShown
    from ..messages import ClineMessage, ConversationMarks, TaskId
    from ._terminal import Terminal

__all__ = ["LiveOutput", "UnseenMessages"]

_STREAMED: Final = frozenset({"text", "reasoning", "completion_result", "command_output"})
_TOLD: Final = frozenset({"error", "api_req_retry_delayed"})
_DONE: Final = frozenset({"tool", "command", "use_mcp_server"})


class UnseenMessages:
    """A sink where events are printed instead."""

    def created(self, task_id: TaskId, message: ClineMessage) -> None:
        """An event tells it."""

    def updated(self, task_id: TaskId, message: ClineMessage) -> None:
        """An event tells it."""

    def delta(self, task_id: TaskId, ts: int, field: Literal["text", "reasoning"], append: str) -> None:
        """The whole message follows as an event."""

    def reset(self, task_id: TaskId, shown: ConversationShown) -> None:
        """Nothing is taken back here."""

    def marked(self, task_id: TaskId, marks: ConversationMarks) -> None:
        """Nothing is undone here."""


class LiveOutput(UnseenMessages):
    """Prints what the agent says as it says it, and in a line what it does."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._printed: dict[tuple[str, int], str] = {}
        self._open: tuple[str, int] | None = None
        self._last_text: tuple[str, int] | None = None

    def created(self, task_id: TaskId, message: ClineMessage) -> None:
        """A message was added."""
        self._show(task_id, message)

    def updated(self, task_id: TaskId, message: ClineMessage) -> None:
        """A message changed."""
        self._show(task_id, message)

    def delta(self, task_id: TaskId, ts: int, field: Literal["text", "reasoning"], append: str) -> None:
        """A message that streams got longer."""
        key = (str(task_id), ts)
        if key in self._printed:
            self._continue(key, append)

    def end_line(self) -> None:
        """What is printed next begins a line."""
        if self._open is not None:
            self._open = None
            self._terminal.text("\n")
            self._terminal.flush()

    def _show(self, task_id: TaskId, message: ClineMessage) -> None:
        key = (str(task_id), message.ts)
        if message.type == "ask":
            if message.ask in _DONE and message.is_answered and not message.partial and key not in self._printed:
                self._printed[key] = ""
                self._line(self._terminal.paint(f"> {question_title(message)}", "cyan"))
        elif message.say in _STREAMED:
            self._stream(key, message)
        elif message.say == "cell_executed" and not message.partial:
            for line in executed_lines(message.text):
                self._line(self._terminal.paint(line, "cyan"))
        elif message.say == "kernel_status":
            if about := kernel_line(message.text):
                self._line(self._terminal.paint(about, "cyan"))
        elif message.say == "error" and message.notebook is not None:
            self._line(self._terminal.paint(message.text or "", "red"))
        elif message.say in _TOLD and not message.partial:
            self._line(
                self._terminal.paint(one_line(message.text or ""), "red" if "error" in message.say else "yellow")
            )

    def _stream(self, key: tuple[str, int], message: ClineMessage) -> None:
        text = message.text or ""
        before = self._printed.get(key)
        if before is None:
            if message.say == "completion_result" and key == self._last_text:
                # It stands there already: words that turned out to be the last.
                return
            # What the person said comes in one piece, and they know it.
            if (not text and message.partial) or (message.say == "text" and message.partial is None):
                return
            self.end_line()
            self._printed[key] = ""
            before = ""
            if message.say == "completion_result":
                undone = message.ending is not None and message.ending.state == "not_done"
                self._line(
                    self._terminal.paint("Not done:", "red") if undone else self._terminal.paint("Done:", "green")
                )
        if text.startswith(before):
            self._continue(key, text[len(before) :])
        elif not message.partial:
            # The beginning of a very long output is left out by now.
            self._line(text)
            self._printed[key] = text
        if not message.partial:
            self._last_text = key if message.say == "text" else None
            del self._printed[key]
            if self._open == key:
                self.end_line()
            if message.ending is not None and text != (how := ending_text(message.ending)):
                self._line(self._terminal.paint(how, "yellow"))

    def _continue(self, key: tuple[str, int], text: str) -> None:
        if not text:
            return
        if self._open not in (None, key):
            self.end_line()
        self._open = key
        self._printed[key] += text
        self._terminal.text(text)
        self._terminal.flush()

    def _line(self, text: str) -> None:
        self.end_line()
        self._terminal.line(text)
        self._terminal.flush()
