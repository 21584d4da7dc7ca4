"""What the person sees in the conversation of a run: a row for each cell, what it prints as it comes, and how it failed."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from html import unescape
from time import monotonic
from typing import Final

from ..._threads import in_thread
from ..._timeouts import wait_at_most
from ...errors import HdspAgentError
from ...messages import CellExecuted, CellId, JsonObject, KernelChanged, NotebookRef
from ...notebooks.kernels import CellRun, Run, images_of
from .._output_buffer import middle_left_out
from .._tool import ToolContext
from ._model_outputs import outputs_text

__all__ = ["RunMessages"]

_log = logging.getLogger(__name__)

_EVERY_SECONDS: Final = 0.15
_SHARE: Final = 4
"""Of the time, one part in so many goes into showing, however long an output is."""
_MOST_CHARACTERS: Final = 20_000
_LONGEST_RESULT: Final = 2_000
_LONGEST_TABLE: Final = 60_000
_LAST_SECONDS: Final = 2.0
_TAG: Final = re.compile(r"<[^>]*>")
_LEFT: Final = "The task ended before this cell did. It was interrupted, and had not ended yet."


class _Row:
    """One cell, as far as it was told."""

    def __init__(self, cell: CellRun) -> None:
        self.cell: Final = cell
        self.row_at: int | None = None
        self.output_at: int | None = None
        self.printed = ""
        self.version = -1
        self.state = "queued"
        self.over = False
        self.artifact: str | None = None


class RunMessages:
    """Listens to one run, and says how it goes on. It must be closed."""

    def __init__(self, context: ToolContext, path: str, numbers: Mapping[CellId, int], kernel: str | None) -> None:
        self._context = context
        self._path = path
        self._numbers = numbers
        self._kernel = kernel
        self._rows: dict[int, _Row] = {}
        self._touched: dict[int, _Row] = {}
        self._run: Run | None = None
        self._wake = asyncio.Event()
        self._hurry = asyncio.Event()
        self._rest = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None

    def changed(self, run: Run, cell: CellRun) -> None:
        """Something about a cell changed."""
        self._run = run
        row = self._rows.get(id(cell))
        if row is None:
            row = self._rows[id(cell)] = _Row(cell)
        self._touched[id(cell)] = row
        self._rest.clear()
        self._wake.set()
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._tell_all(), name=f"hdsp-agent tells of run {run.id}")

    async def settled(self) -> None:
        """Wait until all there is was shown."""
        while self._worker is not None and not self._worker.done() and not self._rest.is_set():
            self._hurry.set()
            self._wake.set()
            await self._rest.wait()

    async def close(self) -> None:
        """Show how it ended; a run that was interrupted just now has a moment to end."""
        if self._run is not None:
            await self._run.wait(_LAST_SECONDS)
        try:
            await wait_at_most(self.settled(), _LAST_SECONDS)
        except TimeoutError:
            _log.warning("Not all of a run of %s could be shown in time", self._path)
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.wait({self._worker})
        with suppress(HdspAgentError):
            for row in self._rows.values():
                if row.row_at is not None and not row.over:
                    await self._say_left(row)

    async def _tell_all(self) -> None:
        try:
            while True:
                self._wake.clear()
                begun = monotonic()
                touched, self._touched = self._touched, {}
                for row in touched.values():
                    await self._tell(row)
                if self._touched:
                    continue
                self._hurry.clear()
                self._rest.set()
                if self._run is not None and self._run.done:
                    return
                await self._pause(max(_EVERY_SECONDS, _SHARE * (monotonic() - begun)))
        except HdspAgentError as error:
            # The conversation was closed before the run ended; the notebook has its outputs all the same.
            _log.warning("A run of %s could not be shown any more: %s", self._path, error.message)
        finally:
            self._rest.set()

    async def _pause(self, seconds: float) -> None:
        with suppress(asyncio.TimeoutError):
            await wait_at_most(self._hurry.wait(), seconds)
        await self._wake.wait()

    # ---- telling

    async def _say_left(self, row: _Row) -> None:
        """Nobody will see how this cell ends: it did not heed its interruption."""
        await self._say_printed(row, row.cell.outputs.outputs, is_all=True)
        await self._say_row(row, (), left=True)

    async def _tell(self, row: _Row) -> None:
        cell = row.cell
        if cell.started_at is None and not self._died_of(cell):
            return
        if row.over:
            if row.artifact != cell.artifact:
                # Where the whole of a long output is, is known a little later.
                await self._say_row(row, cell.outputs.outputs)
            return
        ended, version = cell.ended, cell.outputs.version
        outputs = cell.outputs.outputs if version != row.version or ended else []
        if row.state != cell.state and (not ended or outputs):
            # Also before the outputs of a cell that was faster than we are: they belong under its row.
            row.state = cell.state
            await self._say_row(row, (), goes_on=True)
        if version != row.version or ended:
            row.version = version
            await self._say_printed(row, outputs, is_all=ended)
        if ended:
            row.over = True
            await self._say_error(row)
            await self._say_row(row, outputs)

    def _died_of(self, cell: CellRun) -> bool:
        """Whether the kernel died with this cell: it may do so before it can say that the cell began."""
        return self._run is not None and cell is next((each for each in self._run.cells if each.state == "dead"), None)

    async def _say_row(
        self, row: _Row, outputs: Sequence[JsonObject], *, goes_on: bool = False, left: bool = False
    ) -> None:
        cell, mask = row.cell, self._context.mask
        error = f"{cell.error.ename}: {cell.error.evalue}" if cell.error is not None else None
        shown = _result(outputs)
        result = await self._masked(shown)
        said = CellExecuted(
            path=self._now_at(),
            cell_id=cell.cell_id,
            number=self._numbers.get(cell.cell_id) if cell.cell_id is not None else None,
            run_id=self._run.id if self._run is not None else "",
            state="interrupted" if left else cell.state,
            execution_count=cell.execution_count,
            started_at=cell.started_at,
            duration_ms=None if cell.ended_at is None or cell.started_at is None else cell.ended_at - cell.started_at,
            result=_cut(result, _LONGEST_RESULT) or None,
            table=await self._table(shown),
            error=None if error is None else _cut(mask(error), _LONGEST_RESULT),
            reason=_LEFT if left else cell.advice,
            artifact=cell.artifact,
        )
        images = [url for image in await images_of(outputs) if (url := image.data_url) is not None] if outputs else []
        row.row_at = await self._context.say(
            "cell_executed",
            said.to_json(),
            partial=goes_on,
            ts=row.row_at,
            images=images,
            notebook=self._ref(row),
        )
        row.artifact = cell.artifact
        if cell.reason == "kernel_died" and not goes_on:
            changed = KernelChanged(path=self._now_at(), change="died", kernel=self._kernel)
            await self._context.say("kernel_status", changed.to_json(), notebook=NotebookRef(path=self._now_at()))

    async def _say_printed(self, row: _Row, outputs: Sequence[JsonObject], *, is_all: bool) -> None:
        streams = [output for output in outputs if output.get("output_type") == "stream"]
        text = _cut(await self._masked(streams), _MOST_CHARACTERS)
        if not text and row.output_at is None:
            return
        if text == row.printed and not is_all:
            return
        row.printed = text
        row.output_at = await self._context.say(
            "command_output", text, partial=not is_all, ts=row.output_at, notebook=self._ref(row)
        )

    async def _say_error(self, row: _Row) -> None:
        error = row.cell.error
        if error is None:
            return
        text = outputs_text(
            [
                {
                    "output_type": "error",
                    "ename": error.ename,
                    "evalue": error.evalue,
                    "traceback": list(error.traceback),
                }
            ]
        )
        await self._context.say("error", _cut(self._context.mask(text), _MOST_CHARACTERS), notebook=self._ref(row))

    async def _masked(self, outputs: Sequence[JsonObject]) -> str:
        if not outputs:
            return ""
        return await in_thread(lambda _stop: self._context.mask(outputs_text(outputs)))

    async def _table(self, outputs: Sequence[JsonObject]) -> str | None:
        """The table among these outputs, unless there is something to be masked in it: between tags it may not be found."""
        table = next((found for output in outputs if (found := _table_in(output))), "")
        if not table or len(table) > _LONGEST_TABLE:
            return None

        def is_harmless(_stop: object) -> bool:
            texts = (table, unescape(table), unescape(_TAG.sub("", table)))
            return all(self._context.mask(text) == text for text in texts)

        return table if await in_thread(is_harmless) else None

    def _ref(self, row: _Row) -> NotebookRef:
        return NotebookRef(path=self._now_at(), cell_id=row.cell.cell_id)

    def _now_at(self) -> str:
        """The notebook may be renamed while it runs."""
        return self._context.notebooks.access.now_at(self._path)


def _result(outputs: Sequence[JsonObject]) -> list[JsonObject]:
    """The value of the last expression, or what was shown last: of pictures that follow a table, the table."""
    shown = [output for output in outputs if output.get("output_type") in ("execute_result", "display_data")]
    if shown and _is_picture(shown[-1]):
        return [output for output in shown if _table_in(output)][-1:] or shown[-1:]
    return shown[-1:]


def _is_picture(output: JsonObject) -> bool:
    data = output.get("data")
    return isinstance(data, dict) and any(mime.startswith("image/") for mime in data)


def _table_in(output: JsonObject) -> str:
    """The HTML of a table, as pandas and others show theirs."""
    data = output.get("data")
    html = data.get("text/html") if isinstance(data, dict) else None
    return html if isinstance(html, str) and "<table" in html else ""


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else middle_left_out(text, most, f"[… {len(text) - most:,} characters …]")
