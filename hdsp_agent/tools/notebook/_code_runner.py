"""Having code run: what it risks, which kernel does it, who hears of it, and what the model is told of how it went."""

from __future__ import annotations

import asyncio
import os.path
from collections.abc import Mapping, Sequence
from typing import Final

from ..._threads import in_thread
from ...errors import HdspAgentError
from ...messages import CellId, JsonObject, KernelChanged, NotebookRef
from ...notebooks import NotebookSnapshot
from ...notebooks.kernels import CellRun, CellRunSpec, KernelInfo
from .._action import ActionRequest
from .._cell_runs import KnownRun
from .._hidden_files import HiddenFileNames, hidden_words
from .._path_policy import CheckedPath
from .._tool import ToolContext, ToolResult
from .._tool_failed import ToolFailed
from ._code_risks import CodeRisks, risks_of
from ._model_outputs import ModelOutput, shown_texts, told_outputs, with_outputs
from ._notebook_location import NotebookLocation
from ._outputs import CellRunReport, RunReport
from ._run_messages import RunMessages

__all__ = [
    "MOST_SECONDS",
    "USUAL_SECONDS",
    "action_for",
    "begun",
    "language_of",
    "result_of",
    "start_kernel",
    "waited_for",
]

USUAL_SECONDS: Final = 120
MOST_SECONDS: Final = 3_600
_MOST_TOLD: Final = 60


async def language_of(snapshot: NotebookSnapshot | None, kernel: KernelInfo | None, context: ToolContext) -> str | None:
    """The language the code is in."""
    if kernel is not None and kernel.language:
        return kernel.language
    if snapshot is None:
        return None
    if snapshot.kernel_name:
        spec = (await context.notebooks.executor.kernel_specs()).get(snapshot.kernel_name)
        if spec is not None and spec.language:
            return spec.language
    return snapshot.language


async def action_for(
    tool: str,
    code: Sequence[str],
    language: str | None,
    place: NotebookLocation,
    context: ToolContext,
    *,
    puts_back_masked: bool = False,
) -> ActionRequest:
    """What running this is, in the words of the approval engine. Raises ToolFailed where it names what is hidden."""
    folder = place.checked.path.parent

    def look(_stop: object) -> tuple[_Found, HiddenFileNames]:
        found = _Found([risks_of(one, language) for one in code])
        return found, hidden_words(found.words, folder, context.paths) if found.words else HiddenFileNames()

    def leads_to(_stop: object) -> list[CheckedPath]:
        # A file that is hidden, or that no tool may touch, is refused here.
        return [context.paths.resolve(str(folder / path)) for path in found.writes]

    found, hidden = await in_thread(look)
    if hidden.named is not None:
        raise ToolFailed(
            f"The code names {hidden.named} in a command, which is hidden from you by .hdspignore or belongs to the agent's "
            "own storage. Do without it, or ask the person."
        )
    written = await in_thread(leads_to)
    risks = found.risks.union(*(each.write_risks for each in written))
    if place.checked.is_outside or place.checked.is_foreign:
        risks |= place.checked.write_risks
    return ActionRequest(
        risks=risks,
        tool=tool,
        command=found.command,
        cwd=place.folder,
        path=place.shown,
        paths=tuple(each.shown for each in written),
        matches_hidden=hidden.matched,
        puts_back_masked=puts_back_masked,
        same_as=found.same_as,
        flags=found.flags,
        # IPython gives the shell the text that is in the cell.
        exactly=found.command is not None,
    )


class _Found:
    """What several pieces of code risk together."""

    def __init__(self, found: Sequence[CodeRisks]) -> None:
        self.risks = frozenset(risk for one in found for risk in one.risks)
        self.command = "\n".join(one.command for one in found if one.command) or None
        self.same_as = "\n".join(one.same_as for one in found if one.same_as) or None
        self.words = "\n".join(text for text in (self.command, self.same_as) if text)
        self.writes = tuple(dict.fromkeys(os.path.expanduser(path) for one in found for path in one.writes))
        self.flags = tuple(sorted({flag for one in found for flag in one.flags}))


async def begun(
    specs: Sequence[CellRunSpec],
    place: NotebookLocation,
    context: ToolContext,
    *,
    numbers: Mapping[CellId, int],
    kernel_name: str | None = None,
    in_history: bool = True,
) -> KnownRun:
    """Give code to the notebook's kernel, which is started if there is none; known under a name from now on."""
    notebooks = context.notebooks
    before = await notebooks.kernel(place.path)
    kernel = before or await start_kernel(place, context, kernel_name)
    report = RunMessages(context, place.document.path, numbers, kernel.display_name)

    async def keep(data: bytes) -> str:
        text = await in_thread(lambda _stop: context.mask(data.decode("utf-8", "replace")))
        return await context.put_artifact(text.encode("utf-8", "replace"))

    run = await notebooks.run(
        place.document.path,
        specs,
        task_id=context.task_id,
        store_history=in_history,
        keep=keep,
        listener=report,
    )
    return context.state.runs.add(run, place.shown, numbers, report)


async def start_kernel(place: NotebookLocation, context: ToolContext, kernel_name: str | None) -> KernelInfo:
    """A kernel for the notebook, and a word about it to the person."""
    executor = context.notebooks.executor
    try:
        kernel = await executor.start(place.document.path, kernel_name)
    except HdspAgentError as error:
        raise ToolFailed(f"{error.message} Nothing was run.") from error
    changed = KernelChanged(path=place.document.path, change="started", kernel=kernel.display_name)
    await context.say("kernel_status", changed.to_json(), notebook=NotebookRef(path=place.document.path))
    return kernel


async def waited_for(known: KnownRun, seconds: float, context: ToolContext) -> None:
    """Wait for the run to end, or so long; whoever stops waiting because the task is stopped stops the run."""
    try:
        await known.run.wait(seconds)
    except asyncio.CancelledError:
        context.state.runs.interrupt(known)
        raise
    await asyncio.gather(context.notebooks.live_outputs.settled(known.run), known.report.settled())


async def result_of(known: KnownRun, context: ToolContext) -> ToolResult:
    """What the model is told of a run now."""
    run = known.run
    ran = [cell for cell in run.cells if cell.started_at is not None]
    waiting = [cell for cell in run.cells if cell.started_at is None]
    left_out = max(0, len(ran) - _MOST_TOLD)
    told = [
        await told_outputs(
            _header(cell, known), cell.outputs.outputs, context, artifact=cell.artifact, goes_on=not cell.ended
        )
        for cell in ran[left_out:]
    ]
    before = f"[{left_out} cells before these ran, too.]" if left_out else ""
    after = "\n".join(_endings(known, waiting, context))
    shown = await shown_texts(told, context)
    content = with_outputs(told, shown, before=before, after=after)
    failed = run.done and any(cell.state != "ok" for cell in run.cells)
    return ToolResult(
        content or "Nothing was run.",
        is_error=failed,
        shown=True,
        structured=lambda: _report(known, ran[left_out:], told, shown, f"{before}\n{after}".strip()),
    )


def _report(
    known: KnownRun, cells: Sequence[CellRun], told: Sequence[ModelOutput], shown: Sequence[str], notes: str
) -> JsonObject:
    entries = [_ran(cell, known, len(one.images), text) for cell, one, text in zip(cells, told, shown, strict=True)]
    entries += [_ran(cell, known, 0, "") for cell in known.run.cells if cell.started_at is None]
    report = RunReport(run=known.id, done=known.run.done, path=known.shown, cells=entries, notes=notes or None)
    return report.model_dump(exclude_none=True)


def _ran(cell: CellRun, known: KnownRun, images: int, text: str) -> CellRunReport:
    times = cell.started_at, cell.ended_at
    return CellRunReport(
        id=cell.cell_id,
        number=known.numbers.get(cell.cell_id) if cell.cell_id is not None else None,
        state=cell.state,
        execution_count=cell.execution_count,
        seconds=None if times[0] is None or times[1] is None else (times[1] - times[0]) / 1000,
        output=text or None,
        images=images or None,
        error=cell.error.ename if cell.error is not None else None,
        advice=cell.advice,
    )


def _endings(known: KnownRun, waiting: Sequence[CellRun], context: ToolContext) -> list[str]:
    run = known.run
    lines: list[str] = []
    if waiting:
        named = ", ".join(_name(cell, known) for cell in waiting[:20]) + ("…" if len(waiting) > 20 else "")
        why = next((cell.advice for cell in waiting if cell.ended and cell.advice), None)
        lines.append(f"Not run: {named}. {why or ''}".rstrip() if run.done else f"Waiting: {named}.")
    if not run.done:
        lines.append(
            f"It still runs, as {known.id}. Wait for it with wait_run, which can interrupt it, too. It is stopped when the "
            "task ends."
        )
    problem = context.notebooks.live_outputs.problem(run)
    if problem is not None:
        lines.append(context.mask(problem))
    return lines


def _header(cell: CellRun, known: KnownRun) -> str:
    words = {
        "queued": "waits",
        "running": "still runs",
        "ok": "done",
        "error": "FAILED",
        "interrupted": "interrupted",
        "dead": "the kernel is gone",
        "timed_out": "took too long",
    }
    facts = [words[cell.state]]
    if cell.execution_count is not None and cell.cell_id is not None:
        facts.append(f"execution count {cell.execution_count}")
    if cell.started_at is not None and cell.ended_at is not None:
        facts.append(f"{(cell.ended_at - cell.started_at) / 1000:.1f} s")
    advice = f" {cell.advice}" if cell.advice else ""
    printed = "" if cell.outputs.outputs else " No output." if cell.state == "ok" else ""
    return f"[{_name(cell, known)}: {', '.join(facts)}]{advice}{printed}"


def _name(cell: CellRun, known: KnownRun) -> str:
    if cell.cell_id is None:
        return "code"
    number = known.numbers.get(cell.cell_id)
    return f"cell {number} {cell.cell_id}" if number is not None else f"cell {cell.cell_id}"
