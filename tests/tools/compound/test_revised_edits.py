"""Edits that are tried: what cannot be what was asked for goes back, and in the end nothing is left broken."""

from __future__ import annotations

from pathlib import Path

from hdsp_agent.tools import PastCall, SinceAsked
from hdsp_agent.tools.compound import AddCell, AnswerTool, EditCell, RunCell, cell_of_person, surroundings

from ..notebook._helpers.notebook_tasks import notebook_task
from .test_steps import fail, say

AVERAGE = "def average(xs):\n    return sum(xs) / (len(xs) + 1)"
SHOWN = "average([1, 2, 3])"


def edit(code: str, result: str, *, is_error: bool = False) -> PastCall:
    return PastCall("edit_cell", {"cell": 1, "code": code}, result, is_error=is_error)


async def test_a_mended_cell_has_to_show_what_it_should(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, AVERAGE, SHOWN) as task:
        await say(RunCell(), task, cell="all")
        task.flow.since = SinceAsked("average is wrong, it should be 2.0. fix it", "")
        told = await fail(EditCell(), task, cell=1, code=AVERAGE.replace("(len(xs) + 1)", "len(xs) + 1"))
        assert told.endswith("It should show 2, and it does not. Change cell 1.") and "Cell 2 ran. Output:\n3.0" in told
        task.flow.since = SinceAsked(task.flow.since.words, "", (edit("", told, is_error=True),))
        # What counts as the code it has is that from before all tries.
        assert "This does what the code does that cell 1 has." in await fail(EditCell(), task, cell=1, code=AVERAGE)
        told = await fail(EditCell(), task, cell=1, code="def average(xs):\n    return 2.0")
        assert told == "2 has to be computed, not written into the code. Change cell 1."
        assert "Output:\n2.0" in await say(EditCell(), task, cell=1, code=AVERAGE.replace("(len(xs) + 1)", "len(xs)"))
        assert not list(task.state.tried)


async def test_gaps_and_lost_texts_go_back(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "names = ['a', 'b']\nprint('last:', names[2])") as task:
        await say(RunCell(), task, cell=1)
        task.flow.since = SinceAsked("fix the error", "")
        assert "`...`" in await fail(EditCell(), task, cell=1, code="names = ['a', 'b']\nprint(...)\nx = ...")
        told = await fail(EditCell(), task, cell=1, code="names = ['a', 'b']\nprint(names[-1])")
        assert told == "The new code leaves out 'last:'. Keep it. Change cell 1."
        back = edit("", told, is_error=True)
        task.flow.since = SinceAsked("fix the error", "", (back, back))
        # Perhaps it has to go: nothing is sent back for that for ever.
        assert (
            await say(EditCell(), task, cell=1, code="names = ['a', 'b']\nprint(names[-1])") == "Cell 1 ran. Output:\nb"
        )


async def test_the_last_item_is_meant_by_the_one_behind_it(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "names = ['a', 'b']\nprint('last:', names[2])") as task:
        told = await say(RunCell(), task, cell=1)
        assert told.endswith("names has 2 items: the first is names[0], the last is names[-1].")
        told = await say(EditCell(), task, cell=1, code="names = ['a', 'b']\nprint('last:', names[2])")
        assert told == "Cell 1 ran. Output:\nlast: b"


async def test_what_a_type_has_is_told(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "items = [1]\nitems.add(2)", "print('age: ' + 3)") as task:
        assert "A list has: append, " in await say(RunCell(), task, cell=1)
        assert (await say(RunCell(), task, cell=2)).endswith("Put str(...) around what is no text.")


async def test_a_function_takes_the_place_of_what_it_computes(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "x = 3 * 4\ny = 5 * 7\nprint(x + y)") as task:
        await say(RunCell(), task, cell=1)
        task.flow.since = SinceAsked("put the area into a function area(w, h)", "")
        told = await fail(EditCell(), task, cell=1, code="def area(w, h):\n    return w - h")
        assert "call it below its definition" in told
        await say(EditCell(), task, cell=1, code="def area(w, h):\n    return w * h")
        assert task.sources() == ["def area(w, h):\n    return w * h\n\nx = area(3, 4)\ny = area(5, 7)\nprint(x + y)"]
        told = await fail(EditCell(), task, cell=1, code="def area(w, h):\n    return w - h\nprint(area(1, 2))")
        assert told.endswith("It showed 47 before, and has to show that again. Change cell 1.")


async def test_an_edit_keeps_what_others_stand_on(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "import math\n\nr = 2\narea = r", "print(area)") as task:
        await say(RunCell(), task, cell="all")
        task.flow.since = SinceAsked("improve cell 1", "")
        told = await fail(EditCell(), task, cell=1, code="r = 3\nsize = r * 2\nlength = r\nprint(size)")
        assert told == "The new code leaves out 'area'. Keep it. Change cell 1."
        await say(EditCell(), task, cell=1, code="r = 2\narea = math.pi * r ** 2\nround(area, 2)\n")
        assert task.sources()[0] == "import math\n\nr = 2\narea = math.pi * r ** 2\nround(area, 2)"


async def test_what_was_tried_in_vain_is_put_back(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "n = 2", "print(n)") as task:
        await say(RunCell(), task, cell="all")
        task.flow.since = SinceAsked("change n", "")
        failed = await say(EditCell(), task, cell=1, code="n = m")
        task.flow.since = SinceAsked("change n", "", (edit("n = m", failed),))
        again = await say(EditCell(), task, cell=1, code="n = k")
        task.flow.since = SinceAsked("change n", "", (edit("n = m", failed), edit("n = k", again)))
        await say(AnswerTool(), task, text="n is 7 now.")
        assert task.sources() == ["n = 2", "print(n)"]
        shown = task.flow.completed[-1]
        assert shown.startswith("I could not do this.") and shown.endswith("The notebook is as it was before.")
        assert "Cell 1 failed: NameError: name 'k' is not defined" in shown and "7" not in shown
        assert [row["state"] for row in task.executed()][-2:] == ["ok", "ok"]


async def test_a_cell_that_was_added_in_vain_is_taken_away(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "n = 2") as task:
        task.flow.since = SinceAsked("show m", "")
        failed = await say(AddCell(), task, code="print(mmm)")
        assert len(task.sources()) == 2
        task.flow.since = SinceAsked("show m", "", (PastCall("add_cell", {"code": "print(mmm)"}, failed),))
        await say(AnswerTool(), task, text="That failed: there is no mmm.")
        assert task.sources() == ["n = 2"]
        assert task.flow.completed[-1].startswith("That failed: there is no mmm.")
        # What worked stays, whatever is said later.
        task.flow.since = SinceAsked("show n", "")
        await say(AddCell(), task, code="print(n)")
        assert task.sources() == ["n = 2", "print(n)"] and not list(task.state.tried)


async def test_an_answer_about_the_examples_is_told_by_what_was_done(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1") as task:
        ran = PastCall("edit_cell", {"cell": 1, "code": "plt.plot(a)"}, "Cell 1 ran. Output:\n[picture]")
        task.flow.since = SinceAsked("Make it red", "", (ran,))
        await say(AnswerTool(), task, text="Cell 1 shows the curve of x squared.")
        assert task.flow.completed[-1] == "Cell 1 ran."


async def test_the_names_in_a_table_are_shown_and_not_retold(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1") as task:
        table = PastCall(
            "add_cell", {"code": "c"}, "Cell 2 ran. Output:\nday     0\ntemp    2\nrain    1\ndtype: int64"
        )
        task.flow.since = SinceAsked("Which columns have gaps?", "", (table,))
        await say(AnswerTool(), task, text="These have gaps: day, temp and rain.")
        assert task.flow.completed[-1].startswith("This is what the notebook shows:\n\n```text\nday     0\n")
        await say(AnswerTool(), task, text="Most gaps are in temp.")
        assert task.flow.completed[-1].startswith("Most gaps are in temp.")
        # A wrong number that went with its sentence needs no word about it.
        back = PastCall("answer", {"text": "There are 99 gaps."}, "No cell has shown 99.", is_error=True)
        task.flow.since = SinceAsked("Which columns have gaps?", "", (table, back))
        await say(AnswerTool(), task, text="There are 99 gaps.")
        assert "99" not in task.flow.completed[-1]


async def test_the_cell_the_person_is_in_is_told(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1", "b = 2") as task:
        at = (await task.notebooks.access.document("work.ipynb").snapshot()).cells[1].id
        seen = await surroundings(task.notebooks, "work.ipynb", task.paths, reads_files=True, at=at)
        assert seen is not None and not isinstance(seen, str)
        assert cell_of_person(seen.told_anew(None)) == 2 and cell_of_person("Cell 1 (ran):") is None
