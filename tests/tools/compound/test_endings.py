"""How requests end: checked, done, or not done with the cells as they were. Real kernels, and steps as a model takes them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hdsp_agent.messages import Ending, ending_text
from hdsp_agent.tools import Completion, PastCall, SimpleTool, SinceAsked, ToolArguments
from hdsp_agent.tools._tool import Tool
from hdsp_agent.tools.compound import (
    AddCell,
    AddText,
    AnswerTool,
    DeleteCellTool,
    EditCell,
    NotebookFacts,
    RenameVariable,
    RunCell,
    _cell_runner,
    surroundings,
)

from ..._helpers.parsed_json import parsed
from .._helpers.recording_context import Reply
from ..notebook._helpers.notebook_tasks import NotebookTask, notebook_task

READ = "import pandas as pd\nflats = pd.DataFrame({'rent': [700, 900], 'size': [40, 60]})"
WRONG = "flats['rnet'].mean()"


async def begin(task: NotebookTask, words: str) -> None:
    """The person says this, and the model is told how things are."""
    facts = await surroundings(task.notebooks, "work.ipynb", task.paths, reads_files=True)
    assert isinstance(facts, NotebookFacts)
    task.flow.since = SinceAsked(words, facts.told_anew(None))


async def step(task: NotebookTask, tool: Tool, **arguments: object) -> str:
    """One call of the model, and what it is told; the next one sees it."""
    assert isinstance(tool, SimpleTool)
    given: ToolArguments = tool.Arguments.model_validate(arguments)
    result = await tool.run(given, task)
    call = PastCall(tool.name, given.model_dump(mode="json"), str(result.content), is_error=result.is_error)
    task.flow.since = replace(task.flow.since, calls=(*task.flow.since.calls, call))
    return str(result.content)


async def run_all(task: NotebookTask) -> None:
    await step(task, RunCell(), cell="all")


def shown(task: NotebookTask) -> list[object]:
    """The cells with what they print."""
    return [(cell["source"], cell["outputs"]) for cell in parsed(task.file())["cells"]]


def ending(task: NotebookTask) -> Ending:
    """The last one."""
    last = task.flow.endings[-1]
    assert last is not None
    return last


async def test_a_fix_that_runs_and_keeps_its_calls_is_checked(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, READ, WRONG) as task:
        await run_all(task)
        await begin(task, "고쳐 줘")
        assert (
            await step(task, EditCell(), cell=2, code="flats['rent'].mean()")
            == "Cell 2 ran. Output:\nnp.float64(800.0)"
        )
        await step(task, AnswerTool(), text="이제 800.0입니다.")
        assert task.flow.completed == ["이제 800.0입니다."]
        assert ending(task).state == "checked"
        assert ending_text(ending(task)) == "Checked: cell 2 runs now and still calls mean."
        assert task.sources() == [READ, "flats['rent'].mean()"]


async def test_a_fix_that_leaves_the_call_out_is_not_done_and_put_back(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, READ, WRONG) as task:
        await run_all(task)
        before = shown(task)
        await begin(task, "Fix it.")
        for code in ("800", "flats['rent'].sum() / 2", "flats['rent'].max()"):
            assert "The cell has to call mean still. Change cell 2." in await step(task, EditCell(), cell=2, code=code)
        await step(task, AnswerTool(), text="It is fixed.")
        assert ending(task).state == "not_done" and ending(task).put_back
        assert shown(task) == before


async def test_what_failed_is_put_back_with_its_outputs_and_added_cells_go(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "n = 2", "print(n)", "print('other')") as task:
        await run_all(task)
        before = shown(task)
        await begin(task, "Change cell 1.")
        await step(task, EditCell(), cell=1, code="n = 3")
        await step(task, AddCell(), code="print(mmm)")
        assert len(task.sources()) == 4
        # The person changes one of them meanwhile: that is theirs.
        await step(task, EditCell(), cell=1, code="n = m")
        task.change("c3", "print('mine')")
        await step(task, AnswerTool(), text="n is 7 now.")
        assert task.sources() == ["n = 2", "print(n)", "print('mine')"]
        assert shown(task)[:2] == before[:2]
        assert ending(task).state == "not_done" and "7" not in task.flow.completed[-1]
        assert "NameError" in task.flow.completed[-1]
        assert ending_text(ending(task)) == "Not done. The last try failed. Your cells are as they were."
        # The kernel has the old value, too.
        await begin(task, "Show n.")
        assert (await step(task, AddCell(), code="n + 0")).endswith("Output:\n2")


async def test_a_cell_that_ran_before_and_fails_now_shows_again_what_it_did(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "rows = {'a': 1}", "print(rows.pop('a'))", "y = 1 / 0") as task:
        for cell in (1, 2):
            await step(task, RunCell(), cell=cell)
        before = shown(task)
        await begin(task, "How many rows are there?")
        assert "KeyError" in await step(task, RunCell(), cell=2)
        # Nobody asked for the run of this one either, but what is to be done needs it.
        assert "ZeroDivisionError" in await step(task, AddCell(), code="print(y)")
        await step(task, AnswerTool(), text="There are none.")
        assert ending(task).state == "not_done"
        assert shown(task) == before
        # What the person asks for is left as it ran.
        await begin(task, "Run cell 2 again.")
        assert "KeyError" in await step(task, RunCell(), cell=2)
        await step(task, AnswerTool(), text="It ran.")
        assert ending(task).state == "not_done"
        assert shown(task) != before


@pytest.mark.parametrize("words", ["What are the 2 largest rents?", "rent가 가장 큰 2개는?"])
async def test_a_count_is_no_number_of_a_cell(tmp_path: Path, words: str) -> None:
    async with notebook_task(tmp_path, READ, "flats['size'].mean()") as task:
        await run_all(task)
        await begin(task, words)
        await step(task, EditCell(), cell=2, code="flats.sort_values('rent').tail()")
        await begin(task, "Delete the last 2 rows.")
        await step(task, DeleteCellTool(), cell=2)
        assert task.sources() == [READ, "flats['size'].mean()"]


async def test_a_cell_below_that_broke_by_one_try_runs_again_with_the_next(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = [1, 2]", "print(a[1])") as task:
        await run_all(task)
        await begin(task, "Change cell 1.")
        assert "Cell 2 ran before. Change cell 1" in await step(task, EditCell(), cell=1, code="a = [1]")
        assert "failed" not in await step(task, EditCell(), cell=1, code="a = [5, 6]")
        await step(task, AnswerTool(), text="It is 6 now.")
        assert parsed(task.file())["cells"][1]["outputs"] == [
            {"name": "stdout", "output_type": "stream", "text": ["6\n"]}
        ]


async def test_a_cell_below_that_broke_is_whole_again_if_something_else_was_done(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = [1, 2]", "print(a[1])") as task:
        await run_all(task)
        before = shown(task)
        await begin(task, "Change cell 1.")
        await step(task, EditCell(), cell=1, code="a = [1]")
        await step(task, AddCell(), code="print('fine')")
        await step(task, AnswerTool(), text="fine")
        assert task.sources() == ["a = [1, 2]", "print(a[1])", "print('fine')"]
        assert shown(task)[:2] == before


async def test_one_column_does_not_become_another_that_is_there(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, READ, "flats['rent'].max()", "flats['size'].max()") as task:
        await run_all(task)
        await begin(task, "Plot rent against size.")
        assert "There is a column size already." in await step(task, RenameVariable(), old="rent", new="size")
        assert task.sources() == [READ, "flats['rent'].max()", "flats['size'].max()"]


async def test_a_name_that_is_left_in_a_query_is_not_said_to_be_gone(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, READ, "flats['rent'].max()", "flats.query('rent > 5')") as task:
        await run_all(task)
        await begin(task, "Rename rent to price.")
        await step(task, RenameVariable(), old="rent", new="price")
        await step(task, AnswerTool(), text="rent is price now.")
        assert ending(task).state != "checked"


@pytest.mark.parametrize(
    ("failing", "fix"), [("ratio = sum([1]) / nothing", "ratio = 0"), ("flats['prix'].mean()", "flats['size'].mean()")]
)
async def test_a_fix_that_only_runs_is_not_checked(tmp_path: Path, failing: str, fix: str) -> None:
    async with notebook_task(tmp_path, READ + "\nnothing = 0", failing) as task:
        await run_all(task)
        await begin(task, "Fix it.")
        await step(task, EditCell(), cell=2, code=fix)
        await step(task, AnswerTool(), text="It is fixed.")
        assert ending(task).state != "checked"


async def test_what_was_too_large_to_keep_is_said_not_to_be_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_cell_runner, "_MOST_KEPT", 100)
    async with notebook_task(tmp_path, "text = 'x' * 500", "print(text)") as task:
        await run_all(task)
        await begin(task, "Change cell 2.")
        await step(task, EditCell(), cell=2, code="print(wrong)")
        await step(task, AnswerTool(), text="Done.")
        assert ending(task).state == "not_done" and not ending(task).put_back
        assert task.sources()[1] == "print(text)"


async def test_a_cell_that_the_person_wrote_anew_is_not_the_agents(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "n = 2", "m = 3") as task:
        await run_all(task)
        await begin(task, "Change cell 1.")
        await step(task, EditCell(), cell=1, code="n = 4")
        await step(task, AnswerTool(), text="n is 4.")
        task.change("c1", "import this_is_mine")
        await begin(task, "Show it twice.")
        await step(task, EditCell(), cell=1, code="print(8)")
        assert task.sources()[0] == "import this_is_mine"


async def test_a_cell_that_the_person_changed_after_the_agent_stays_so(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "n = 2") as task:
        await run_all(task)
        await begin(task, "Change cell 1.")
        await step(task, EditCell(), cell=1, code="n = m")
        task.change("c1", "n = 5  # mine")
        await step(task, AnswerTool(), text="Done.")
        assert task.sources() == ["n = 5  # mine"]


async def test_a_deleted_cell_returns_where_it_was(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1", "print(a)", "b = 2") as task:
        await run_all(task)
        before = shown(task)
        await begin(task, "Delete cell 2.")
        await step(task, DeleteCellTool(), cell=2)
        assert task.sources() == ["a = 1", "b = 2"]
        await step(task, AddCell(), code="1 / 0")
        await step(task, AnswerTool(), text="Cell 2 is gone.")
        assert shown(task) == before and ending(task).state == "not_done"


async def test_a_deletion_and_a_rename_that_are_complete_are_checked(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "x1 = 5", "print(x1)", "'old'") as task:
        await run_all(task)
        await begin(task, "Delete cell 3.")
        await step(task, DeleteCellTool(), cell=3)
        # What stands there now was another cell.
        assert "already" in await step(task, DeleteCellTool(), cell=3)
        await step(task, AnswerTool(), text="That cell was deleted.")
        assert ending_text(ending(task)) == "Checked: cell 3 is gone."
        await begin(task, "x1をwidthに変えて")
        await step(task, RenameVariable(), old="x1", new="width")
        await step(task, AnswerTool(), text="x1 は width になりました。")
        assert ending_text(ending(task)) == "Checked: no cell uses x1 any more, and those with width run."
        assert task.sources() == ["width = 5", "print(width)"]


@pytest.mark.in_short(2)
@pytest.mark.parametrize(
    ("words", "code", "state"),
    [
        ("Add a column rent_eur: the rent times 1.5.", "flats['rent_eur'] = flats['rent'] * 1.5", "checked"),
        ("rent에 1.5를 곱한 rent_eur 열을 추가해 줘", "flats['rent_eur'] = flats['rent'] * 1.5", "checked"),
        # Neither the number nor the column that the request names was used.
        ("Add a column rent_eur: the rent times 1.5.", "flats['rent_eur'] = flats['rent'] * 2", "unchecked"),
        ("Add a column rent_eur: the rent times 1.5.", "flats['rent_eur'] = 1.5", "unchecked"),
        # It ran, and that is all that is known.
        ("Add the rents up.", "flats['rent'].sum()", "unchecked"),
    ],
)
async def test_a_new_thing_of_the_name_that_was_asked_for_is_checked(
    tmp_path: Path, words: str, code: str, state: str
) -> None:
    async with notebook_task(tmp_path, READ) as task:
        await run_all(task)
        await begin(task, words)
        await step(task, AddCell(), code=code)
        await step(task, AnswerTool(), text="That is in the notebook now.")
        assert ending(task).state == state


async def test_a_new_thing_of_another_name_is_sent_back_and_then_not_done(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, READ) as task:
        await run_all(task)
        await begin(task, "Add a column rent_eur.")
        await step(task, AddCell(), code="flats['euros'] = flats['rent']")
        assert (await step(task, AnswerTool(), text="It is there.")).startswith("There is no rent_eur yet.")
        await step(task, AnswerTool(), text="It is there.")
        told = ending(task)
        assert told.state == "not_done" and told.reason is not None and told.reason.params == {"name": "rent_eur"}
        assert task.sources() == [READ]


async def test_an_answer_that_repeats_is_sent_back_once_and_then_the_notebook_speaks(tmp_path: Path) -> None:
    words = "Please add up all of the rents."
    async with notebook_task(tmp_path, READ) as task:
        await run_all(task)
        await begin(task, words)
        assert "is no answer" in await step(task, AnswerTool(), text="please add up all of the rents")
        await step(task, AddCell(), code="flats['rent'].sum()")
        await step(task, AnswerTool(), text=words)
        assert task.flow.completed == ["```text\nnp.int64(1600)\n```"] and ending(task).state == "unchecked"
        # Nothing was shown: then nothing was done.
        await begin(task, "방 크기를 모두 더해서 보여 주세요")
        for text in ("방 크기를 모두 더해서 보여 주세요.", "boats has length_ft now."):
            await step(task, AnswerTool(), text=text)
        told = ending(task)
        assert told.state == "not_done" and told.reason is not None and told.reason.code == "no_answer"


async def test_a_number_that_nobody_saw_is_sent_back_and_then_the_notebook_speaks(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, READ) as task:
        await run_all(task)
        await begin(task, "What is the mean rent?")
        assert "No cell has shown 850" in await step(task, AnswerTool(), text="It is 850.")
        await step(task, AddCell(), code="flats['rent'].mean()")
        await step(task, AnswerTool(), text="The mean rent is 850.")
        assert task.flow.completed[-1] == "```text\nnp.float64(800.0)\n```"
        await begin(task, "What is the mean rent?")
        await step(task, AnswerTool(), text="The mean rent is 800.")
        assert ending(task).checks[0].code == "unchanged" and ending(task).state == "unchecked"


async def test_where_the_words_do_not_tell_what_the_cell_shows_the_output_is_the_answer(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, READ) as task:
        await begin(task, "Which rents are there?")
        await step(task, AddCell(), code="flats['rent'].max()")
        await step(task, AnswerTool(), text="The largest rent is 900.")
        assert task.flow.completed[-1] == "The largest rent is 900."
        await step(task, AddCell(), code="flats['rent'].tolist()")
        await step(task, AnswerTool(), text="These are all of the rents.")
        assert task.flow.completed[-1] == "```text\n[700, 900]\n```"


async def test_an_explanation_changes_nothing_and_says_so(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, READ) as task:
        before = task.file()
        await begin(task, "What does cell 1 do?")
        await step(task, AnswerTool(), text="It makes a table of two flats, with rent and size.")
        assert ending_text(ending(task)) == "Not checked. No cell was changed." and task.file() == before


@pytest.mark.parametrize("words", ["Make it nicer.", "더 예쁘게 해 줘", "もっときれいにして"])
async def test_a_cell_that_nobody_named_is_asked_about_and_left_alone(tmp_path: Path, words: str) -> None:
    async with notebook_task(tmp_path, READ, "flats['rent'].max()") as task:
        await run_all(task)
        before = task.file()
        task.reply = Reply(text="Do as you think best.")
        await begin(task, words)
        told = await step(task, EditCell(), cell=2, code="flats['rent'].mean()")
        assert told == "The request names no cell to change. Add a new cell instead."
        kind, text = task.asked[0]
        question = json.loads(text or "")
        assert kind == "followup" and question["question"] == "Which cell shall I change?"
        offered = [one["answer"] for one in question["suggest"]]
        assert offered[0] == "Cell 2: flats['rent'].max()" and offered[-1] == "None of these: add a new cell"
        assert "names no cell to delete" in await step(task, DeleteCellTool(), cell=1)
        # Asked once for each, and not again.
        await step(task, EditCell(), cell=2, code="flats['rent'].min()")
        assert len(task.asked) == 2 and task.file() == before


@pytest.mark.parametrize("words", ["What is the mean rent?", "rent 평균을 알려 줘", "rentの平均を見せて"])
async def test_of_data_that_is_named_a_cell_is_added_and_one_is_asked_only_if_the_model_insists(
    tmp_path: Path, words: str
) -> None:
    async with notebook_task(tmp_path, READ, "flats['rent'].max()", "flats['rent'].min()") as task:
        await run_all(task)
        before = task.file()
        task.reply = Reply(text="Do as you think best.")
        await begin(task, words)
        for code in ("flats['rent'].mean()", "flats['rent'].median()"):
            told = await step(task, EditCell(), cell=2, code=code)
            assert told == "The request names no cell to change. Add a new cell instead."
        assert [kind for kind, _ in task.asked] == ["followup"] and task.file() == before


async def test_a_new_cell_that_is_the_meant_one_in_another_form_is_sent_back_once(tmp_path: Path) -> None:
    spread = "def spread(values):\n    return max(values) - min(values)"
    better = spread.replace("\n", "\n    'The widest difference.'\n", 1)
    async with notebook_task(tmp_path, spread, "spread([3, 9])") as task:
        await run_all(task)
        await begin(task, "Add a docstring to the function spread.")
        told = await step(task, AddCell(), code=better)
        assert told == "Most of this is what cell 1 has, and the person means that one. Change cell 1."
        await step(task, EditCell(), cell=1, code=better)
        assert task.sources() == [better, "spread([3, 9])"] and not task.asked
        # Another one, and one that nobody spoke of.
        await begin(task, "Show the spread of 4, 8 and 1.")
        assert "ran. Output" in await step(task, AddCell(), code="spread([4, 8, 1])")
        await begin(task, "Write it shorter.")
        await step(task, AddCell(), code=spread)
        assert task.sources()[-1] == spread


async def test_what_the_person_answers_is_kept_to(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1", "b = 2") as task:
        await run_all(task)
        task.reply = Reply(text="Cell 2: b = 2")
        await begin(task, "Make it larger.")
        assert await step(task, EditCell(), cell=1, code="a = 10") == "The person means cell 2."
        assert (await step(task, EditCell(), cell=2, code="b = 20")).startswith("The person means cell 2.\nCell 2 ran")
        assert task.sources() == ["a = 1", "b = 20"] and len(task.asked) == 1


async def test_nobody_is_asked_where_questions_are_turned_off(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1") as task:
        task.settings = task.settings.model_copy(update={"disabled_tools": ["ask_followup_question"]})
        await begin(task, "Make it larger.")
        assert "Add a new cell instead." in await step(task, EditCell(), cell=1, code="a = 10")
        assert not task.asked


async def test_changes_that_break_something_go_back(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1", "print(a)", "b = 2") as task:
        await run_all(task)
        await begin(task, "Change cell 1.")
        assert "made in a cell below" in await step(task, EditCell(), cell=1, code="a = b + 1")
        assert "Other cells use a" in await step(task, EditCell(), cell=1, code="c = 1")
        told = await step(task, EditCell(), cell=1, code="a = [].index")
        assert "Cell 1 ran" in told
        await begin(task, "a를 바꿔 줘")
        assert "Add a new cell for it." in await step(task, EditCell(), cell=1, code="print('hello', 5, end='')")


async def test_a_cell_below_that_breaks_sends_the_change_back(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = [1, 2]", "print(a[1])") as task:
        await run_all(task)
        await begin(task, "Change cell 1.")
        told = await step(task, EditCell(), cell=1, code="a = [1]")
        assert told.endswith("Cell 2 ran before. Change cell 1 so that it runs again.")
        await step(task, AnswerTool(), text="Cell 1 was changed.")
        assert ending(task).state == "not_done" and task.sources()[0] == "a = [1, 2]"


async def test_an_empty_picture_goes_back(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    async with notebook_task(tmp_path, "import matplotlib.pyplot as plt") as task:
        await begin(task, "Draw a line.")
        assert "nothing in the picture" in await step(task, AddCell(), code="plt.subplots()\nplt.show()")
        await step(task, EditCell(), cell=2, code="plt.plot([1, 2])\nplt.show()")
        await step(task, AnswerTool(), text="The line is drawn.")
        assert ending(task).state == "unchecked"
        assert [check.code for check in ending(task).checks] == ["runs", "picture"]


async def test_too_many_steps_end_by_themselves(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1") as task:
        await begin(task, "Print one.")
        for number in range(4):
            await step(task, AddCell(), code=f"print(({number}")
        told = ending(task)
        assert told.state == "not_done" and told.reason is not None and told.reason.code == "steps"
        # What the model was told of code that never ran tells a person nothing.
        assert task.flow.completed[-1] == ending_text(told) and task.sources() == ["a = 1"]
        await begin(task, "Print much.")
        for number in range(8):
            await step(task, AddCell(), code=f"print({number})")
        assert ending(task).state == "not_done" and task.sources() == ["a = 1"] and len(task.flow.endings) == 2


async def test_what_was_done_is_not_done_twice_and_then_told(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1") as task:
        await begin(task, "Show a.")
        for _ in range(3):
            await step(task, AddCell(), code="a + 1")
        assert task.sources() == ["a = 1", "a + 1"]
        assert task.flow.completed == ["```text\n2\n```"] and ending(task).state == "unchecked"


async def test_a_failed_try_among_others_is_taken_away(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1") as task:
        await begin(task, "Show a.")
        await step(task, AddCell(), code="print(aa)")
        await step(task, AddCell(), code="print(a)")
        await step(task, AddText(), kind="text", text="# Notes", place="top")
        await step(task, AnswerTool(), text="It is shown.")
        assert task.sources() == ["# Notes", "a = 1", "print(a)"] and ending(task).state == "unchecked"


async def test_what_the_person_says_about_a_result_is_no_end(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, "a = 1") as task:
        await begin(task, "Show a.")
        await step(task, AddCell(), code="print(a)")
        task.flow.completion = Completion(accepted=False, feedback="and b?")
        assert await step(task, AnswerTool(), text="It is 1.") == "The person says: and b?"
        assert [cell.works for cell in task.state.changed] == [True]


async def test_a_model_that_takes_the_wrong_cell_is_told_the_one_that_is_meant(tmp_path: Path) -> None:
    async with notebook_task(tmp_path, READ, "limit = 20\nprint(limit)") as task:
        await run_all(task)
        await begin(task, "Set limit to 17.")
        assert await step(task, EditCell(), cell=1, code="limit = 17\nprint(limit)") == "The request means cell 2."
        await step(task, EditCell(), cell=2, code="limit = 17\nprint(limit)")
        assert task.sources() == [READ, "limit = 17\nprint(limit)"] and not task.asked


async def test_three_rows_of_a_table_are_no_evidence_for_all(tmp_path: Path) -> None:
    (tmp_path / "flats.csv").write_text("rent\n700\n900\n", encoding="utf-8")
    async with notebook_task(tmp_path, "import pandas as pd\nflats = pd.read_csv('flats.csv')") as task:
        await run_all(task)
        await begin(task, "What is the highest rent?")
        assert "No cell has shown 900" in await step(task, AnswerTool(), text="The highest rent is 900.")
        await begin(task, "How many flats are empty?")
        assert "No cell has shown 0" in await step(task, AnswerTool(), text="There are 0.")
