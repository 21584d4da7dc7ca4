"""Talking to one kernel: each answer and output to the request it belongs to."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Literal

from ...errors import Unavailable
from ...messages import CellId, JsonObject
from ._transport import KernelMessage, Transport

__all__ = ["Execution", "KernelLink", "KernelState", "LostReason", "OutputSink"]

_log = logging.getLogger(__name__)

KernelState = Literal["unknown", "starting", "idle", "busy"]
LostReason = Literal["kernel_died", "kernel_restarted", "kernel_gone", "connection_lost"]
OutputSink = Callable[[KernelMessage, JsonObject], None]

_REMEMBERED_EXECUTIONS: Final = 32
"""How many ended cells still get what their threads print and what later cells show in their displays."""
_NUDGE_SECONDS: Final = 0.5
_SHELL_GRACE_SECONDS: Final = 1.5
"""A kernel that starts answers on control a little earlier than on shell."""
_IDLE_GRACE_SECONDS: Final = 5.0
"""After a reply the kernel's "idle" may be missing, lost in a flood; so much silence stands for it."""
_REMEMBERED_DISPLAYS: Final = 10_000
_DISPLAYS: Final = frozenset({"display_data", "update_display_data", "execute_result"})


class Execution:
    """One execute request, and what has come back of it."""

    def __init__(self, sink: OutputSink) -> None:
        self.sink = sink
        self.reply: JsonObject | None = None
        self.idle = False
        self.busy = False
        self.began = False
        """Whether the kernel said what it executes: an aborted request never gets there."""
        self.heard_at = time.monotonic()
        self.abandoned: Callable[[], None] | None = None
        """What to do if the kernel begins with it after all."""
        self._changed = asyncio.get_running_loop().create_future()

    @property
    def ended(self) -> bool:
        """Whether reply and idle came."""
        if self.reply is None:
            return False
        return self.idle or time.monotonic() - self.heard_at > _IDLE_GRACE_SECONDS

    @property
    def changed(self) -> asyncio.Future[None]:
        """Done when it began or ended since this was last asked."""
        if self._changed.done():
            self._changed = asyncio.get_running_loop().create_future()
        return self._changed

    def wake(self) -> None:
        """Let those who wait look again."""
        if not self._changed.done():
            self._changed.set_result(None)


class KernelLink:
    """A connection to one life of a kernel. When that life ends, so does the link: ``lost`` says why."""

    def __init__(self, kernel_id: str, transport: Transport) -> None:
        self.kernel_id = kernel_id
        self.language = ""
        self.features: frozenset[str] = frozenset()
        self.probed = False
        """Whether the kernel can be asked for its variables."""
        self.lost: LostReason | None = None
        self.state: KernelState = "unknown"
        self.busy_with: str = ""
        self._transport = transport
        self._executions: OrderedDict[str, Execution] = OrderedDict()
        self._displays: dict[str, list[str]] = {}
        self._questions: dict[str, asyncio.Future[JsonObject]] = {}
        self._subscribed = asyncio.Event()
        self._greeting = ""
        self._at_work = False
        """Whether it has begun to answer on shell. Its "starting" may come after an answer on control."""
        self._subshell: str | None = None
        self._subshell_lock = asyncio.Lock()
        transport.start(self._receive, lambda: self.lose("connection_lost"))

    # ---- requests

    async def greet(self, seconds: float) -> None:
        """Wait until the kernel answers and its outputs reach us; say what it is."""
        until = time.monotonic() + seconds
        shell = self._question("shell", "kernel_info_request", {})
        control = self._question("control", "kernel_info_request", {})
        try:
            while self.lost is None:
                answered = [asked for asked in (shell, control) if asked.done()]
                if answered and self._subscribed.is_set():
                    self._know(answered[0].result())
                    await asyncio.wait({shell}, timeout=_SHELL_GRACE_SECONDS)
                    if not shell.done():
                        # It works on something that began before we listened.
                        self.state = "busy"
                    return
                if time.monotonic() > until:
                    raise Unavailable(
                        f"The kernel did not answer within {seconds:g} s. Restart the kernel, then try again.",
                        kernel=self.kernel_id,
                    )
                subscribed = asyncio.ensure_future(self._subscribed.wait())
                await asyncio.wait(
                    {subscribed} if answered else {shell, control},
                    timeout=_NUDGE_SECONDS,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                subscribed.cancel()
                # A kernel that works cannot answer on shell, and one that started before we listened said nothing.
                if answered and not self._subscribed.is_set():
                    self._transport.send("control", "kernel_info_request", {})
                    self._transport.send("shell", "kernel_info_request", {})
        finally:
            shell.cancel()
            control.cancel()
        raise Unavailable("The kernel ended while it was starting.", kernel=self.kernel_id, reason=self.lost)

    def execute(self, code: str, sink: OutputSink, *, store_history: bool, cell_id: CellId | None) -> Execution:
        """Have code run as JupyterLab would; everything about it goes to ``sink``."""
        content: JsonObject = {
            "code": code,
            "silent": False,
            "store_history": store_history,
            "user_expressions": {},
            "allow_stdin": False,
            # With true a failing cell of ours would abort what the person has queued behind it.
            "stop_on_error": False,
        }
        metadata: JsonObject | None = {"cellId": cell_id, "deletedCells": []} if cell_id is not None else None
        execution = Execution(sink)
        self._executions[self._transport.send("shell", "execute_request", content, metadata=metadata)] = execution
        self._forget_old()
        return execution

    async def ask(
        self,
        kind: str,
        content: JsonObject,
        *,
        channel: Literal["shell", "control"] = "shell",
        subshell: str | None = None,
        seconds: float | None = None,
    ) -> JsonObject:
        """A request's reply. The kernel's end, or too long a silence, is an error."""
        asked = self._question(channel, kind, content, subshell=subshell)
        try:
            await asyncio.wait({asked}, timeout=seconds)
            if asked.done():
                return asked.result()
        finally:
            asked.cancel()
        raise Unavailable(
            f"The kernel did not answer within {seconds:g} s; it may be busy. Wait for it, or interrupt it.",
            kernel=self.kernel_id,
        )

    async def subshell(self) -> str | None:
        """A second thread of the kernel that answers while a cell runs; None when this kernel has none."""
        if "kernel subshells" not in self.features:
            return None
        async with self._subshell_lock:
            if self._subshell is None:
                reply = await self.ask("create_subshell_request", {}, channel="control", seconds=5)
                made = reply.get("subshell_id")
                self._subshell = made if isinstance(made, str) else None
            return self._subshell

    @property
    def busy_with_others(self) -> bool:
        """Whether the kernel works on what somebody else asked for."""
        return self.state == "busy" and self.busy_with not in self._executions

    def lose(self, reason: LostReason) -> None:
        """This life of the kernel is over."""
        if self.lost is not None:
            return
        self.lost = reason
        for execution in self._executions.values():
            execution.wake()
        for asked in self._questions.values():
            if not asked.done():
                error = Unavailable("The kernel ended before it answered.", kernel=self.kernel_id, reason=reason)
                asked.set_exception(error)
                asked.exception()

    async def close(self) -> None:
        """Leave the kernel alone."""
        if self._subshell is not None and self.lost is None:
            self._transport.send("control", "delete_subshell_request", {"subshell_id": self._subshell})
        self.lose("connection_lost")
        await self._transport.close()

    # ---- what comes back

    def _question(
        self, channel: Literal["shell", "control"], kind: str, content: JsonObject, *, subshell: str | None = None
    ) -> asyncio.Future[JsonObject]:
        if self.lost is not None:
            raise Unavailable("The kernel has ended.", kernel=self.kernel_id, reason=self.lost)
        asked: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        name = self._transport.send(channel, kind, content, subshell=subshell)
        if channel == "shell" and not self._greeting:
            self._greeting = name
        self._questions[name] = asked
        asked.add_done_callback(lambda _: self._questions.pop(name, None))
        return asked

    def _receive(self, message: KernelMessage) -> None:
        try:
            if message.channel == "iopub":
                self._subscribed.set()
                self._publish(message)
            else:
                self._answer(message)
        except Exception:  # noqa: BLE001 -- one message that cannot be worked with must not end the reading
            _log.exception("A %s message of kernel %s could not be worked with", message.kind, self.kernel_id)

    def _answer(self, message: KernelMessage) -> None:
        asked = self._questions.get(message.parent_id)
        if asked is not None and not asked.done():
            asked.set_result(message.load())
            return
        execution = self._executions.get(message.parent_id)
        if execution is not None and message.kind == "execute_reply":
            execution.heard_at = time.monotonic()
            execution.reply = message.load()
            if execution.idle:
                execution.wake()

    def _publish(self, message: KernelMessage) -> None:
        if message.kind == "status":
            self._status(message)
            return
        if message.kind == "shutdown_reply":
            self.lose("kernel_restarted" if message.load().get("restart") else "kernel_gone")
            return
        if message.kind in _DISPLAYS:
            self._display(message)
            return
        execution = self._executions.get(message.parent_id)
        if execution is None:
            return
        execution.heard_at = time.monotonic()
        if message.kind == "execute_input":
            execution.began = True
        execution.sink(message, message.load())

    def _status(self, message: KernelMessage) -> None:
        state = message.load().get("execution_state")
        if state in ("starting", "restarting"):
            if self._at_work:
                self.lose("kernel_restarted")
            return
        if state not in ("busy", "idle"):
            return
        execution = self._executions.get(message.parent_id)
        if message.parent_kind == "execute_request" or message.parent_id == self._greeting:
            self._at_work = True
        if message.parent_kind == "execute_request" or execution is not None:
            self.state = "busy" if state == "busy" else "idle"
            self.busy_with = message.parent_id
        elif self.state == "unknown" and state == "idle":
            self.state = "idle"
        if execution is None:
            return
        execution.heard_at = time.monotonic()
        if state == "busy":
            execution.busy = True
            if execution.abandoned is not None:
                execution.abandoned()
        else:
            execution.idle = True
        execution.wake()

    def _display(self, message: KernelMessage) -> None:
        """As in JupyterLab, a display id that comes again changes its displays in all cells."""
        content = message.load()
        transient = content.get("transient")
        display_id = transient.get("display_id") if isinstance(transient, dict) else None
        if isinstance(display_id, str):
            shown_in = self._displays.get(display_id, [])
            for name in shown_in:
                if (earlier := self._executions.get(name)) is not None:
                    earlier.sink(_as_update(message), content)
            if message.kind == "update_display_data":
                return
            if message.parent_id in self._executions and message.parent_id not in shown_in:
                self._displays.setdefault(display_id, []).append(message.parent_id)
                if len(self._displays) > _REMEMBERED_DISPLAYS:
                    del self._displays[next(iter(self._displays))]
        execution = self._executions.get(message.parent_id)
        if execution is not None:
            execution.heard_at = time.monotonic()
            execution.sink(message, content)

    def _know(self, info: JsonObject) -> None:
        language = info.get("language_info")
        name = language.get("name") if isinstance(language, dict) else None
        self.language = name if isinstance(name, str) else ""
        features = info.get("supported_features")
        self.features = frozenset(str(one) for one in features) if isinstance(features, list) else frozenset()

    def _forget_old(self) -> None:
        while len(self._executions) > _REMEMBERED_EXECUTIONS:
            oldest, execution = next(iter(self._executions.items()))
            if not execution.ended and execution.abandoned is None:
                return
            del self._executions[oldest]
            for display_id in [one for one, names in self._displays.items() if oldest in names]:
                self._displays[display_id].remove(oldest)
                if not self._displays[display_id]:
                    del self._displays[display_id]


def _as_update(message: KernelMessage) -> KernelMessage:
    return KernelMessage(
        message.channel,
        "update_display_data",
        message.parent_id,
        message.parent_kind,
        message.size,
        message.load,
    )
