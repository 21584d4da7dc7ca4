"""Talking to one kernel: each answer and output to the request it belongs to."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Final, Literal

from ...errors import Unavailable
from ...messages import CellId, JsonObject
from ._output_widgets import OutputWidgets
from ._transport import KernelMessage, LostReason, Transport

__all__ = ["ExecuteRequest", "KernelClient", "KernelState", "LostReason", "OutputSink"]

_log = logging.getLogger(__name__)

KernelState = Literal["unknown", "starting", "idle", "busy"]
OutputSink = Callable[[KernelMessage, JsonObject], None]

_REMEMBERED_EXECUTIONS: Final = 32
"""How many ended cells still get what their threads print and what later cells show in their displays."""
_NUDGE_SECONDS: Final = 0.5
_CONTROL_SECONDS: Final = 3.0
"""A kernel that has not answered on control for so long is asked on shell."""
_IDLE_GRACE_SECONDS: Final = 5.0
"""After a reply the kernel's "idle" may be missing, lost in a flood; so much silence stands for it."""
_REMEMBERED_DISPLAYS: Final = 10_000
_PROBE: Final = "hdsp_agent"
"""As in ``_variables_probe``."""
_COMMS: Final = frozenset({"comm_open", "comm_msg", "comm_close"})
_DISPLAYS: Final = frozenset({"display_data", "update_display_data", "execute_result"})


class ExecuteRequest:
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


class KernelClient:
    """A connection to one life of a kernel. When that life ends, so does the link: ``lost`` says why.

    Questions go to the control channel: ipykernel gives what threads print to the newest request on shell, so that a
    question there would take a person's outputs away. Subshells are no better: they set the same.
    """

    def __init__(
        self, kernel_id: str, transport: Transport, *, server_state: Callable[[], KernelState] = lambda: "unknown"
    ) -> None:
        """``server_state``: what Jupyter Server takes the kernel to do, which it knows from before we listened."""
        self.kernel_id = kernel_id
        self.language = ""
        self.probed = False
        """Whether the kernel can be asked for its variables."""
        self.lost: LostReason | None = None
        self.busy_with: str = ""
        self._state: KernelState = "unknown"
        self._server_state = server_state
        self._not_busy = asyncio.Event()
        self._not_busy.set()
        self._transport = transport
        self._executions: OrderedDict[str, ExecuteRequest] = OrderedDict()
        self._displays: dict[str, list[str]] = {}
        self._questions: dict[str, asyncio.Future[JsonObject]] = {}
        self._evaluations: set[str] = set()
        """Requests to run code on control, which say nothing about what runs on shell."""
        self.widgets = OutputWidgets(self._set_widget)
        self._subscribed = asyncio.Event()
        self._at_work = False
        """Whether it has run a cell. Its "starting" may come after an answer on control."""
        transport.start(self._receive, self.lose)

    # ---- requests

    @property
    def state(self) -> KernelState:
        """What the kernel does."""
        return self._state

    @state.setter
    def state(self, state: KernelState) -> None:
        self._state = state
        if state == "busy":
            self._not_busy.clear()
        else:
            self._not_busy.set()

    async def greet(self, seconds: float) -> bool:
        """Wait until the kernel answers and its outputs reach us, and learn what it is; whether it did in time."""
        began = time.monotonic()
        asked = {self._question("control", "kernel_info_request", {})}
        on_shell = False
        try:
            while self.lost is None:
                answered = [one for one in asked if one.done()]
                if answered and self._subscribed.is_set():
                    self._know(answered[0].result())
                    self._ask_server()
                    return True
                waited = time.monotonic() - began
                if waited > seconds:
                    return False
                await self._hear_more(asked)
                if waited > _CONTROL_SECONDS and not on_shell and not (answered and self._subscribed.is_set()):
                    on_shell = True
                    asked.add(self._question("shell", "kernel_info_request", {}))
        finally:
            for one in asked:
                one.cancel()
        raise Unavailable("The kernel ended while it was starting.", kernel=self.kernel_id, reason=self.lost)

    async def until_not_busy(self, seconds: float) -> None:
        """Wait until it runs no cell, but not longer than this."""
        waiting = asyncio.ensure_future(self._not_busy.wait())
        try:
            await asyncio.wait({waiting}, timeout=seconds)
        finally:
            waiting.cancel()
        if self.state == "busy" and self._server_state() == "idle":
            # It became idle before we listened, or that was lost in a flood.
            self.state = "idle"

    def execute(self, code: str, sink: OutputSink, *, store_history: bool, cell_id: CellId | None) -> ExecuteRequest:
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
        execution = ExecuteRequest(sink)
        self._executions[self._transport.send("shell", "execute_request", content, metadata=metadata)] = execution
        self._forget_old()
        return execution

    async def ask(
        self,
        kind: str,
        content: JsonObject,
        *,
        channel: Literal["shell", "control"] = "control",
        seconds: float | None = None,
    ) -> JsonObject:
        """A request's reply. The kernel's end, or too long a silence, is an error."""
        asked = self._question(channel, kind, content)
        try:
            await asyncio.wait({asked}, timeout=seconds)
            if asked.done():
                return asked.result()
        finally:
            asked.cancel()
        raise self._silent(seconds)

    async def evaluate(self, expression: str, seconds: float) -> JsonObject:
        """What an expression is, once no cell runs: IPython's hooks fire for it.

        It is one of a silent request without code: it leaves no name, no history and no count behind.
        """
        until = time.monotonic() + seconds
        while self.state == "busy" and self.lost is None:
            if (left := until - time.monotonic()) <= 0:
                raise self._silent(seconds)
            await self.until_not_busy(min(left, _NUDGE_SECONDS))
        content: JsonObject = {
            "code": "",
            "silent": True,
            "store_history": False,
            "user_expressions": {"it": expression},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        reply = await self.ask("execute_request", content, seconds=seconds)
        values = reply.get("user_expressions")
        value = values.get("it") if isinstance(values, dict) else None
        return value if isinstance(value, dict) else {}

    @property
    def busy_with_others(self) -> bool:
        """Whether the kernel works on what somebody else asked for."""
        return self.state == "busy" and self.busy_with not in self._executions

    @property
    def is_asking(self) -> bool:
        """Whether an answer is waited for."""
        return bool(self._questions) or any(not one.ended for one in self._executions.values())

    def lose(self, reason: LostReason) -> None:
        """This life of the kernel is over."""
        if self.lost is not None:
            return
        self.lost = reason
        self._not_busy.set()
        for execution in self._executions.values():
            execution.wake()
        for asked in self._questions.values():
            if not asked.done():
                error = Unavailable("The kernel ended before it answered.", kernel=self.kernel_id, reason=reason)
                asked.set_exception(error)
                asked.exception()

    async def close(self) -> None:
        """Leave the kernel alone."""
        self.lose("connection_lost")
        await self.widgets.close()
        await self._transport.close()

    # ---- what comes back

    async def _hear_more(self, asked: set[asyncio.Future[JsonObject]]) -> None:
        """Wait for an answer, or where there is one for the first message to everybody."""
        answered = any(one.done() for one in asked)
        subscribed = asyncio.ensure_future(self._subscribed.wait())
        try:
            if answered:
                await asyncio.wait({subscribed}, timeout=_NUDGE_SECONDS)
            else:
                await asyncio.wait(asked, timeout=_NUDGE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            subscribed.cancel()
        if answered and not self._subscribed.is_set():
            # One that started before we listened has said nothing to us.
            self._transport.send("control", "kernel_info_request", {})

    def _ask_server(self) -> None:
        if self._server_state() == "busy":
            # It works on something that began before we listened. A gateway also says so for ever of what its kernel died in.
            self.state = "busy"
            self._question("shell", "kernel_info_request", {}).add_done_callback(partial(self._free, self.busy_with))

    def _free(self, before: str, answer: asyncio.Future[JsonObject]) -> None:
        """It answers on shell, so what ran before that has ended; unless something began since, nothing runs."""
        if not answer.cancelled() and answer.exception() is None and self.busy_with == before and self.state == "busy":
            self.state = "idle"

    def _silent(self, seconds: float | None) -> Unavailable:
        return Unavailable(
            f"The kernel did not answer within {seconds:g} s; it may be busy. Wait for it, or interrupt it.",
            kernel=self.kernel_id,
        )

    def _question(
        self, channel: Literal["shell", "control"], kind: str, content: JsonObject
    ) -> asyncio.Future[JsonObject]:
        if self.lost is not None:
            raise Unavailable("The kernel has ended.", kernel=self.kernel_id, reason=self.lost)
        asked: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        name = self._transport.send(channel, kind, content)
        if kind == "execute_request":
            self._evaluations.add(name)
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
        if message.kind in _COMMS:
            self.widgets.hear_comm(message.kind, message.load())
            return
        if message.kind in _DISPLAYS:
            self._display(message)
            return
        execution = self._executions.get(message.parent_id)
        if execution is None:
            return
        if self.widgets.take(message, message.load()):
            execution.heard_at = time.monotonic()
            return
        execution.heard_at = time.monotonic()
        if message.kind == "execute_input":
            execution.began = True
        execution.sink(message, message.load())

    def _status(self, message: KernelMessage) -> None:
        state = message.load().get("execution_state")
        if state in ("restarting", "dead"):
            # Said by a gateway, not by the kernel, and only of one that ended by itself.
            self.lose("kernel_died")
            return
        if state == "starting":
            if self._at_work:
                self.lose("kernel_restarted")
            return
        if state not in ("busy", "idle") or message.parent_id in self._evaluations:
            return
        execution = self._executions.get(message.parent_id)
        if message.parent_kind == "execute_request" or execution is not None:
            self._at_work = True
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
            self.widgets.update(_as_update(message), content)
            if message.kind == "update_display_data":
                return
            if self._is_taken(message, content):
                return
            if message.parent_id in self._executions and message.parent_id not in shown_in:
                self._displays.setdefault(display_id, []).append(message.parent_id)
                if len(self._displays) > _REMEMBERED_DISPLAYS:
                    del self._displays[next(iter(self._displays))]
        execution = self._executions.get(message.parent_id)
        if execution is not None and not (display_id is None and self._is_taken(message, content)):
            execution.heard_at = time.monotonic()
            execution.sink(message, content)

    def _is_taken(self, message: KernelMessage, content: JsonObject) -> bool:
        return message.parent_id in self._executions and self.widgets.take(message, content)

    async def _set_widget(self, outputs: JsonObject) -> JsonObject:
        """Not by a message on shell, where a page would send it: see above."""
        if not self.probed:
            return {}
        told = (await self.ask("comm_info_request", {_PROBE: {"widget": outputs}})).get(_PROBE)
        return told if isinstance(told, dict) else {}

    def _know(self, info: JsonObject) -> None:
        language = info.get("language_info")
        name = language.get("name") if isinstance(language, dict) else None
        self.language = name if isinstance(name, str) else ""

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
