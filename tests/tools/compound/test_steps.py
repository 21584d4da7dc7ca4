"""Each step does all of its work: the notebook is changed, the kernel has run it, and few words tell of it."""

from __future__ import annotations

from pathlib import Path

from hdsp_agent.messages import CellId, NotebookRef
from hdsp_agent.tools import Approval, PastCall, SimpleTool, SinceAsked, ToolArguments, ToolResult
from hdsp_agent.tools.compound import (
    AddCell,
    AddText,
    DeleteCellTool,
    EditCell,
    RenameVariable,
    RunCell,
    surroundings,
)
from hdsp_agent.tools.compound._missing_tables import with_reads

from ..notebook._helpers.notebook_tasks import NAME, NotebookTask, notebook_task


def asked(task: NotebookTask, words: str, *calls: PastCall) -> None:
    """The person has said this, and these calls followed."""
    task.flow.since = SinceAsked(words, "", calls)


async def do(tool: SimpleTool[ToolArguments], task: NotebookTask, **arguments: object) -> ToolResult:
    result = await tool.run(tool.Arguments.model_validate(arguments), task)
    assert isinstance(result.content, str)
    return result


async def say(tool: object, task: NotebookTask, **arguments: object) -> str:
    assert isinstance(tool, SimpleTool)
    result = await do(tool, task, **arguments)
    assert not result.is_error, result.content
    return str(result.content)


async def fail(tool: object, task: NotebookTask, **arguments: object) -> str:
    assert isinstance(tool, SimpleTool)
    result = await do(tool, task, **arguments)
    assert result.is_error
    return str(result.content)


async def test_a_cell_is_added_and_run_with_what_it_needs(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "rows = [1, 2, 3]", "unrelated = 1 / 0") as task:
        assert await say(AddCell(), task, code="```python\nsum(rows)\n```") == "Cell 3 ran. Output:\n6"
        assert task.sources()[2] == "sum(rows)"
        # The cell above that makes rows had not run; the one that nothing needs was left alone.
        assert [(row["number"], row["state"]) for row in task.executed()] == [(1, "ok"), (3, "ok")]
        kinds = [approved.shown["tool"] for approved in task.approvals]
        assert kinds == ["editCells", "runCells"]
        assert await say(AddCell(), task, code="math.floor(2.5)\\nbig = 7") == "Cell 4 ran without output. big: int = 7"
        assert task.sources()[3] == "import math\n\nmath.floor(2.5)\nbig = 7"
        # Taken up again after a restart, what was done is not done twice.
        assert await say(AddCell(), task, code="sum(rows)") == "Cell 3 ran. Output:\n6"
        assert len(task.sources()) == 4


async def test_an_empty_last_cell_is_used_and_no_python_changes_nothing(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "") as task:
        assert "no valid Python" in await fail(AddCell(), task, code="for x in (")
        assert task.sources() == [""] and not task.approvals
        await say(AddCell(), task, code="1 + 1")
        assert task.sources() == ["1 + 1"]


async def test_what_the_model_did_not_write_to_its_end_is_not_done(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "n = 1") as task:
        task.flow.answer_is_cut = True
        assert "was cut off" in await fail(AddCell(), task, code="n = 2")
        assert "was cut off" in await fail(EditCell(), task, cell=1, code="n = 2")
        assert "was cut off" in await fail(AddText(), task, kind="text", text="It is", place="end")
        assert task.sources() == ["n = 1"] and not task.approvals


async def test_what_failed_is_told_with_its_line_and_what_may_be_meant(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "numbers = [3, 1, 2]", "total = sum(number)\nprint(total)") as task:
        told = await fail(RunCell(), task, cell=2)
        assert told.split("\n") == [
            "Cell 2 failed: NameError: name 'number' is not defined",
            "Line 1: total = sum(number)",
            "Write numbers instead of number.",
        ]
        asked(task, "Fix cell 2.")
        # Only the line that changed was given.
        assert await say(EditCell(), task, cell=2, code="total = sum(numbers)") == "Cell 2 ran. Output:\n6"
        assert task.sources()[1] == "total = sum(numbers)\nprint(total)"
        (tmp_path / "people.csv").write_text("name\nA\n", encoding="utf-8")
        told = await fail(AddCell(), task, code="open('peple.csv')")
        assert told.endswith("Write people.csv instead of peple.csv.")


async def test_a_variable_is_renamed_in_all_cells_which_run_again(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "x1 = 5", ("markdown", "x1"), "y = x1 * 2\nprint(y)") as task:
        asked(task, "Call x1 width, z, y or for.")
        told = await say(RenameVariable(), task, old="x1", new="width")
        assert told.startswith("x1 is width now in cells 1, 3.") and told.endswith("Cell 3 ran. Output:\n10")
        assert task.sources() == ["width = 5", "x1", "y = width * 2\nprint(y)"]
        assert "No cell has" in await fail(RenameVariable(), task, old="x1", new="z")
        assert "already" in await fail(RenameVariable(), task, old="width", new="y")
        assert "does not name" in await fail(RenameVariable(), task, old="width", new="breadth")
        assert "cannot be the name" in await fail(RenameVariable(), task, old="width", new="for")


async def test_a_column_is_renamed_where_it_is_named(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "row = {'amt': 5}", "print(row['amt'], 'amt of it')") as task:
        asked(task, "amt を net amount に変えて")
        told = await say(RenameVariable(), task, old="amt", new="net amount")
        assert told.startswith("amt is net amount now in cells 1, 2.") and told.endswith("Output:\n5 amt of it")
        assert task.sources() == ["row = {'net amount': 5}", "print(row['net amount'], 'amt of it')"]


async def test_what_uses_an_edited_cell_runs_again(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "n = 10", "double = n * 2", "print(double)", "print(n)", "'other'") as task:
        for cell in (1, 2, 3, 5):
            await say(RunCell(), task, cell=cell)
        asked(task, "Change cell 1.")
        told = await say(EditCell(), task, cell=1, code="n = 100")
        # Cell 4 uses it, but had not run; cell 5 does not.
        assert told.split("\n") == [
            "Cell 1 ran without output. n: int = 100",
            "Cell 2 ran without output. double: int = 200",
            "Cell 3 ran. Output:",
            "200",
        ]


async def test_at_a_cell_nothing_is_run_in_a_notebook_that_was_renamed_meanwhile_either(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1", "b = a") as task:
        asked(task, "twice as much")
        task.state.allowed_edits.turn(NotebookRef(path=NAME, cell_id=CellId("c1")))
        (tmp_path / NAME).rename(tmp_path / "new.ipynb")
        task.notebooks.access.moved(NAME, "new.ipynb")
        await say(EditCell(), task, cell=2, code="a = 2")
        assert task.sources("new.ipynb") == ["a = 2", "b = a"]
        assert task.executed() == [] and [one.action.allowed_before for one in task.approvals] == [True]


async def test_text_is_added_cells_go_and_are_read(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = [1, 2]", "print('b')") as task:
        asked(task, "Give it a title, and delete cell 3 then.")
        assert "request itself" in await fail(
            AddText(), task, kind="text", text="Give it a title and delete cell 3 then", place="top"
        )
        await say(AddText(), task, kind="text", text="# Title", place="top")
        assert task.sources() == ["# Title", "a = [1, 2]", "print('b')"]
        assert "holds text" in await fail(EditCell(), task, cell=1, code="x")
        assert "There is no cell 9" in await fail(DeleteCellTool(), task, cell=9)
        assert await say(RunCell(), task, cell="all") == (
            "Cell 2 ran without output. a: list of length 2 = [1, 2]\nCell 3 ran. Output:\nb"
        )
        # The third cell is the second one that the person spoke of.
        asked(task, "Delete cell 2.")
        await say(DeleteCellTool(), task, cell=3)
        assert task.sources() == ["# Title", "a = [1, 2]"]


async def test_a_refusal_is_told_and_nothing_runs(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1") as task:
        task.decide = lambda approved: Approval(approved=approved.shown["tool"] == "editCells")
        assert "denied" in await fail(AddCell(), task, code="a = 2")
        assert not task.executed() and len(task.sources()) == 2
        task.decide = lambda _: Approval(approved=True, by_person=True, feedback="but hurry")
        assert (await say(AddCell(), task, code="a = 3")).startswith("The person says: but hurry\nCell 3 ran")


async def test_commands_in_a_cell_are_asked_about_as_commands(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1") as task:
        task.decide = lambda approved: Approval(approved="shell" not in approved.action.risks)
        assert "denied" in await fail(AddCell(), task, code="%time !touch made")
        action = task.approvals[-1].action
        assert action.risks == {"run_code", "shell"} and action.command == "touch made" and action.exactly
        assert not task.executed() and not (tmp_path / "made").exists()


async def test_surroundings_tell_cells_variables_and_tables_and_then_what_changed(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1", ("markdown", "# Notes"), "print(a / 0)") as task:
        (tmp_path / "sales.csv").write_text("region,units,price\nnorth,3,2.5\nsouth,4,\n", encoding="utf-8")
        (tmp_path / ".env").write_text("KEY=1", encoding="utf-8")
        await fail(RunCell(), task, cell="all")
        seen = await surroundings(task.notebooks, "work.ipynb", task.paths, reads_files=True)
        assert seen is not None and not isinstance(seen, str)
        told = seen.told_anew(None)
        assert told.startswith(
            "Files:\nsales.csv: columns region text, units int, price float\n| north,3,2.5\n| south,4,\nCell 1 (ran):\na = 1\n"
        )
        assert "Cell 2 (text):\n# Notes\nCell 3 (failed):\nprint(a / 0)\nOutput: " in told
        assert "ZeroDivisionError" in told and told.endswith("Variables:\na: int = 1") and "KEY" not in told
        assert seen.told_anew(seen) == "The notebook is as you know it."
        asked(task, "Fix it.")
        await say(EditCell(), task, cell=3, code="print(a / 1)")
        now = await surroundings(task.notebooks, "work.ipynb", task.paths, reads_files=False)
        assert now is not None and not isinstance(now, str)
        assert now.told_anew(seen) == "New or changed:\nFiles:\nsales.csv\nCell 3 (ran):\nprint(a / 1)\nOutput: 1.0"


async def test_a_long_notebook_is_told_in_short(tmp_path: Path) -> None:
    long = [f"value_{number} = {number}\n" + "# more\n" * 60 for number in range(1, 41)]
    async with notebook_task(tmp_path, *long) as task:
        seen = await surroundings(task.notebooks, "work.ipynb", task.paths, reads_files=True)
        assert seen is not None and not isinstance(seen, str)
        told = seen.told_anew(None)
        assert len(told) < 5_000
        assert "Cells 1 to 20 are not listed." in told and "Cell 21 (not run): value_21 = 21" in told
        assert told.count("# more") > 40


async def test_a_table_that_is_named_and_was_not_read_is_read(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1") as task:
        (tmp_path / "trips.csv").write_text("city,fare\nA,2\nB,3\n", encoding="utf-8")
        assert (await say(AddCell(), task, code="len(trips)")).endswith("Output:\n2")
        assert task.sources()[-1] == "import pandas as pd\n\ntrips = pd.read_csv('trips.csv')\nlen(trips)"
        # Now it is there.
        assert (await say(AddCell(), task, code="import math\nmath.floor(trips['fare'].sum())")).endswith("\n5")
        assert "read_csv" not in task.sources()[-1]


async def test_a_table_that_goes_by_another_name_is_known_by_its_columns(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1") as task:
        (tmp_path / "trips.csv").write_text("city,fare\nA,2\nB,3\n", encoding="utf-8")
        (tmp_path / "매출.csv").write_text("매장,금액\n가,5\n", encoding="utf-8")
        (tmp_path / "my-rows.csv").write_text("height\n7\n", encoding="utf-8")
        assert (await say(AddCell(), task, code="boats['fare'].sum()")).endswith("(5)")
        assert task.sources()[-1] == "import pandas as pd\n\ntrips = pd.read_csv('trips.csv')\ntrips['fare'].sum()"
        assert (await say(AddCell(), task, code="table['금액'].sum()")).endswith("(5)")
        assert task.sources()[-1] == "매출 = pd.read_csv('매출.csv')\n매출['금액'].sum()"
        await say(AddCell(), task, code="df = df[df['height'] > 1]")
        assert task.sources()[-1] == "df = pd.read_csv('my-rows.csv')\ndf = df[df['height'] > 1]"
        # What is there already is not read again.
        assert (await say(AddCell(), task, code="boats['city'].tolist()")).endswith("['A', 'B']")
        assert task.sources()[-1] == "trips['city'].tolist()"
        # Columns that none of several tables has tell nothing.
        assert "NameError" in await fail(AddCell(), task, code="boats['length'].sum()")


async def test_of_one_table_alone_the_columns_are_told_where_the_code_has_others(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1") as task:
        (tmp_path / "trips.csv").write_text("city,fare\nA,2\n", encoding="utf-8")
        told = await fail(AddCell(), task, code="boats['price'].sum()")
        assert "KeyError: 'price'" in told and "The columns are: city, fare." in told


async def test_a_library_that_only_the_kernel_knows_is_imported(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1") as task:
        await say(AddCell(), task, code="import pandas as pd")
        asked(task, "Delete cell 2.")
        await say(DeleteCellTool(), task, cell=2)
        await say(AddCell(), task, code="pd.Series([1]).sum()")
        assert task.sources()[-1].startswith("import pandas as pd\n")


async def test_a_heading_is_written_as_one(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1") as task:
        await say(AddText(), task, kind="heading", text="Rents", place="top")
        await say(AddText(), task, kind="heading", text="## Sizes", place="end")
        await say(AddText(), task, kind="heading", text="Ends", place="end")
        assert task.sources() == ["# Rents", "a = 1", "## Sizes", "## Ends"]


def test_a_table_is_read_behind_the_imports() -> None:
    assert with_reads("import math\n\nlen(a) + len(b)", {"a": "a.csv", "b": "b.tsv"}) == (
        "import math\n\na = pd.read_csv('a.csv')\nb = pd.read_csv('b.tsv', sep='\\t')\nlen(a) + len(b)"
    )
