"""The outputs of one cell, collected by JupyterLab's own rules and within bounds."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import JsonValue

from ...messages import ExtendStream, JsonObject, OutputChange, PutOutput, TruncateOutputs
from ._full_text import FullText
from ._run_limits import RunLimits
from ._stream_text import StreamText

__all__ = ["OutputCollector"]


_REMEMBERED_CHANGES: Final = 512
_LIVE_TAIL: Final = 4_000
"""How much of a too long output's end is sent while it still moves."""
_PASSED_TAIL: Final = 2_000
"""How much of it stays when other outputs follow."""
_ALWAYS: Final = 10
"""Results and errors that get a place even beyond the limit of outputs: they come last and matter most."""


@dataclass
class _Slot:
    """One output, and when it was put; a stream also remembers from where on it changed."""

    output: JsonObject
    put: int
    stream: StreamText | None = None
    touched: int = 0
    stays: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED_CHANGES))
    """(version, characters that stayed), rising in both: what a reader of an older version still has."""
    display_id: str | None = None
    size: int = 0


class OutputCollector:
    """A code cell's outputs while it runs and after.

    ``version`` rises when something changed since the version was last looked at, so a fast cell makes few versions.
    ``changes_since`` tells the way from any version to the present one.
    """

    def __init__(self, limits: RunLimits) -> None:
        self._limits = limits
        self._slots: list[_Slot] = []
        self._version = 0
        self._seen = True
        self._truncated: list[tuple[int, int]] = []
        self._clear_next = False
        self._last_stream: str | None = None
        self._note: _Slot | None = None
        self._beyond = 0
        self._rich = 0
        self._finished = False
        self.full_text = FullText(limits.kept_bytes)
        self.characters = 0
        """Of all text the cell produced, shown or not."""
        self.messages = 0
        self.dropped_outputs = 0
        self.truncated = False
        """Whether something is not shown."""

    @property
    def version(self) -> int:
        """Of what ``outputs`` shows now; 0 when there never were any."""
        self._seen = True
        return self._version

    @property
    def outputs(self) -> list[JsonObject]:
        """As nbformat has them."""
        return [self._shown(slot) for slot in self._slots]

    @property
    def dropped(self) -> int:
        """Characters of text that are not shown."""
        return sum(slot.stream.left_out for slot in self._slots if slot.stream is not None)

    @property
    def has_display_ids(self) -> bool:
        """Whether a later cell can still change some of them."""
        return any(slot.display_id for slot in self._slots)

    def changes_since(self, version: int) -> list[OutputChange]:
        """What to do to the outputs of ``version`` to have the present ones."""
        self._seen = True
        if version == self._version:
            return []
        changes: list[OutputChange] = []
        intact = min((count for at, count in self._truncated if at > version), default=len(self._slots))
        if intact < len(self._slots) or any(at > version for at, _ in self._truncated):
            changes.append(TruncateOutputs(count=intact))
        for index, slot in enumerate(self._slots):
            if index >= intact or slot.put > version:
                changes.append(PutOutput(index=index, output=self._shown(slot)))
            elif slot.stream is not None and slot.touched > version:
                changes.append(self._extension(index, slot, slot.stream, version))
        return changes

    # ---- what the kernel says

    def stream(self, name: str, text: str) -> None:
        """Text of stdout or stderr; it joins the last output if that is of the same stream."""
        self._begin()
        self.characters += len(text)
        last = self._slots[-1] if self._slots else None
        if last is None or last.stream is None or self._last_stream != name:
            room = self._room_for(last)
            if not self._place(always=False):
                self.full_text.add(text)
                return
            shown = StreamText(room, tail=self._limits.tail_characters)
            last = _Slot({"output_type": "stream", "name": name}, self._tick(), shown)
            self._slots.append(last)
            self._last_stream = name
        assert last.stream is not None
        if last.stream.length + len(text) > last.stream.room:
            self._begin_full_text()
        self._spool(text)
        self._touch(last, last.stream.add(text))
        self.truncated = self.truncated or last.stream.overflowing

    def display(
        self,
        kind: Literal["display_data", "execute_result"],
        data: Mapping[str, JsonValue],
        metadata: Mapping[str, JsonValue],
        *,
        size: int,
        execution_count: int | None = None,
        display_id: str | None = None,
    ) -> None:
        """Something shown, or the value of the last expression."""
        self._begin()
        output: JsonObject = {"output_type": kind, "data": self._bounded(data, size), "metadata": dict(metadata)}
        if kind == "execute_result":
            output["execution_count"] = execution_count
        self._count_text(data.get("text/plain"))
        self._last_stream = None
        if self._place(always=kind == "execute_result"):
            self._slots.append(_Slot(output, self._tick(), display_id=display_id, size=size))

    def error(self, ename: str, evalue: str, traceback: list[str]) -> None:
        """The exception the cell ended with."""
        self._begin()
        text = "\n".join(traceback)
        most = max(self._limits.display_characters // 4, _PASSED_TAIL)
        if len(text) > most:
            shown = [text[: most // 2], f"[… {len(text) - most:,} characters left out …]", text[-most // 2 :]]
            self.truncated = True
        else:
            shown = list(traceback)
        self._count_text(text)
        self._last_stream = None
        if self._place(always=True):
            lines: list[JsonValue] = list(shown)
            output: JsonObject = {
                "output_type": "error",
                "ename": ename,
                "evalue": evalue[:most],
                "traceback": lines,
            }
            self._slots.append(_Slot(output, self._tick()))

    def update(
        self, display_id: str, data: Mapping[str, JsonValue], metadata: Mapping[str, JsonValue], *, size: int
    ) -> bool:
        """Show something else in all displays of this id; whether there are any."""
        found = [slot for slot in self._slots if slot.display_id == display_id]
        for slot in found:
            self._rich -= min(self._rich, slot.size)
            # A result stays one, with its number.
            slot.output = {**slot.output, "data": self._bounded(data, size), "metadata": dict(metadata)}
            slot.size = size
            slot.put = self._tick()
        return bool(found)

    def clear(self, *, wait: bool = False) -> None:
        """Take all outputs away; with ``wait`` when the next one comes."""
        self.messages += 1
        self._last_stream = None
        if wait:
            self._clear_next = True
        else:
            self._clear()

    def finish(self) -> None:
        """No more will come: the end of a long output is shown in full."""
        if self._finished:
            return
        self._finished = True
        for slot in self._slots:
            if slot.stream is not None and slot.stream.overflowing:
                self._touch(slot, slot.stream.head_length)

    # ---- bookkeeping

    def _begin(self) -> None:
        self.messages += 1
        if self._clear_next:
            self._clear()

    def _clear(self) -> None:
        self._clear_next = False
        self._last_stream = None
        if not self._slots:
            return
        self._slots.clear()
        self._note = None
        self._beyond = self._rich = 0
        version = self._tick()
        self._truncated = [(version, 0)]
        self.full_text.restart()

    def _tick(self) -> int:
        if self._seen:
            self._version += 1
            self._seen = False
        return self._version

    def _touch(self, slot: _Slot, stays: int) -> None:
        slot.touched = self._tick()
        log = slot.stays
        while log and log[-1][1] >= stays:
            log.pop()
        if log and log[-1][0] == slot.touched:
            return
        log.append((slot.touched, stays))

    def _extension(self, index: int, slot: _Slot, stream: StreamText, version: int) -> OutputChange:
        log = list(slot.stays)
        later = bisect_right(log, version, key=lambda entry: entry[0])
        forgotten = len(log) == _REMEMBERED_CHANGES and later == 0
        if forgotten or later == len(log):
            return PutOutput(index=index, output=self._shown(slot))
        keep = log[later][1]
        text = self._text_of(stream)
        return ExtendStream(index=index, keep=min(keep, len(text)), text=text[keep:])

    def _shown(self, slot: _Slot) -> JsonObject:
        if slot.stream is None:
            return slot.output
        return {**slot.output, "text": self._text_of(slot.stream)}

    def _text_of(self, stream: StreamText) -> str:
        return stream.text(tail=None if self._finished else _LIVE_TAIL)

    def _room_for(self, last: _Slot | None) -> int:
        """How much head a new stream gets; one that overflowed before it keeps less of its end."""
        if last is not None and last.stream is not None and last.stream.overflowing:
            last.stream.shrink_tail(_PASSED_TAIL)
            self._touch(last, last.stream.head_length)
        used = sum(slot.stream.length for slot in self._slots if slot.stream is not None)
        return max(0, self._limits.display_characters - self._limits.tail_characters - used)

    def _place(self, *, always: bool) -> bool:
        """Whether there is a place for one more output; else it is counted in a note at the end."""
        taken = len(self._slots) - (self._note is not None)
        if taken < self._limits.outputs:
            return True
        if always and self._beyond < _ALWAYS:
            self._beyond += 1
            return True
        self.dropped_outputs += 1
        self.truncated = True
        text = f"[… {self.dropped_outputs:,} more outputs are not shown …]"
        output: JsonObject = {"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}}
        if self._note is None:
            self._note = _Slot(output, self._tick())
            self._slots.append(self._note)
            self._begin_full_text()
        else:
            self._note.output = output
            self._note.put = self._tick()
        self._last_stream = None
        return False

    def _bounded(self, data: Mapping[str, JsonValue], size: int) -> dict[str, JsonValue]:
        if self._rich + size <= self._limits.rich_bytes:
            self._rich += size
            return dict(data)
        self.truncated = True
        plain = data.get("text/plain")
        kinds = ", ".join(sorted(kind for kind in data if kind != "text/plain")) or "text"
        word = f"[{kinds} of {size:,} bytes is not shown: a cell's displays may have {self._limits.rich_bytes:,}]"
        beginning = f"{plain[:_PASSED_TAIL]}\n" if isinstance(plain, str) else ""
        return {"text/plain": beginning + word}

    def _count_text(self, text: JsonValue) -> None:
        if isinstance(text, str):
            self.characters += len(text)
            self._spool(text + "\n")

    def _begin_full_text(self) -> None:
        """From here on everything is written to a file, with what was shown until now before it."""
        if not self.full_text.begun:
            texts = (slot.stream.text() if slot.stream is not None else _plain(slot.output) for slot in self._slots)
            self.full_text.begin("".join(texts))

    def _spool(self, text: str) -> None:
        if self.full_text.begun:
            self.full_text.add(text)


def _plain(output: JsonObject) -> str:
    data = output.get("data")
    if isinstance(data, dict):
        plain = data.get("text/plain", "")
        return f"{plain if isinstance(plain, str) else json.dumps(plain)}\n"
    traceback = output.get("traceback")
    return "\n".join(str(line) for line in traceback) if isinstance(traceback, list) else ""
