"""Steps that change the notebook: each is shown for approval as what it is, run at once, and looked at for its effect."""

from __future__ import annotations

import keyword
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal, TypeVar

from pydantic import Field, JsonValue, StringConstraints

from ..._threads import in_thread
from ...config import ToolGroup
from ...errors import HdspAgentError
from ...messages import CellId, EndingCheck, JsonObject
from ...notebooks import Cell
from .._changed_cells import ChangedCell
from .._tool import SimpleTool, SinceAsked, ToolArguments, ToolContext, ToolResult
from .._tool_failed import ToolFailed
from ..notebook._code_runner import language_of
from ..notebook._edit_cells import EditCells, new_id
from ..notebook._notebook_location import cell_asked_at
from ..notebook._operations import CellOperation
from ._cell_runner import CellRunner, StepRun
from ._checks import (
    calls_in,
    does_nothing,
    fix_problem,
    is_other_code,
    lost_names,
    made_below,
    mentions,
    orphaned_name,
    same_meaning,
    still_has,
)
from ._code import (
    is_library,
    made_names,
    mended,
    parsed,
    renamed,
    requoted,
    spliced,
    syntax_problem,
    usual_imports,
    wanted_names,
    with_imports,
)
from ._endings import done_at_cell, not_done, steps_are_over, told_by_output
from ._missing_tables import file_columns, meant_table, name_for, table_files, takes_columns, with_reads
from ._names import asked_names, is_question, repeats, said_cells
from ._picture_check import is_empty_picture, pictures_in
from ._step_report import AGAIN, is_effect
from ._target_cell import candidates, cell_with_all_of, is_identified, meant_cell

__all__ = ["AddCell", "AddText", "CompoundTool", "DeleteCellTool", "EditCell", "RenameVariable", "RunCell"]

Source = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Number = Annotated[int, Field(ge=1, le=100_000)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
_HAS_IT: Final = "Most of this is what cell {number} has, and the person means that one. Change cell {number}."
_UNKNOWN_NAMES: Final = frozenset({"KeyError", "NameError", "AttributeError", "FileNotFoundError"})
_MAKES_UNSEEN: Final = ("import *", "%run", "%load", "exec(")
"""What makes names that do not stand in the code."""
A = TypeVar("A", bound=ToolArguments)


class CompoundTool(SimpleTool[A]):
    """A tool that does a whole step by means of others; it is there where all of those are."""

    parts: ClassVar[tuple[str, ...]]

    async def run(self, arguments: ToolArguments, context: ToolContext) -> ToolResult:
        """Do it, unless it was done. After too many steps the task is ended. What is sent back counts as no mistake."""
        since = await context.flow.since_asked()
        if self._was_done(arguments, since):
            if any(call.result == AGAIN for call in since.calls):
                return await told_by_output(since, context)
            return ToolResult(AGAIN)
        result = replace(await super().run(arguments, context), counts=False)
        if self.name != "answer" and steps_are_over(since, failed=result.is_error):
            return await not_done("steps", str(result.content), context)
        return result

    def _was_done(self, arguments: ToolArguments, since: SinceAsked) -> bool:
        """Whether this very call has worked. A cell may be run, or get an earlier code, again after others."""
        given = arguments.model_dump(mode="json")
        done = [(call.name, call.arguments) for call in since.calls if is_effect(call)]
        return (self.name, given) in (done[-1:] if self.name in ("run_cell", "edit_cell") else done)


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
        _check_whole("code", "Write less of it at once.", context)
        runner = await CellRunner.of(context)
        code = await _ready(arguments.code, runner, None)
        since = await context.flow.since_asked()
        last = runner.snapshot.cells[-1] if runner.snapshot.cells else None
        again = new_id(context.task_id, runner.snapshot.path, 0, code)
        # A step that is taken up after a restart may have been done in part.
        if any(cell.id == again and cell.source == code for cell in runner.snapshot.cells):
            return await _looked_at(await runner.ran([again]), again, runner)
        meant = await cell_with_all_of(code, runner, since)
        told = _HAS_IT.format(number=meant)
        if meant is not None and all(call.result != told for call in since.calls):
            raise ToolFailed(told)
        if last is not None and last.cell_type == "code" and not last.source.strip():
            change = CellOperation(op="replace", cell=last.id, source=code)
        else:
            change = CellOperation(op="insert", source=code)
        before = {cell.id for cell in runner.snapshot.cells if cell is not last or change.op == "insert"}
        now = await runner.changed([change])
        if isinstance(now, ToolResult):
            return now
        added = next(cell.id for cell in reversed(now.snapshot.cells) if cell.id not in before)
        return await _looked_at(await now.ran([added]), added, now)

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        return _preview({"op": "insert", "source": partial.get("code")}, context)


class EditCellArguments(ToolArguments):
    """The arguments of ``edit_cell``."""

    cell: Number
    """Its number."""
    code: Source
    """The whole new code."""


class EditCell(CompoundTool[EditCellArguments]):
    """Changes a cell that the request means, and runs it. Asked for at a cell, it changes that one, and runs nothing."""

    name: ClassVar[str] = "edit_cell"
    group: ClassVar[ToolGroup | None] = "command"
    parts: ClassVar[tuple[str, ...]] = ("edit_cells", "run_cells")
    description: ClassVar[str] = "the number of a cell and its whole new code, which is run. To fix or change a cell."

    async def _run(self, arguments: EditCellArguments, context: ToolContext) -> ToolResult:
        runner = await CellRunner.of(context)
        since = await context.flow.since_asked()
        asked_at = cell_asked_at(runner.place, context)
        if asked_at is not None:
            return await self._at_cell(asked_at, arguments.code, runner, since)
        cell = runner.cell(arguments.cell)
        if cell.cell_type != "code":
            raise ToolFailed(f"Cell {arguments.cell} holds text. Add a new cell for the code.")
        _check_whole("code", "Add a new cell for what is new.", context)
        code = await _ready(spliced(cell.source, mended(arguments.code)), runner, cell.id)
        if same_meaning(cell.source, code):
            raise ToolFailed(f"This is the code that cell {arguments.cell} has. Change cell {arguments.cell}.")
        told = await meant_cell(arguments.cell, runner, since, code)
        before = await runner.before(cell.id)
        _check(arguments.cell, code, before, runner, is_told=bool(told) or arguments.cell in said_cells(since.words))
        now = await runner.changed([CellOperation(op="replace", cell=cell.id, source=code)])
        if isinstance(now, ToolResult):
            return now
        edited = now.cell(arguments.cell).id
        ran = await now.ran([edited], with_those_below=True)
        fixed = await _fixed(arguments.cell, now.cell(arguments.cell).source, before, now)
        return _with(told, await _looked_at(ran, edited, now, *fixed))

    async def _at_cell(self, cell_id: CellId, given: str, runner: CellRunner, since: SinceAsked) -> ToolResult:
        number = next((at for at, one in enumerate(runner.snapshot.cells, 1) if one.id == cell_id), None)
        if number is None:
            return await not_done("gone", "", runner.context)
        cell = runner.cell(number)
        if sum(call.is_error and call.arguments.get("code") == given for call in since.calls) > 1:
            # It was sent back as it is, and livelier requests did not help.
            return await not_done("no_answer", "", runner.context)
        if runner.context.flow.answer_is_cut:
            # The cell would lose its end, and the next answer would be as long.
            return await not_done("too_long", "", runner.context)
        source = given.strip("\n")
        if cell.cell_type == "code" and not await _is_python(runner):
            source = mended(given)
        elif cell.cell_type == "code":
            code = spliced(cell.source, mended(given))
            source = await _ready(code, runner, cell.id, may_do_nothing=True)
            await _check_names(number, source, cell, runner)
            if not any(call.is_error for call in since.calls):
                # What the model writes in its place may be what the person wants, who looks at it.
                _check(number, source, await runner.before(cell.id), runner, is_told=True)
        if source == cell.source:
            raise ToolFailed(f"This is what cell {number} has already. Change cell {number}.")
        now = await runner.changed([CellOperation(op="replace", cell=cell.id, source=source)])
        if isinstance(now, ToolResult):
            return now
        await now.worked(now.cell(number).id)
        return await done_at_cell(number, runner.context)

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        asked_at = context.state.allowed_edits.cell
        cell = partial.get("cell") if asked_at is None else asked_at[1]
        return _preview({"op": "replace", "cell": cell, "source": partial.get("code")}, context)


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
        since = await context.flow.since_asked()
        if arguments.cell == "all":
            # It is what the person asks for if the model begins with it.
            asked_for = not since.calls and not is_question(since.words)
            cells = [cell.id for cell in runner.snapshot.cells if cell.cell_type == "code" and cell.source.strip()]
            return (await runner.ran(cells, asked_for=asked_for)).result
        cell = runner.code_cell(arguments.cell)
        asked_for = arguments.cell in said_cells(since.words) or is_identified(
            arguments.cell, await candidates(runner), since.words, code=cell.source
        )
        return (await runner.ran([cell.id], asked_for=asked_for)).result


class RenameVariableArguments(ToolArguments):
    """The arguments of ``rename_variable``."""

    old: Word
    """Its name."""
    new: Word
    """The name it gets."""


class RenameVariable(CompoundTool[RenameVariableArguments]):
    """Calls something otherwise wherever it is used, if the request names both."""

    name: ClassVar[str] = "rename_variable"
    group: ClassVar[ToolGroup | None] = "command"
    parts: ClassVar[tuple[str, ...]] = ("edit_cells", "run_cells")
    description: ClassVar[str] = "gives a variable, function or column another name in all cells, which are run again."

    async def _run(self, arguments: RenameVariableArguments, context: ToolContext) -> ToolResult:
        old, new = arguments.old, arguments.new
        runner = await CellRunner.of(context)
        words = (await context.flow.since_asked()).words
        unsaid = [name for name in (old, new) if name not in asked_names([old, new], words).exact]
        if unsaid:
            raise ToolFailed(f"The request does not name {unsaid[0]}. Use the names that it gives.")
        code = [cell for cell in runner.snapshot.cells if cell.cell_type == "code"]
        changed = {cell.id: source for cell in code if (source := renamed(cell.source, old, new)) != cell.source}
        if changed and (not new.isidentifier() or keyword.iskeyword(new)):
            raise ToolFailed(f"{new} cannot be the name of a variable.")
        if not changed:
            # Then it is a column, or a key. Of two that are there already, one is not to become the other.
            columns = {name for one in await runner.variables(None) for name, _ in one.columns}
            if new in columns or any(still_has(cell.source, new) for cell in code):
                raise ToolFailed(f"There is a column {new} already.")
            changed = {cell.id: source for cell in code if (source := requoted(cell.source, old, new)) != cell.source}
        if not changed:
            raise ToolFailed(f"No cell has a variable or a column {old}.")
        taken = [runner.snapshot.index(cell.id) + 1 for cell in code if new in made_names(cell.source)]
        if taken:
            raise ToolFailed(f"Cell {taken[0]} has another variable {new} already.")
        left = [cell_id for cell_id, source in changed.items() if still_has(source, old)]
        if left:
            raise ToolFailed(f"Cell {runner.snapshot.index(left[0]) + 1} uses {old} in a way that cannot be renamed.")
        now = await runner.changed(
            [CellOperation(op="replace", cell=cell_id, source=source) for cell_id, source in changed.items()]
        )
        if isinstance(now, ToolResult):
            return now
        places = [runner.snapshot.index(cell_id) for cell_id in changed]
        cells = [now.snapshot.cells[place].id for place in places]
        ran = await now.ran(cells, with_those_below=True)
        if not ran.works:
            return ran.result
        for cell_id in cells:
            await now.worked(cell_id)
        if not any(mentions(source, old) for source in now.code()):
            await now.worked(cells[0], EndingCheck(code="renamed", params={"old": old, "new": new}))
        return _with(f"{old} is {new} now in cells {', '.join(str(place + 1) for place in places)}.", ran.result)


class AddTextArguments(ToolArguments):
    """The arguments of ``add_text``."""

    kind: Literal["heading", "text"]
    """What it is."""
    text: Source
    """Markdown."""
    place: Literal["top", "end"]
    """Where it goes."""


class AddText(CompoundTool[AddTextArguments]):
    """Adds a cell of text."""

    name: ClassVar[str] = "add_text"
    group: ClassVar[ToolGroup | None] = "edit"
    parts: ClassVar[tuple[str, ...]] = ("edit_cells",)
    description: ClassVar[str] = 'a new text cell: a "heading", or a "text" in Markdown, at "top" or "end".'

    async def _run(self, arguments: AddTextArguments, context: ToolContext) -> ToolResult:
        _check_whole("text", "Write a shorter one.", context)
        runner = await CellRunner.of(context)
        text = arguments.text.replace("\\n", "\n")
        if repeats(text, (await context.flow.since_asked()).words):
            raise ToolFailed("This is the request itself. Write the text that the person wants.")
        if arguments.kind == "heading" and not text.startswith("#"):
            text = f"# {text}" if arguments.place == "top" else f"## {text}"
        after = "start" if arguments.place == "top" else None
        now = await runner.changed([CellOperation(op="insert", source=text, cell_type="markdown", after=after)])
        if isinstance(now, ToolResult):
            return now
        return await _settled(now, now.snapshot.cells[0 if after else -1].id, "The text was added.")


class DeleteCellArguments(ToolArguments):
    """The arguments of ``delete_cell``."""

    cell: Number
    """Its number."""


class DeleteCellTool(CompoundTool[DeleteCellArguments]):
    """Takes a cell away that the request means."""

    name: ClassVar[str] = "delete_cell"
    group: ClassVar[ToolGroup | None] = "edit"
    parts: ClassVar[tuple[str, ...]] = ("edit_cells",)
    description: ClassVar[str] = "the number of a cell to take away, only if the person asks for that."

    async def _run(self, arguments: DeleteCellArguments, context: ToolContext) -> ToolResult:
        runner = await CellRunner.of(context)
        cell = runner.cell(arguments.cell)
        told = await meant_cell(arguments.cell, runner, await context.flow.since_asked())
        now = await runner.changed([CellOperation(op="delete", cell=cell.id)])
        if isinstance(now, ToolResult):
            return now
        gone = EndingCheck(code="deleted", params={"cell": arguments.cell})
        return _with(
            told, await _settled(now, cell.id, f"Cell {arguments.cell} is gone; those below it moved up.", gone)
        )


async def _is_python(runner: CellRunner) -> bool:
    """Whether the notebook's code is Python, as it is taken to be where nothing says what it is."""
    kernel = await runner.context.notebooks.kernel(runner.place.path)
    language = await language_of(runner.snapshot, kernel, runner.context)
    return language is None or language.lower().startswith("python")


def _check_whole(what: str, instead: str, context: ToolContext) -> None:
    """Raises ToolFailed for what the model did not write to its end, though it may look whole."""
    if context.flow.answer_is_cut:
        raise ToolFailed(f"The {what} is too long and was cut off, so nothing was done. {instead}")


async def _ready(given: str, runner: CellRunner, own: CellId | None, *, may_do_nothing: bool = False) -> str:
    """The code as it can be put into the notebook. Raises ToolFailed for what is no Python."""
    context, path = runner.context, runner.place.path
    if not await _is_python(runner):
        return given
    kernel = await context.notebooks.kernel(path)
    code = mended(given)
    problem = syntax_problem(code)
    if problem is not None:
        raise ToolFailed(f"This is no valid Python, so nothing was done: {problem}")
    if does_nothing(code) and not may_do_nothing:
        raise ToolFailed("There is no code in it that does anything, so nothing was done.")
    missing = await _missing(code, runner, own, has_kernel=kernel is not None)
    folder = runner.place.checked.path.parent
    files = await in_thread(lambda _stop: table_files(folder, missing, context.paths)) if missing else {}
    if files:
        # Of a table that nobody has read, a small model forgets just that.
        code = with_reads(code, files)
        missing = await _missing(code, runner, own, has_kernel=kernel is not None)
    if missing:
        code = await _of_what_there_is(code, missing, runner)
        missing = await _missing(code, runner, own, has_kernel=kernel is not None)
    made = {name for cell in runner.snapshot.cells if cell.id != own for name in made_names(cell.source)}
    return with_imports(code, list(dict.fromkeys([*missing, *usual_imports(code, made)])))


async def _of_what_there_is(code: str, missing: Sequence[str], runner: CellRunner) -> str:
    """The code with the table that has the columns, or else the only one, where it takes them from one that is not there."""
    variables = await runner.variables(None)
    tables = {one.name: [name for name, _ in one.columns] for one in variables if one.columns}
    folder = runner.place.checked.path.parent
    files = await in_thread(lambda _stop: file_columns(folder, runner.context.paths))
    for name in (name for name in missing if not is_library(name)):
        table, file = meant_table(code, name, tables), meant_table(code, name, files)
        if table is None and file is None and takes_columns(code, name):
            # Then the model hears which columns there are.
            table, file = _only(tables), None if tables else _only(files)
        if table is not None:
            code = renamed(code, name, table)
        elif file is not None:
            new = name_for(file, [one.name for one in variables])
            code = with_reads(renamed(code, name, new), {new: file})
    return code


def _only(names: Collection[str]) -> str | None:
    return next(iter(names)) if len(names) == 1 else None


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


def _check(number: int, code: str, before: ChangedCell, runner: CellRunner, *, is_told: bool) -> None:
    """Raises ToolFailed for a change of a cell that breaks something, or is none."""
    cells, again = runner.snapshot.cells, f"Change cell {number}."
    old = before.source if before.source is not None else cells[number - 1].source
    name = made_below(old, code, runner.code(cells[: number - 1]), runner.code(cells[number:]))
    if name is not None:
        raise ToolFailed(f"{name} is made in a cell below, so it cannot be used here. {again}")
    if before.failure is not None:
        problem = fix_problem(old, code, before.failure)
        if problem is not None:
            raise ToolFailed(f"{problem} {again}")
    elif not is_told and before.source is not None and is_other_code(old, code):
        raise ToolFailed(f"This has next to nothing of the code of cell {number}. Add a new cell for it.")
    orphan = orphaned_name(old, code, runner.code(cells[: number - 1]))
    if orphan is not None:
        raise ToolFailed(f"{orphan} is used here, and nothing makes it any more. {again}")
    lost = lost_names(old, code, runner.code([*cells[: number - 1], *cells[number:]]))
    if lost:
        raise ToolFailed(f"Other cells use {' and '.join(lost)}, so it has to be made still. {again}")


async def _check_names(number: int, code: str, cell: Cell, runner: CellRunner) -> None:
    """Raises ToolFailed for a name that is new here and that nothing makes: nobody runs the cell to find that out."""
    if any(unseen in source for source in runner.code() for unseen in _MAKES_UNSEEN):
        return
    has_kernel = await runner.context.notebooks.kernel(runner.place.path) is not None
    known = wanted_names(cell.source)
    missing = [name for name in await _missing(code, runner, cell.id, has_kernel=has_kernel) if name not in known]
    if missing:
        raise ToolFailed(f"There is no {missing[0]}. Use what there is. Change cell {number}.")


async def _fixed(number: int, code: str, before: ChangedCell, runner: CellRunner) -> list[EndingCheck]:
    """That a cell which failed was mended, where its calls tell that it still does what it was to do."""
    failure, old = before.failure, before.source
    if failure is None or old is None or parsed(old) is None:
        return []
    meant = await runner.meant(failure)
    if (meant is None and failure.ename in _UNKNOWN_NAMES) or (meant is not None and meant not in code):
        # Any other name would run as well.
        return []
    calls: list[JsonValue] = [name for name in calls_in(old, failure.line) if name in calls_in(code)]
    return [EndingCheck(code="fixed", params={"cell": number, "calls": calls})]


async def _looked_at(ran: StepRun, cell: CellId, runner: CellRunner, *checks: EndingCheck) -> ToolResult:
    """The result of a cell that was added or changed, with what was seen of it."""
    if not ran.works:
        return ran.result
    number = runner.snapshot.index(cell) + 1
    seen = [EndingCheck(code="runs", params={"cell": number}), *checks]
    pictures = [png for one in ran.cells if one.cell_id == cell for png in pictures_in(one.outputs.outputs)]
    if pictures:
        if await in_thread(lambda _stop: all(map(is_empty_picture, pictures))):
            return ToolResult(f"{ran.words}\nThere is nothing in the picture. Change cell {number}.", is_error=True)
        seen.append(EndingCheck(code="picture", params={"cell": number}))
    await runner.worked(cell, *seen)
    return ran.result


async def _settled(now: CellRunner, cell: CellId, words: str, *checks: EndingCheck) -> ToolResult:
    """The result of a change that runs nothing."""
    await now.worked(cell, *checks)
    return _with(f"The person says: {now.said}" if now.said else "", ToolResult(words))


def _with(words: str, result: ToolResult) -> ToolResult:
    return replace(result, content=f"{words}\n{result.content}") if words else result


def _preview(operation: JsonObject, context: ToolContext) -> str | None:
    return EditCells().preview({"operations": [operation]}, context)
