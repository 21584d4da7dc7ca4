"""What ``hdsp-agent run`` tells beside the conversation: how full the window is, and how a refused request is mended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ..agent.context_window.recovery_notice import RecoveryNotice
    from ..context import NoticeKind
    from ..messages import TaskId
    from ._live_output import LiveOutput
    from ._terminal import Terminal

__all__ = ["RunNotices"]

_WINDOW: Final = {
    "reassurance": "the conversation fills {percent}% of the model's window; there is enough room left",
    "advice": "the conversation fills {percent}% of the model's window; it will be condensed before it is full",
}


class RunNotices:
    """On standard error, where the result is not; as records among the events where the result is JSON."""

    def __init__(self, terminal: Terminal, output: LiveOutput) -> None:
        self._terminal = terminal
        self._output = output

    def window(self, task_id: TaskId, kind: NoticeKind, percent: int) -> None:
        """A conversation has come to fill so much of its window."""
        if self._terminal.json:
            self._record("contextNotice", str(task_id), kind, percent)
        else:
            self._output.end_line()
            self._terminal.note(_WINDOW[kind].format(percent=percent))

    def recovery(self, task_id: TaskId, notice: RecoveryNotice) -> None:
        """How it goes with a request that was refused."""
        if self._terminal.json:
            self._record("recoveryNotice", str(task_id), notice.kind, notice.text)
            return
        self._output.end_line()
        if notice.kind == "exhausted":
            self._terminal.warn(notice.text)
        else:
            self._terminal.note(notice.text)

    def _record(self, name: str, *payload: str | int) -> None:
        self._terminal.record({"eventName": name, "payload": list(payload)})
        self._terminal.flush()
