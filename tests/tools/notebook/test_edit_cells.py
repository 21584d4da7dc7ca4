"""Changing cells: atomic, exactly what was shown, and never over what the person wrote meanwhile."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest
from pydantic import JsonValue

from hdsp_agent.errors import UnsavedElsewhere
from hdsp_agent.messages import CellId, NotebookRef, TaskId
from hdsp_agent.notebooks import Applied, NotebookDocument
from hdsp_agent.notebooks._document import Operation
from hdsp_agent.tools import Approval
from tests._helpers.parsed_json import parsed

from .._helpers.recording_context import Approved, Reply
from ._helpers.notebook_tasks import NotebookTask, notebook_task


def by_rule(_: Approved) -> Approval:
    return Approval(approved=True)


async def test_all_kinds_of_changes_are_done_in_one_go(workspace: Path) -> None:
    async with notebook_task(workspace, "a = 1", "b = 2", "c = 3", "d = 4") as task:
        await task.text("read_notebook", view="cells")
        text = await task.text(
            "edit_cells",
            operations=[
                {"op": "insert", "after": "start", "source": "# Title", "cell_type": "markdown"},
                {"op": "insert", "after": "start", "source": "import os"},
                {"op": "edit", "cell": "c1", "old": "1", "new": "10"},
                {"op": "replace", "cell": 2, "source": "b = 20"},
                {"op": "delete", "cell": "c3"},
                {"op": "move", "cell": "c4", "after": "c1"},
                {"op": "insert", "source": "the end", "cell_type": "raw"},
            ],
        )
        sources = await asyncio.to_thread(task.sources)
        assert sources == ["# Title", "import os", "a = 10", "d = 4", "b = 20", "the end"]
        ids = await asyncio.to_thread(task.ids)
        assert ids[2:5] == ["c1", "c4", "c2"] and all(new in text for new in ids)


async def test_the_question_has_a_diff_for_each_cell(workspace: Path) -> None:
    async with notebook_task(workspace, "a = 1\nb = 2", "x") as task:
        await task.text("read_notebook", view="cells")
        await task.text(
            "edit_cells",
            operations=[
                {"op": "edit", "cell": "c1", "old": "b = 2", "new": "b = 3"},
                {"op": "edit", "cell": "c1", "old": "a = 1", "new": "a = 0"},
                {"op": "insert", "after": 1, "source": "new"},
                {"op": "delete", "cell": "c2"},
            ],
        )
        approved = task.approvals[-1]
        shown = approved.shown
        assert shown["tool"] == "editCells" and shown["diffStats"] == {"added": 3, "removed": 3}
        edit, insert, delete = parsed(shown["cellEdits"])
        assert edit["diff"].split("\n")[2:] == ["@@ -1,2 +1,2 @@", "-a = 1", "-b = 2", "+a = 0", "+b = 3"]
        assert [insert["op"], insert["after"], insert["cellType"]] == ["insert", 1, "code"]
        assert [delete["op"], delete["number"]] == ["delete", 2] and "-x" in delete["diff"]
        assert approved.action.risks == {"write"} and approved.action.path == "work.ipynb"


@pytest.mark.parametrize(
    ("operations", "why"),
    [
        ([{"op": "edit", "cell": "c1", "old": "nope", "new": "x"}], "is not in cell c1"),
        ([{"op": "edit", "cell": "c1", "old": "a", "new": "x"}], "2 times, not once"),
        ([{"op": "edit", "cell": "c1", "old": "a", "new": "a"}], "nothing would change"),
        ([{"op": "replace", "cell": "c1", "source": "a = a"}], "nothing would change"),
        ([{"op": "delete", "cell": "zz"}, {"op": "move", "cell": 9}], "Operation 2 (move): work.ipynb has no cell 9"),
        ([{"op": "delete", "cell": "c1"}, {"op": "edit", "cell": "c1", "old": "=", "new": "-"}], "deletes cell c1"),
        ([{"op": "clear_outputs", "cell": "c2"}], "only code cells have outputs"),
    ],
)
async def test_one_that_cannot_be_done_leaves_everything(workspace: Path, operations: list[object], why: str) -> None:
    async with notebook_task(workspace, "a = a", ("markdown", "text")) as task:
        await task.text("read_notebook", view="cells")
        before, asked = (workspace / "work.ipynb").read_bytes(), len(task.approvals)
        told = await task.failure("edit_cells", operations=[*operations])
        assert why in told
        assert (workspace / "work.ipynb").read_bytes() == before and len(task.approvals) == asked


async def test_a_source_the_model_never_read_is_not_taken_away(workspace: Path) -> None:
    async with notebook_task(workspace, "a = 1", "b = 2", "") as task:
        change = {"operations": [{"op": "replace", "cell": "c1", "source": "a = 3"}, {"op": "delete", "cell": "c2"}]}
        told = await task.failure("edit_cells", **change)
        assert "that you have not read" in told and "a = 1" in told and "b = 2" in told
        assert task.sources() == ["a = 1", "b = 2", ""]
        await task.text("edit_cells", **change)
        await task.text("edit_cells", operations=[{"op": "delete", "cell": 2}])
        assert task.sources() == ["a = 3"]


async def test_wrong_operations_are_told_precisely(workspace: Path) -> None:
    async with notebook_task(workspace, "a") as task:
        for operation, why in (
            ({"op": "insert"}, "insert needs source"),
            ({"op": "edit", "cell": "c1", "old": "a"}, "edit needs new"),
            ({"op": "delete", "cell": "c1", "source": "x"}, "delete takes no source"),
        ):
            with pytest.raises(Exception, match=why):
                await task.call("edit_cells", operations=[operation])


async def test_a_cell_the_person_changed_since_it_was_read_is_not_overwritten(workspace: Path) -> None:
    async with notebook_task(workspace, "a = 1", "b = 2") as task:
        await task.text("read_notebook", view="cells")
        await asyncio.to_thread(task.change, "c1", "a = 'the person'")
        change = {"operations": [{"op": "replace", "cell": "c1", "source": "a = 'the agent'"}]}
        told = await task.failure("edit_cells", **change)
        assert "changed by somebody else" in told and "a = 'the person'" in told
        assert [approved.action.tool for approved in task.approvals] == ["read_notebook"]
        await task.text("edit_cells", **change)
        assert (await asyncio.to_thread(task.sources))[0] == "a = 'the agent'"


async def test_a_cell_changed_while_the_question_waits_is_not_overwritten(workspace: Path) -> None:
    async with notebook_task(workspace, "a = 1", "b = 2") as task:
        await task.text("read_notebook", view="cells")

        async def decide(_: object) -> Approval:
            await asyncio.to_thread(task.change, "c1", "a = 'meanwhile'")
            return Approval(approved=True, by_person=True)

        task.decide = decide
        told = await task.failure(
            "edit_cells", operations=[{"op": "edit", "cell": "c1", "old": "1", "new": "2"}, {"op": "delete", "cell": 2}]
        )
        assert "nothing was changed" in told and "a = 'meanwhile'" in told
        assert await asyncio.to_thread(task.sources) == ["a = 'meanwhile'", "b = 2"]


async def test_its_own_changes_are_no_surprise_and_a_denial_does_nothing(workspace: Path) -> None:
    async with notebook_task(workspace, "a = 1") as task:
        await task.text("read_notebook", view="cells")
        for value in "234":
            await task.text("edit_cells", operations=[{"op": "replace", "cell": "c1", "source": f"a = {value}"}])
        task.decide = lambda _: Approval(approved=False, feedback="rather not")
        assert "rather not" in await task.failure("edit_cells", operations=[{"op": "delete", "cell": "c1"}])
        assert await asyncio.to_thread(task.sources) == ["a = 4"]


async def test_what_the_person_approved_does_not_wait_for_them_again(workspace: Path) -> None:
    async with notebook_task(workspace, "a = 1", "b = 2") as task:
        await task.text("read_notebook", view="cells")
        await task.text("edit_cells", operations=[{"op": "edit", "cell": "c1", "old": "1", "new": "2"}])
        assert task.notebooks.unreviewed.of("work.ipynb") == []
        task.decide = by_rule
        await task.text("edit_cells", operations=[{"op": "edit", "cell": "c2", "old": "2", "new": "3"}])
        task.decide = lambda _: Approval(approved=True, by_person=True)
        await task.text("edit_cells", operations=[{"op": "edit", "cell": "c2", "old": "3", "new": "4"}])
        [waiting] = task.notebooks.unreviewed.of("work.ipynb")
        assert (waiting.before, waiting.after) == ("b = 2", "b = 4")


async def test_what_was_changed_while_nobody_had_the_notebook_open_can_be_looked_at_later(workspace: Path) -> None:
    async with notebook_task(workspace, "a = 1", "b = 2") as task:
        task.decide = by_rule
        await task.text("read_notebook", view="cells")
        operations = [{"op": "edit", "cell": "c1", "old": "1", "new": "2"}, {"op": "delete", "cell": "c2"}]
        await task.text("edit_cells", operations=operations)
        edited, deleted = task.notebooks.unreviewed.of("work.ipynb")
        assert (edited.cell_id, edited.before, edited.after, edited.task_id) == ("c1", "a = 1", "a = 2", task.task_id)
        assert (deleted.before, deleted.after) == ("b = 2", None) and deleted.removed is not None


async def test_masked_values_are_put_back_only_where_they_were(workspace: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    async with notebook_task(workspace, f"key = '{secret}'\nx = 1", "y = 2") as task:
        shown = await task.text("read_notebook", view="cells")
        assert secret not in shown
        masked = shown.split("key = '")[1].split("'")[0]
        await task.text(
            "edit_cells", operations=[{"op": "replace", "cell": "c1", "source": f"key = '{masked}'\nx = 2"}]
        )
        assert not task.approvals[-1].action.puts_back_masked
        assert secret not in task.approvals[-1].text
        assert (await asyncio.to_thread(task.sources))[0] == f"key = '{secret}'\nx = 2"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs permissions that hold")
async def test_a_read_only_notebook_stays_as_it_is(workspace: Path) -> None:
    async with notebook_task(workspace, "a") as task:
        (workspace / "work.ipynb").chmod(0o400)
        assert "read-only" in await task.failure("edit_cells", operations=[{"op": "delete", "cell": 1}])


async def test_where_a_tab_has_unsaved_changes_the_person_is_asked(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with notebook_task(workspace, "a = 1") as task:
        document = type(task.notebooks.access.document("work.ipynb"))
        apply, left = document.apply, [2]

        async def unsaved(
            self: NotebookDocument,
            operations: Sequence[Operation],
            *,
            save: bool = True,
            task_id: TaskId | None = None,
            review: bool = False,
            signatures: Collection[str] | None = None,
        ) -> Applied:
            if left[0]:
                left[0] -= 1
                raise UnsavedElsewhere("work.ipynb has changes in a browser tab that are not saved.")
            return await apply(self, operations, save=save, task_id=task_id, review=review, signatures=signatures)

        monkeypatch.setattr(document, "apply", unsaved)
        change = {"operations": [{"op": "edit", "cell": "c1", "old": "1", "new": "2"}]}
        task.reply = Reply(text="Leave the notebook as it is")
        assert "The person, asked about it, said: Leave" in await task.failure("edit_cells", **change)
        assert task.asked[0][0] == "followup" and "Shall I go on?" in (task.asked[0][1] or "")
        task.reply = Reply(text="I have saved it: go on")
        await task.text("edit_cells", **change)
        assert await asyncio.to_thread(task.sources) == ["a = 2"]


async def test_what_streams_in_is_shown_before_it_is_whole(workspace: Path) -> None:
    def preview(task: NotebookTask, operations: list[JsonValue]) -> str | None:
        return task.registry.get("edit_cells").preview({"operations": operations}, task)

    async with notebook_task(workspace, "a") as task:
        assert preview(task, []) is None
        shown = preview(task, [{"op": "insert", "source": "import pan"}, {"op": "edi"}])
        assert shown is not None and '"tool":"editCells","path":"work.ipynb"' in shown
        assert '"op":"insert","diff":"+import pan"' in shown


async def test_a_cell_at_which_the_person_asked_for_it_may_be_changed_and_no_other(workspace: Path) -> None:
    async with notebook_task(workspace, "a = 1", "b = 2") as task:
        await task.text("read_notebook", view="cells")
        replace: dict[str, JsonValue] = {"op": "replace", "cell": "c1", "source": "a = 10"}

        async def allowed(*operations: JsonValue) -> bool:
            await task.text("edit_cells", operations=[*operations])
            return task.approvals[-1].action.allowed_before

        assert not await allowed(replace)
        task.state.person_spoke(NotebookRef(path="work.ipynb", cell_id=CellId("c1")))
        assert await allowed({"op": "edit", "cell": "c1", "old": "10", "new": "11"})
        assert not await allowed({"op": "edit", "cell": "c2", "old": "2", "new": "3"})
        assert not await allowed(replace, {"op": "edit", "cell": "c2", "old": "3", "new": "4"})
        assert not await allowed({"op": "replace", "cell": "c1", "source": "x"}, {"op": "insert", "source": "y"})
        assert not await allowed({"op": "insert", "source": "z"})
        task.state.person_spoke()
        assert not await allowed(replace)
        task.state.person_spoke(NotebookRef(path="other.ipynb", cell_id=CellId("c1")))
        assert not await allowed({"op": "edit", "cell": "c1", "old": "10", "new": "11"})
