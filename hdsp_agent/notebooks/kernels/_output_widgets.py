"""Output widgets: what a cell prints within ``with out:`` belongs into the widget, as JupyterLab does it for its own runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from ...errors import HdspAgentError
from ...messages import JsonObject
from ._output_collector import OutputCollector
from ._output_messages import collect_output
from ._run_limits import RunLimits
from ._transport import KernelMessage

__all__ = ["OutputWidgets", "SetOutputs"]

_log = logging.getLogger(__name__)

_SYNC_SECONDS: Final = 0.05
"""Outputs that come within this time are handed to the kernel together."""
_TAKEN: Final = frozenset({"stream", "display_data", "execute_result", "error", "clear_output"})

SetOutputs = Callable[[JsonObject], Awaitable[JsonObject]]
"""Has the kernel set a widget's outputs; the answer has those from before in ``base``."""


class _Widget:
    """One of them. Unless we saw it open it has outputs that we do not know, before ours."""

    def __init__(self, outputs: list[JsonObject] | None) -> None:
        self.base = outputs
        self.ours = OutputCollector(RunLimits())
        self.clears_next = False

    @property
    def outputs(self) -> list[JsonObject]:
        return [*(self.base or []), *self.ours.outputs]


class OutputWidgets:
    """The output widgets of one kernel, as far as requests of ours print into them."""

    def __init__(self, set_outputs: SetOutputs) -> None:
        self._set_outputs = set_outputs
        self._widgets: dict[str, _Widget] = {}
        self._capturing: dict[str, list[str]] = {}
        self._changed: set[str] = set()
        self._sync: asyncio.Task[None] | None = None

    def hear_comm(self, kind: str, content: JsonObject) -> None:
        """A widget was made, set by the kernel, or is gone."""
        name, data = str(content.get("comm_id")), content.get("data")
        state = data.get("state") if isinstance(data, dict) else None
        if kind == "comm_close":
            self._widgets.pop(name, None)
            self._stop(name)
            return
        if not isinstance(state, dict) or not isinstance(data, dict) or data.get("method") == "echo_update":
            # An echo is of what we, or a page, have set.
            return
        outputs = state.get("outputs")
        is_one = state.get("_model_name") == "OutputModel" if kind == "comm_open" else name in self._widgets
        if is_one and isinstance(outputs, list) and name not in self._changed:
            self._widgets[name] = _Widget([one for one in outputs if isinstance(one, dict)])
        request = state.get("msg_id")
        if isinstance(request, str):
            self._stop(name)
            if request:
                self._widgets.setdefault(name, _Widget(None))
                self._capturing.setdefault(request, []).append(name)

    def take(self, message: KernelMessage, content: JsonObject) -> bool:
        """Whether a widget takes an output of one of our requests: the one that began last."""
        names = self._capturing.get(message.parent_id)
        if not names or message.kind not in _TAKEN:
            return False
        widget = self._widgets[names[-1]]
        is_clear = message.kind == "clear_output"
        if widget.clears_next or (is_clear and not content.get("wait")):
            widget.base = []
        widget.clears_next = is_clear and bool(content.get("wait"))
        collect_output(widget.ours, message, content)
        self._begin_sync(names[-1])
        return True

    def update(self, message: KernelMessage, content: JsonObject) -> None:
        """A display changes wherever it is shown."""
        for name, widget in self._widgets.items():
            if widget.ours.has_display_ids and collect_output(widget.ours, message, content):
                self._begin_sync(name)

    async def settled(self) -> None:
        """Wait until the kernel has what was printed so far."""
        if self._sync is not None:
            await asyncio.gather(self._sync, return_exceptions=True)

    async def close(self) -> None:
        """Hand over no more."""
        if self._sync is not None:
            self._sync.cancel()
            await asyncio.gather(self._sync, return_exceptions=True)

    def _stop(self, name: str) -> None:
        for request, names in list(self._capturing.items()):
            if name in names:
                names.remove(name)
            if not names:
                del self._capturing[request]

    def _begin_sync(self, name: str) -> None:
        self._changed.add(name)
        if self._sync is None or self._sync.done():
            self._sync = asyncio.ensure_future(self._hand_over())

    async def _hand_over(self) -> None:
        while self._changed:
            await asyncio.sleep(_SYNC_SECONDS)
            name = next(iter(self._changed))
            widget = self._widgets.get(name)
            self._changed.discard(name)
            if widget is None:
                continue
            outputs: JsonObject = {"comm_id": name, "outputs": [*widget.outputs], "append": widget.base is None}
            try:
                told = await self._set_outputs(outputs)
            except HdspAgentError as error:
                _log.debug("An output widget could not be filled: %s", error)
                return
            base = told.get("base")
            if widget.base is None:
                widget.base = [one for one in base if isinstance(one, dict)] if isinstance(base, list) else []
