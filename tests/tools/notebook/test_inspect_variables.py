"""What the agent is told of variables: here, of those that are connected to databases."""

from __future__ import annotations

from pathlib import Path

from ._helpers.notebook_tasks import notebook_task

MADE = (
    "import sqlite3; shop = sqlite3.connect(':memory:'); n = 1\n"
    "shop.execute('create table people (id integer primary key, name text)'); other = shop\n"
    "shop.execute(\"insert into people values (1, 'Zoe')\"); gone = sqlite3.connect(':memory:'); gone.close()"
)


async def test_a_connection_that_is_named_tells_its_tables_and_no_row(workspace: Path) -> None:
    async with notebook_task(workspace, MADE) as task:
        await task.text("run_cells", cells=["all"])
        text = await task.text("inspect_variables", names=["other", "n"])
        assert "other: sqlite3.Connection" in text and "n: int" in text
        assert "  Database other (sqlite)\n  Table people\n    id INTEGER, primary key\n    name TEXT" in text
        assert "Zoe" not in text


async def test_one_that_is_not_named_or_closed_says_no_more(workspace: Path) -> None:
    async with notebook_task(workspace, MADE) as task:
        await task.text("run_cells", cells=["all"])
        assert "Table" not in await task.text("inspect_variables")
        assert "could not be asked: ProgrammingError: Cannot operate on a closed database" in await task.text(
            "inspect_variables", names=["gone"]
        )
