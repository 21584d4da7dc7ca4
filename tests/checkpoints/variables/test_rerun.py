"""Which cells run again for what cannot be kept."""

from __future__ import annotations

from pathlib import Path

from ._helpers.kernel_fixtures import kernel_setup


async def test_the_fewest_cells_that_make_what_is_lost(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.save()
        await at.run(
            "import sqlite3, os",
            "n = 5",
            "path = 'x.db'",
            "unused = [1]",
            "rows = list(range(n))",
            "db = sqlite3.connect(path)",
            "def numbers(k):\n    for row in rows[:k]: yield row",
            "gen = numbers(n)",
            "unused.append(2)",
        )
        saved = await at.save()
        await at.restart()
        report = await at.restore(saved)
        assert set(report.lost) == {"db", "gen"}
        # n, path, rows and the function are there again: they need not run.
        assert [cell.source for cell in report.rerun.cells] == ["db = sqlite3.connect(path)", "gen = numbers(n)"]
        assert [cell.effects for cell in report.rerun.cells] == [("database",), ()]
        assert [cell.cell for cell in report.rerun.cells] == ["c5", "c7"]
        await at.run(*[cell.source or "" for cell in report.rerun.cells])
        assert await at.told("list(gen), db.total_changes") == "[0, 1, 2, 3, 4] 0"


async def test_what_was_changed_after_it_was_read_is_made_again_and_then_restored(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run(
            "data = [1, 2]",
            "gen = iter(lambda it=iter(data): next(it), None)",
            "log = open('log', 'w')",
            "data.append(3)",
        )
        saved = await at.save()
        lost = {name for name in saved.unsaved}
        assert "log" in lost
        await at.restart()
        report = await at.restore(saved)
        if "gen" in lost:
            assert [cell.overwrites for cell in report.rerun.cells][:1] == [("data",)]
        await at.run(*[cell.source or "" for cell in report.rerun.cells])
        await at.restore(saved, leave=sorted(lost))
        assert await at.told("data, log.name") == "[1, 2, 3] log"


async def test_a_variable_that_no_text_explains_is_said_to_be_so(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("a = 1", "exec('han' + 'dle = open(\"f\", \"w\")')")
        saved = await at.save()
        await at.restart()
        report = await at.restore(saved)
        assert report.rerun.unexplained == ("handle",)
        assert [(cell.run, cell.uncertain) for cell in report.rerun.cells] == [(2, True)]


async def test_cells_from_before_anybody_looked_are_known_too(tmp_path: Path) -> None:
    async with kernel_setup(tmp_path) as at:
        await at.run("f = open('f', 'w')", "1 + 1")
        saved = await at.save()
        assert [run.source for run in saved.runs] == ["f = open('f', 'w')", "1 + 1"]
        await at.restart()
        report = await at.restore(saved)
        assert [cell.source for cell in report.rerun.cells] == ["f = open('f', 'w')"]
        assert report.rerun.cells[0].effects == ("files",)
