"""Steps that change the notebook: each is shown for approval as what it is, and run at once."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal, TypeVar

from pydantic import Field, StringConstraints

from ..._threads import in_thread
from ...config import ToolGroup
from ...errors import HdspAgentError
from ...messages import CellId, JsonObject
from .._tool import SimpleTool, SinceAsked, ToolArguments, ToolContext, ToolResult
from .._tool_failed import ToolFailed
from ..notebook._code_runner import language_of
from ..notebook._edit_cells import EditCells, new_id
from ..notebook._operations import CellOperation
from ._cell_runner import CellRunner
from ._code import made_names, mended, renamed, requoted, spliced, syntax_problem, wanted_names, with_imports
from ._edit_check import lost_names, lost_texts, same_meaning, with_lost
from ._extract_function import with_calls
from ._masked_code import has_gaps
from ._missing_tables import table_files, with_reads
from ._request_check import as_heading, asks_to_mend, forgotten, labelled, only_labels
from ._result_check import expected_number, keeps_results, not_as_asked, written_in
from ._step_report import failed_in, same_code

__all__ = ["AddCell", "AddText", "CompoundTool", "DeleteCellTool", "EditCell", "RenameVariable", "RunCell"]

Source = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Number = Annotated[int, Field(ge=1, le=100_000)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
_TAKES_AWAY: Final = re.compile(
    r"\b(?:remove|delete|drop|without|get rid of|only|simplify|shorten|rewrite)\b|삭제|제거|지워|빼|削除|消|除",
    re.IGNORECASE,
)
_LEFT_OUT: Final = "The new code leaves out"
_MOST_LOST: Final = 3
_MOST_TIMES: Final = 2
_RUNS: Final = re.compile(r"\b(?:re-?)?run\b|\bexecute\b|실행|実行", re.IGNORECASE)
A = TypeVar("A", bound=ToolArguments)


class CompoundTool(SimpleTool[A]):
    """A tool that does a whole step by means of others; it is there where all of those are."""

    parts: ClassVar[tuple[str, ...]]

    async def run(self, arguments: ToolArguments, context: ToolContext) -> ToolResult:
        """Do it. What is sent back counts as no mistake: how often that may be is decided with the next step."""
        return replace(await super().run(arguments, context), counts=False)


class AddCellArguments(ToolArguments):
    """The arguments of ``add_cell``."""

    code: Source
    """The code."""


class AddCell(CompoundTool[AddCellArguments]):
    """Adds a cell of code and runs it."""

    name: ClassVar[str] = "add_cell"
    group: ClassVar[ToolGroup | None] = "command"
    parts: ClassVar[tuple[str, ...]] = ("edit_cells", "run_cells")
    description: ClassVar[str] = "code for a new cell below the others, which is run; you are shown what it prints."

    async def _run(self, arguments: AddCellArguments, context: ToolContext) -> ToolResult:
        runner = await CellRunner.of(context)
        await _begun(context)
        code = await _ready(arguments.code, runner, None)
        drawing = runner.drawing()
        if drawing is not None and only_labels(code):
            raise ToolFailed(f"A plot is labelled in the cell that draws it. Change cell {drawing} instead.")
        last = runner.snapshot.cells[-1] if runner.snapshot.cells else None
        again = new_id(context.task_id, runner.snapshot.path, 0, code)
        # A step that is taken up after a restart may have been done in part.
        if any(cell.id == again and cell.source == code for cell in runner.snapshot.cells):
            return await runner.ran([again])
        if last is not None and last.cell_type == "code" and not last.source.strip():
            change = CellOperation(op="replace", cell=last.id, source=code)
        else:
            change = CellOperation(op="insert", source=code)
        before = {cell.id for cell in runner.snapshot.cells if cell is not last or change.op == "insert"}
        now = await runner.changed([change])
        if isinstance(now, ToolResult):
            return now
        added = next(cell.id for cell in reversed(now.snapshot.cells) if cell.id not in before)
        if change.op == "insert":
            context.state.tried.tried(added, None)
        else:
            context.state.tried.tried(added, "")
        ran = await now.ran([added])
        if not ran.is_error and failed_in(str(ran.content)) is None:
            context.state.tried.worked(added)
        return ran

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        return _preview({"op": "insert", "source": partial.get("code")}, context)


class EditCellArguments(ToolArguments):
    """The arguments of ``edit_cell``."""

    cell: Number
    """Its number."""
    code: Source
    """The whole new code."""


class EditCell(CompoundTool[EditCellArguments]):
    """Changes a cell and runs it."""

    name: ClassVar[str] = "edit_cell"
    group: ClassVar[ToolGroup | None] = "command"
    parts: ClassVar[tuple[str, ...]] = ("edit_cells", "run_cells")
    description: ClassVar[str] = "the number of a cell and its whole new code, which is run. To fix or change a cell."

    async def _run(self, arguments: EditCellArguments, context: ToolContext) -> ToolResult:
        runner = await CellRunner.of(context)
        cell = runner.code_cell(arguments.cell)
        since = await _begun(context)
        tried = context.state.tried
        old = tried.before(cell.id, cell.source)
        code = mended(arguments.code)
        if not _TAKES_AWAY.search(since.words):
            code = spliced(old, code)
        if only_labels(code) and cell.output_summary.images:
            code = labelled(old, code)
        if keeps_results(since.words):
            code = with_calls(old, code) or code
        others = [one.source for one in runner.snapshot.cells if one.cell_type == "code" and one.id != cell.id]
        code = await _ready(with_lost(old, code, others), runner, cell.id)
        if code.strip() == cell.source.strip():
            if not cell.output_summary.error or not context.state.cells.knows(runner.place.document.path, cell.id):
                has_run = not cell.output_summary.error and cell.id not in await runner.not_run()
                idle = asks_to_mend(since.words) or all(call.is_error for call in since.calls)
                if has_run and idle and not _RUNS.search(since.words):
                    raise ToolFailed(f"{same_code(arguments.cell)} Change cell {arguments.cell}.")
                return await runner.ran([cell.id])
            code = await runner.corrected(cell)
            if code == cell.source:
                raise ToolFailed(f"{same_code(arguments.cell)} It fails. Change cell {arguments.cell}.")
        self._check(arguments.cell, old, code, others, since)
        before = await runner.shown()
        tried.tried(cell.id, cell.source)
        now = await runner.changed([CellOperation(op="replace", cell=cell.id, source=code)])
        if isinstance(now, ToolResult):
            return now
        ran = await now.ran([now.cell(arguments.cell).id], with_those_below=True)
        if ran.is_error or failed_in(str(ran.content)) is not None:
            return ran
        problem = not_as_asked(since.words, before, now.last_shown, [code, old])
        if problem is None:
            tried.worked(cell.id)
            return ran
        return ToolResult(f"{ran.content}\n{problem} Change cell {arguments.cell}.", is_error=True)

    def _check(self, number: int, old: str, new: str, others: Sequence[str], since: SinceAsked) -> None:
        """Raises ToolFailed for a change that cannot be what was asked for."""
        mends = asks_to_mend(since.words)
        if mends and same_meaning(old, new):
            raise ToolFailed(f"{same_code(number)} It is wrong. Change cell {number}.")
        expected = expected_number(since.words)
        if mends and written_in(new, old, expected):
            raise ToolFailed(f"{expected:g} has to be computed, not written into the code. Change cell {number}.")
        if _TAKES_AWAY.search(since.words) or _left_out(since) >= _MOST_TIMES:
            return
        lost = lost_names(old, new, others) or (lost_texts(old, new) if mends or keeps_results(since.words) else [])
        if lost:
            raise ToolFailed(
                f"{_LEFT_OUT} {' and '.join(map(repr, lost[:_MOST_LOST]))}. Keep it. Change cell {number}."
            )

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        return _preview({"op": "replace", "cell": partial.get("cell"), "source": partial.get("code")}, context)


class RunCellArguments(ToolArguments):
    """The arguments of ``run_cell``."""

    cell: Number | Literal["all"]
    """Its number, or all."""


class RunCell(CompoundTool[RunCellArguments]):
    """Runs a cell that is there."""

    name: ClassVar[str] = "run_cell"
    group: ClassVar[ToolGroup | None] = "command"
    parts: ClassVar[tuple[str, ...]] = ("run_cells",)
    description: ClassVar[str] = 'the number of a cell to run again as it is, or "all".'

    async def _run(self, arguments: RunCellArguments, context: ToolContext) -> ToolResult:
        runner = await CellRunner.of(context)
        if arguments.cell == "all":
            return await runner.ran([c.id for c in runner.snapshot.cells if c.cell_type == "code" and c.source.strip()])
        return await runner.ran([runner.code_cell(arguments.cell).id])


class RenameVariableArguments(ToolArguments):
    """The arguments of ``rename_variable``."""

    old: Word
    """Its name."""
    new: Word
    """The name it gets."""


class RenameVariable(CompoundTool[RenameVariableArguments]):
    """Calls a variable otherwise wherever it is used."""

    name: ClassVar[str] = "rename_variable"
    group: ClassVar[ToolGroup | None] = "command"
    parts: ClassVar[tuple[str, ...]] = ("edit_cells", "run_cells")
    description: ClassVar[str] = "gives a variable, function or column another name in all cells, which are run again."

    async def _run(self, arguments: RenameVariableArguments, context: ToolContext) -> ToolResult:
        old, new = arguments.old, arguments.new
        runner = await CellRunner.of(context)
        code = [cell for cell in runner.snapshot.cells if cell.cell_type == "code"]
        changed = {cell.id: source for cell in code if (source := renamed(cell.source, old, new)) != cell.source}
        if changed and (not new.isidentifier() or keyword.iskeyword(new)):
            raise ToolFailed(f"{new} cannot be the name of a variable.")
        # Else it is a column, or a key.
        changed = changed or {
            cell.id: source for cell in code if (source := requoted(cell.source, old, new)) != cell.source
        }
        if not changed:
            raise ToolFailed(f"No cell has a variable or a column {old}.")
        taken = [runner.snapshot.index(cell.id) + 1 for cell in code if new in made_names(cell.source)]
        if taken:
            raise ToolFailed(f"Cell {taken[0]} has another variable {new} already.")
        now = await runner.changed(
            [CellOperation(op="replace", cell=cell_id, source=source) for cell_id, source in changed.items()]
        )
        if isinstance(now, ToolResult):
            return now
        places = [runner.snapshot.index(cell_id) for cell_id in changed]
        ran = await now.ran([now.snapshot.cells[place].id for place in places])
        if ran.is_error or not isinstance(ran.content, str):
            return ran
        named = ", ".join(str(place + 1) for place in places)
        return ToolResult(f"{old} is {new} now in cells {named}.\n{ran.content}")


class AddTextArguments(ToolArguments):
    """The arguments of ``add_text``."""

    text: Source
    """Markdown."""
    place: Literal["top", "end"]
    """Where it goes."""


class AddText(CompoundTool[AddTextArguments]):
    """Adds a cell of text."""

    name: ClassVar[str] = "add_text"
    group: ClassVar[ToolGroup | None] = "edit"
    parts: ClassVar[tuple[str, ...]] = ("edit_cells",)
    description: ClassVar[str] = 'a new text cell in Markdown, for headings and notes, at "top" or "end".'

    async def _run(self, arguments: AddTextArguments, context: ToolContext) -> ToolResult:
        runner = await CellRunner.of(context)
        text = as_heading(arguments.text.replace("\\n", "\n"), (await context.flow.since_asked()).words)
        after = "start" if arguments.place == "top" else None
        change = CellOperation(op="insert", source=text, cell_type="markdown", after=after)
        return _done(await runner.changed([change]), "The text was added.")


class DeleteCellArguments(ToolArguments):
    """The arguments of ``delete_cell``."""

    cell: Number
    """Its number."""


class DeleteCellTool(CompoundTool[DeleteCellArguments]):
    """Takes a cell away."""

    name: ClassVar[str] = "delete_cell"
    group: ClassVar[ToolGroup | None] = "edit"
    parts: ClassVar[tuple[str, ...]] = ("edit_cells",)
    description: ClassVar[str] = "the number of a cell to take away, only if the person asks for that."

    async def _run(self, arguments: DeleteCellArguments, context: ToolContext) -> ToolResult:
        runner = await CellRunner.of(context)
        change = CellOperation(op="delete", cell=runner.cell(arguments.cell).id)
        return _done(await runner.changed([change]), f"Cell {arguments.cell} is gone; those below it moved up.")


async def _begun(context: ToolContext) -> SinceAsked:
    """What was asked and done so far; with the first step, what was tried for other words is forgotten."""
    since = await context.flow.since_asked()
    if not since.calls:
        context.state.tried.forget()
    return since


async def _ready(given: str, runner: CellRunner, own: CellId | None) -> str:
    """The code as it can be put into the notebook. Raises ToolFailed for what is no Python."""
    context, path = runner.context, runner.place.path
    kernel = await context.notebooks.kernel(path)
    language = await language_of(runner.snapshot, kernel, context)
    if language is not None and not language.lower().startswith("python"):
        return given
    code = mended(given)
    problem = syntax_problem(code)
    if problem is not None:
        raise ToolFailed(f"This is no valid Python, so nothing was done: {problem}")
    if not code.strip():
        raise ToolFailed("There is no code in it, so nothing was done.")
    if has_gaps(code):
        raise ToolFailed("Write code where it says `...`. Nothing was done.")
    sources = [cell.source for cell in runner.snapshot.cells if cell.cell_type == "code"]
    left_out = forgotten(code, await context.flow.since_asked(), sources)
    if left_out is not None:
        raise ToolFailed(left_out)
    missing = await _missing(code, runner, own, has_kernel=kernel is not None)
    folder = runner.place.checked.path.parent
    files = await in_thread(lambda _stop: table_files(folder, missing, context.paths)) if missing else {}
    if files:
        # Of a table that nobody has read, a small model forgets just that.
        code = with_reads(code, files)
        missing = await _missing(code, runner, own, has_kernel=kernel is not None)
    return with_imports(code, missing)


async def _missing(code: str, runner: CellRunner, own: CellId | None, *, has_kernel: bool) -> list[str]:
    """The names that the code uses, and that neither another cell makes nor the kernel has."""
    made = {name for cell in runner.snapshot.cells if cell.id != own for name in made_names(cell.source)}
    missing = [name for name in wanted_names(code) if name not in made]
    if not missing or not has_kernel:
        return missing
    try:
        report = await runner.context.notebooks.executor.inspect(runner.place.path, names=missing)
    except HdspAgentError:
        return missing
    return [name for name in missing if name in report.missing]


def _left_out(since: SinceAsked) -> int:
    return sum(call.is_error and _LEFT_OUT in call.result for call in since.calls)


def _done(now: CellRunner | ToolResult, words: str) -> ToolResult:
    if isinstance(now, ToolResult):
        return now
    return ToolResult(f"The person says: {now.said}\n{words}" if now.said else words)


def _preview(operation: JsonObject, context: ToolContext) -> str | None:
    return EditCells().preview({"operations": [operation]}, context)
