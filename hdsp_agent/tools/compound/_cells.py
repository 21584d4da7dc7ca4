"""Steps that change the notebook: each is shown for approval as what it is, and run at once."""

from __future__ import annotations

import keyword
import re
from typing import Annotated, ClassVar, Final, Literal, TypeVar

from pydantic import Field, StringConstraints

from ...config import ToolGroup
from ...errors import HdspAgentError
from ...messages import CellId, JsonObject
from .._tool import SimpleTool, ToolArguments, ToolContext, ToolFailed, ToolResult
from ..notebook._doing import language_of
from ..notebook._editing import EditCells, new_id
from ..notebook._operations import CellOperation
from ..notebook._place import failing_in_words
from ._asked import as_heading, forgotten, labelled, only_labels
from ._code import made_names, mended, renamed, requoted, spliced, syntax_problem, wanted_names, with_imports
from ._doing import Bench

__all__ = ["AddCell", "AddText", "CompoundTool", "DeleteCell", "EditCell", "RenameVariable", "RunCell"]

Source = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Number = Annotated[int, Field(ge=1, le=100_000)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
_TAKES_AWAY: Final = re.compile(
    r"\b(?:remove|delete|drop|without|get rid of|only|simplify|shorten|rewrite)\b|삭제|제거|지워|빼|削除|消|除",
    re.IGNORECASE,
)
_RUNS: Final = re.compile(r"\b(?:re-?)?run\b|\bexecute\b|실행|実行", re.IGNORECASE)
A = TypeVar("A", bound=ToolArguments)


class CompoundTool(SimpleTool[A]):
    """A tool that does a whole step by means of others; it is there where all of those are."""

    parts: ClassVar[tuple[str, ...]]


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
    Arguments: type[AddCellArguments] = AddCellArguments

    async def _run(self, arguments: AddCellArguments, context: ToolContext) -> ToolResult:
        bench = await Bench.of(context)
        code = await _ready(arguments.code, bench, None)
        drawing = bench.drawing()
        if drawing is not None and only_labels(code):
            raise ToolFailed(f"A plot is labelled in the cell that draws it. Change cell {drawing} instead.")
        last = bench.snapshot.cells[-1] if bench.snapshot.cells else None
        again = new_id(context.task_id, bench.snapshot.path, 0, code)
        # A step that is taken up after a restart may have been done in part.
        if any(cell.id == again and cell.source == code for cell in bench.snapshot.cells):
            return await bench.ran([again])
        if last is not None and last.cell_type == "code" and not last.source.strip():
            change = CellOperation(op="replace", cell=last.id, source=code)
        else:
            change = CellOperation(op="insert", source=code)
        before = {cell.id for cell in bench.snapshot.cells if cell is not last or change.op == "insert"}
        now = await bench.changed([change])
        if isinstance(now, ToolResult):
            return now
        return await now.ran([cell.id for cell in now.snapshot.cells if cell.id not in before][-1:])

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        """The code so far."""
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
    Arguments: type[EditCellArguments] = EditCellArguments

    async def _run(self, arguments: EditCellArguments, context: ToolContext) -> ToolResult:
        bench = await Bench.of(context)
        cell = bench.code_cell(arguments.cell)
        code = mended(arguments.code)
        if not _TAKES_AWAY.search((await context.flow.since_asked()).words):
            code = spliced(cell.source, code)
        if only_labels(code) and cell.output_summary.images:
            code = labelled(cell.source, code)
        code = await _ready(code, bench, cell.id)
        if code.strip() == cell.source.strip():
            if not cell.output_summary.error or not context.state.cells.knows(bench.place.document.path, cell.id):
                since = await context.flow.since_asked()
                has_run = not cell.output_summary.error and cell.id not in await bench.not_run()
                if has_run and all(call.is_error for call in since.calls) and not _RUNS.search(since.words):
                    raise ToolFailed(f"This is the code that cell {arguments.cell} has. Change cell {arguments.cell}.")
                return await bench.ran([cell.id])
            code = await bench.corrected(cell)
            if code == cell.source:
                raise ToolFailed(f"This is the code that cell {arguments.cell} has, and it fails. Change it.")
        now = await bench.changed([CellOperation(op="replace", cell=cell.id, source=code)])
        if isinstance(now, ToolResult):
            return now
        return await now.ran([now.cell(arguments.cell).id], with_those_below=True)

    def preview(self, partial: JsonObject, context: ToolContext) -> str | None:
        """The code so far."""
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
    Arguments: type[RunCellArguments] = RunCellArguments

    async def _run(self, arguments: RunCellArguments, context: ToolContext) -> ToolResult:
        bench = await Bench.of(context)
        if arguments.cell == "all":
            return await bench.ran([c.id for c in bench.snapshot.cells if c.cell_type == "code" and c.source.strip()])
        return await bench.ran([bench.code_cell(arguments.cell).id])


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
    Arguments: type[RenameVariableArguments] = RenameVariableArguments

    async def _run(self, arguments: RenameVariableArguments, context: ToolContext) -> ToolResult:
        old, new = arguments.old, arguments.new
        bench = await Bench.of(context)
        code = [cell for cell in bench.snapshot.cells if cell.cell_type == "code"]
        changed = {cell.id: source for cell in code if (source := renamed(cell.source, old, new)) != cell.source}
        if changed and (not new.isidentifier() or keyword.iskeyword(new)):
            raise ToolFailed(f"{new} cannot be the name of a variable.")
        # Else it is a column, or a key.
        changed = changed or {
            cell.id: source for cell in code if (source := requoted(cell.source, old, new)) != cell.source
        }
        if not changed:
            raise ToolFailed(f"No cell has a variable or a column {old}.")
        taken = [bench.snapshot.index(cell.id) + 1 for cell in code if new in made_names(cell.source)]
        if taken:
            raise ToolFailed(f"Cell {taken[0]} has another variable {new} already.")
        now = await bench.changed(
            [CellOperation(op="replace", cell=cell_id, source=source) for cell_id, source in changed.items()]
        )
        if isinstance(now, ToolResult):
            return now
        places = [bench.snapshot.index(cell_id) for cell_id in changed]
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
    Arguments: type[AddTextArguments] = AddTextArguments

    async def _run(self, arguments: AddTextArguments, context: ToolContext) -> ToolResult:
        bench = await Bench.of(context)
        text = as_heading(arguments.text.replace("\\n", "\n"), (await context.flow.since_asked()).words)
        after = "start" if arguments.place == "top" else None
        change = CellOperation(op="insert", source=text, cell_type="markdown", after=after)
        return _done(await bench.changed([change]), "The text was added.")


class DeleteCellArguments(ToolArguments):
    """The arguments of ``delete_cell``."""

    cell: Number
    """Its number."""


class DeleteCell(CompoundTool[DeleteCellArguments]):
    """Takes a cell away."""

    name: ClassVar[str] = "delete_cell"
    group: ClassVar[ToolGroup | None] = "edit"
    parts: ClassVar[tuple[str, ...]] = ("edit_cells",)
    description: ClassVar[str] = "the number of a cell to take away, only if the person asks for that."
    Arguments: type[DeleteCellArguments] = DeleteCellArguments

    async def _run(self, arguments: DeleteCellArguments, context: ToolContext) -> ToolResult:
        bench = await Bench.of(context)
        change = CellOperation(op="delete", cell=bench.cell(arguments.cell).id)
        return _done(await bench.changed([change]), f"Cell {arguments.cell} is gone; those below it moved up.")


async def _ready(given: str, bench: Bench, own: CellId | None) -> str:
    """The code as it can be put into the notebook. Raises ToolFailed for what is no Python."""
    context, path = bench.context, bench.place.path
    kernel = await failing_in_words(context.notebooks.kernel(path))
    language = await language_of(bench.snapshot, kernel, context)
    if language is not None and not language.lower().startswith("python"):
        return given
    code = mended(given)
    problem = syntax_problem(code)
    if problem is not None:
        raise ToolFailed(f"This is no valid Python, so nothing was done: {problem}")
    if not code.strip():
        raise ToolFailed("There is no code in it, so nothing was done.")
    sources = [cell.source for cell in bench.snapshot.cells if cell.cell_type == "code"]
    left_out = forgotten(code, await context.flow.since_asked(), sources)
    if left_out is not None:
        raise ToolFailed(left_out)
    made = {name for cell in bench.snapshot.cells if cell.id != own for name in made_names(cell.source)}
    missing = [name for name in wanted_names(code) if name not in made]
    if missing and kernel is not None:
        try:
            report = await context.notebooks.executor.inspect(path, names=missing)
            missing = [name for name in missing if name in report.missing]
        except HdspAgentError:
            pass
    return with_imports(code, missing)


def _done(now: Bench | ToolResult, words: str) -> ToolResult:
    if isinstance(now, ToolResult):
        return now
    return ToolResult(f"The person says: {now.said}\n{words}" if now.said else words)


def _preview(operation: JsonObject, context: ToolContext) -> str | None:
    return EditCells().preview({"operations": [operation]}, context)
