"""Files, notebooks, variables and a conversation go back together, and forth again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hdsp_agent.checkpoints.timeline import Parts, TimelineLimits
from hdsp_agent.checkpoints.variables import VariableLimits
from hdsp_agent.errors import Conflict, HdspAgentError, InvalidInput, NotFound, Unavailable, Unsupported
from hdsp_agent.messages import ConversationPreview, TaskId
from hdsp_agent.notebooks import TabSilent

from ...notebooks._helpers.headless import end_kernel
from ...notebooks._helpers.pages import code
from ._helpers.timeline_fixtures import CELLS, EVERYTHING, PATH, TASK, TimelineSetup, timeline_setup


class Conversation:
    """One that counts how often it went back."""

    def __init__(self, error: HdspAgentError | None = None) -> None:
        self.error = error
        self.done: list[str] = []
        self.marks: list[str] = []

    @property
    def task_id(self) -> TaskId:
        return TASK

    async def preview(self) -> ConversationPreview | None:
        return ConversationPreview(
            operation="rewind", removed=3, restored=0, tool_calls=1, effects=[], more_effects=0, can_be_undone=True,
            gone_on=False, stops_task=False,
        )  # fmt: skip

    async def go_back(self, mark_id: str) -> None:
        if self.error is not None:
            raise self.error
        self._note("back", mark_id)

    async def undo(self, mark_id: str, as_mark: str) -> None:
        self._note(f"undo {self._called(mark_id)}", as_mark)

    async def put_back(self, mark_id: str) -> None:
        if mark_id in self.marks:
            self.done.append(f"put back {self._called(mark_id)}")

    def _note(self, what: str, mark_id: str) -> None:
        self.done.append(what)
        self.marks.append(mark_id)

    def _called(self, mark_id: str) -> str:
        return f"mark{self.marks.index(mark_id) + 1}"


async def broken(here: TimelineSetup) -> str:
    """A checkpoint, and an agent that breaks the notebook, a file and a variable after it; the moment's id."""
    await here.run("value = [1, 2, 3]")
    target = await here.save(code="thorough", message_ts=1000)
    await here.edit("one", "a = 1", "a = broken")
    (here.root / "data.csv").write_text("gone\n", "utf-8")
    await here.run("value.clear(); later = 1")
    await here.save("after run_cell", by="agent", code="after")
    return target.id


async def is_whole(here: TimelineSetup) -> bool:
    return (here.sources, here.csv, await here.value("value")) == (["a = 1", "b = 2"], "x\n1\n", "[1, 2, 3]")


async def is_broken(here: TimelineSetup) -> bool:
    return (here.sources, here.csv, await here.value("value")) == (["a = broken", "b = 2"], "gone\n", "[]")


async def test_one_restore_brings_all_parts_back_and_one_undo_the_breakage(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        conversation = Conversation()
        preview = await here.line.preview(target, EVERYTHING, conversation=await conversation.preview())
        assert preview.files is not None and [change.path for change in preview.files.changes] == ["data.csv"]
        assert [(one.path, one.open, [cell.action for cell in one.cells]) for one in preview.notebooks] == [
            (PATH, False, ["change"])
        ]
        assert {(one.name, one.action) for one in preview.variables[0].variables} == {
            ("value", "load"), ("later", "remove"),
        }  # fmt: skip
        assert preview.conversation is not None and not preview.nothing
        assert await is_broken(here), "looking changed something"

        done = await here.line.restore(target, EVERYTHING, conversation=conversation)
        assert await is_whole(here) and await here.value("'later' in globals()") == "False"
        assert done.operation.parts == ("files", "notebooks", "variables", "conversation")
        assert done.operation.status == "done" and done.operation.undoable and conversation.done == ["back"]

        undone = await here.line.undo(done.operation.id, conversation=conversation)
        assert await is_broken(here) and conversation.done == ["back", "undo mark1"]
        await here.line.undo(undone.operation.id, conversation=conversation)
        assert await is_whole(here) and conversation.done[-1] == "undo mark2"


@pytest.mark.parametrize("saved", [False, True])
async def test_what_a_person_does_during_a_restore_is_theirs(tmp_path: Path, saved: bool) -> None:
    class Busy(Conversation):
        async def go_back(self, mark_id: str) -> None:
            (here.root / "data.csv").write_text("the person's\n", "utf-8")
            (here.root / "theirs.txt").write_text("the person's\n", "utf-8")
            if saved:
                another = here.another_line()
                await another.save("before run_cell")
                await another.close()
            await super().go_back(mark_id)

    async with timeline_setup(tmp_path) as here:
        (here.root / "other.txt").write_text("then\n", "utf-8")
        target = await here.save()
        await here.edit("one", "1", "broken")
        (here.root / "data.csv").write_text("gone\n", "utf-8")
        (here.root / "other.txt").write_text("gone\n", "utf-8")
        await here.save("after run_cell", by="agent")
        done = await here.line.restore(target.id, EVERYTHING, conversation=Busy())
        record = (await here.line.files.operations(1))[0].checkpoint
        assert record is not None and record.claims is not None
        assert {"other.txt", PATH} == {claim.path for claim in record.claims}
        await here.line.restore(target.id, EVERYTHING)
        assert here.csv == (here.root / "theirs.txt").read_text("utf-8") == "the person's\n"
        await here.line.undo(done.operation.id)
        assert here.csv == "the person's\n" and here.sources[0] == "a = broken"
        assert (here.root / "other.txt").read_text("utf-8") == "gone\n"


async def test_the_log_says_it_in_one_line(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        conversation = Conversation()
        done = await here.line.restore(target, EVERYTHING, conversation=conversation)
        newest = (await here.line.files.operations(1))[0]
        assert newest.id == done.operation.id and newest.parts is not None and newest.checkpoint is not None
        assert newest.parts.selected == ("files", "notebooks", "variables", "conversation")
        assert [one.path for one in newest.parts.notebooks] == [PATH]
        assert [one.path for one in newest.parts.variables] == [PATH]
        assert newest.parts.conversation is not None and [newest.parts.conversation.mark_id] == conversation.marks
        view = await here.line.view()
        assert view.here is not None and view.here.id == newest.checkpoint.id
        assert view.operations[0].id == newest.id and view.interrupted is None
        assert [one.kind for one in view.operations[:2]] == ["restore", "save"]


async def test_parts_go_back_alone(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        await here.line.restore(target, Parts(files=True))
        assert here.csv == "x\n1\n" and here.sources[0] == "a = broken"
        done = await here.line.restore(target, Parts(variables=True))
        assert await here.value("value") == "[1, 2, 3]" and here.sources[0] == "a = broken"
        await here.line.restore(target, CELLS)
        assert await is_whole(here)
        (here.root / "data.csv").write_text("the person's\n", "utf-8")
        await here.line.undo(done.operation.id)
        assert await here.value("value") == "[]" and here.sources[0] == "a = 1" and here.csv == "the person's\n"


async def test_one_file_of_many(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        (here.root / "other.txt").write_text("then", "utf-8")
        target = await broken(here)
        (here.root / "other.txt").write_text("now", "utf-8")
        await here.save(by="agent")
        await here.line.restore(target, Parts(files=True, path="data.csv"))
        assert here.csv == "x\n1\n" and (here.root / "other.txt").read_text("utf-8") == "now"


async def test_one_cell_goes_back_and_forth_alone(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await here.save()
        await here.edit("one", "1", "mine")
        await here.edit("two", "2", "mine")
        done = await here.line.restore(target.id, Parts(notebooks=True, path=PATH, cell_id="two"))
        assert here.sources == ["a = mine", "b = 2"]
        await here.edit("one", "mine", "later")
        await here.line.undo(done.operation.id)
        assert here.sources == ["a = later", "b = mine"]
        with pytest.raises(NotFound, match="no cell"):
            await here.line.restore(target.id, Parts(notebooks=True, path=PATH, cell_id="nowhere"))


async def test_one_notebook_is_restored_as_a_file_too_where_nobody_has_it_open(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        before = here.file.read_bytes()
        target = await here.save()
        await here.edit("one", "1", "broken")
        await here.save("after edit", by="agent")
        (here.root / "data.csv").write_text("later\n", "utf-8")
        done = await here.line.restore(target.id, Parts(files=True, path=PATH))
        assert here.file.read_bytes() == before and here.csv == "later\n"
        await here.line.undo(done.operation.id)
        assert here.sources[0] == "a = broken" and here.csv == "later\n"


async def test_a_notebook_that_is_in_no_moment_is_told_so(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await here.save()
        await here.notebooks.access.create("later.ipynb")
        with pytest.raises(NotFound, match=r"later\.ipynb"):
            await here.line.restore(target.id, Parts(notebooks=True, path="later.ipynb"))
        preview = await here.line.preview(target.id, Parts(notebooks=True, path="later.ipynb"))
        assert preview.notebooks[0].why_not is not None and preview.nothing


async def test_what_the_agent_is_just_doing_to_a_notebook_is_its_own(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await here.save()
        await here.edit("one", "1", "broken")
        await here.line.save("meanwhile", changes_by="agent")
        await here.line.restore(target.id, CELLS)
        assert here.sources == ["a = 1", "b = 2"]


async def test_a_busy_kernel_is_told_of_soon(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        running = asyncio.create_task(here.run("import time; time.sleep(50)"))
        await here.until_it_runs()
        line = here.another_line(limits=TimelineLimits(busy_seconds=0.3))
        preview = await line.preview(target, EVERYTHING)
        assert preview.variables[0].why_not is not None and "runs a cell" in preview.variables[0].why_not
        assert preview.variables[0].refuses and preview.variables[0].coded is not None
        assert preview.variables[0].coded.code == "kernel_busy"
        with pytest.raises(Unavailable, match="runs a cell"):
            await line.restore(target, EVERYTHING)
        assert here.csv == "gone\n" and here.sources[0] == "a = broken" and not running.done()
        await here.notebooks.executor.interrupt(PATH)
        with pytest.raises(AssertionError):
            await running
        await line.close()


async def test_what_cannot_be_saved_is_not_lost_by_going_back(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        await here.run("model = (n for n in range(9)); value = (n for n in 'now')")
        preview = await here.line.preview(target, EVERYTHING)
        shown = {one.name: one.action for one in preview.variables[0].variables}
        assert shown == {"model": "keep_unsaved", "value": "keep_unsaved", "later": "remove"}
        assert all(one.why for one in preview.variables[0].variables[:2])
        done = await here.line.restore(target, EVERYTHING)
        assert await here.value("next(model), next(value), 'later' in globals()") == "0 n False"
        await here.line.undo(done.operation.id)
        assert await here.value("next(model), next(value), later") == "1 o 1"
        await here.line.restore(target, EVERYTHING.model_copy(update={"overwrite": True}))
        assert await here.value("'model' in globals(), value") == "False [1, 2, 3]"


async def test_an_unsaved_edit_of_another_cell_stays(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        page = here.open()
        target = await here.save()
        await here.edit("one", "1", "broken")
        await here.save("after edit", by="agent")
        page.type_in(1, "typed, not saved")
        preview = await here.line.preview(target.id, CELLS)
        assert [(cell.cell_id, cell.action) for cell in preview.notebooks[0].cells] == [
            ("one", "change"), ("two", "keep"),
        ]  # fmt: skip
        assert preview.notebooks[0].open
        asked = len(page.asked)
        done = await here.line.restore(target.id, CELLS)
        assert page.sources == ["a = 1", "typed, not saved"]
        assert len(page.asked) == asked + 1, "not one step that Ctrl+Z takes back"
        await here.line.undo(done.operation.id)
        assert page.sources == ["a = broken", "typed, not saved"]
        await here.line.restore(target.id, Parts(notebooks=True, overwrite=True))
        assert page.sources == ["a = 1", "b = 2"]


@pytest.mark.parametrize("lost", ["the tab was silent", "the state was dropped"])
async def test_an_unsaved_edit_that_was_not_kept_before_the_agents_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    async with timeline_setup(tmp_path) as here:
        page = here.open()
        target = await here.save()
        page.type_in(1, "typed, not saved")

        async def silent(*_: object) -> None:
            raise TabSilent

        with monkeypatch.context() as patch:
            if lost == "the tab was silent":
                patch.setattr(here.tabs, "read", silent)
            before = await here.save("before edit", message_ts=2)
        assert bool(before.left_out) == (lost == "the tab was silent")
        for kept in before.notebooks:
            (here.files.folder / "notebooks" / kept.state).unlink()
        await here.edit("one", "1", "broken")
        await here.save("after edit", by="agent")
        await here.line.restore(target.id, CELLS)
        assert page.sources[1] == "typed, not saved"


async def test_unsaved_cells_are_kept_as_they_were(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        page = here.open()
        page.type_in(0, "not on the disk")
        target = await here.save()
        assert target.notebooks[0].dirty
        await here.edit("one", "not on", "broken on")
        await here.save("after edit", by="agent")
        await here.line.restore(target.id, EVERYTHING)
        assert page.sources == ["not on the disk", "b = 2"]


async def test_an_open_notebook_of_which_only_the_file_is_known_goes_back_in_its_tab(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await here.save(notebooks=())
        page = here.open()
        await here.edit("one", "1", "broken")
        await here.save("after edit", by="agent")
        preview = await here.line.preview(target.id, EVERYTHING)
        assert preview.files is not None and not preview.files.changes and not preview.files.open_notebooks
        await here.line.restore(target.id, EVERYTHING)
        assert page.sources == ["a = 1", "b = 2"]
        await here.edit("one", "1", "broken")
        await here.save("after edit", by="agent")
        preview = await here.line.preview(target.id, Parts(files=True))
        assert preview.files is not None and preview.files.open_notebooks == [PATH] and preview.nothing


async def test_a_deleted_notebook_comes_back_as_a_file(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await here.save()
        here.file.unlink()
        here.notebooks.access.deleted(PATH)
        await here.save("after rm", by="agent")
        done = await here.line.restore(target.id, CELLS)
        assert here.sources == ["a = 1", "b = 2"]
        snapshot = await here.notebooks.access.document(PATH).snapshot()
        assert len(snapshot.cells) == 2, "nobody can work with it"
        await here.line.undo(done.operation.id)
        assert not here.file.exists()


@pytest.mark.parametrize("came", [False, True])
async def test_the_desk_knows_what_is_there_after_a_restore_that_failed(tmp_path: Path, came: bool) -> None:
    async with timeline_setup(tmp_path) as here:
        other = here.root / "other.ipynb"
        if came:
            other.write_bytes(here.file.read_bytes())
        target = await here.save(notebooks=(), message_ts=1000)
        if came:
            other.unlink()
            here.notebooks.access.deleted("other.ipynb")
        else:
            other.write_bytes(here.file.read_bytes())
        await here.save("after", by="agent", notebooks=())
        with pytest.raises(Conflict, match="went on"):
            await here.line.restore(target.id, EVERYTHING, conversation=Conversation(Conflict("It went on.")))
        assert other.exists() is not came
        document = here.notebooks.access.document("other.ipynb")
        if came:
            with pytest.raises(NotFound, match="deleted in the meantime"):
                await document.snapshot()
        else:
            assert len((await document.snapshot()).cells) == 2, "nobody can work with it"


async def test_without_a_kernel_the_rest_goes_back_and_says_why(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        await end_kernel(here.notebooks.executor, PATH)
        done = await here.line.restore(target, EVERYTHING)
        assert here.sources == ["a = 1", "b = 2"] and here.csv == "x\n1\n"
        assert done.variables[0].why_not is not None and "no running kernel" in done.variables[0].why_not
        assert not [kernel for kernel in await here.notebooks.executor.kernels()], "a kernel was started"


async def test_another_life_of_the_kernel_gets_the_variables(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        await here.notebooks.executor.restart(PATH)
        done = await here.line.restore(target, EVERYTHING)
        assert await is_whole(here) and done.variables[0].cold


async def test_another_language_has_no_variables_to_keep(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        names = await here.notebooks.executor.kernel_specs()
        if "bash" not in names:
            pytest.skip("there is no other kernel here")
        await here.notebooks.executor.start(PATH, "bash")
        record = await here.save(code="thorough")
        assert not record.variables and record.notebooks
        assert [(one.part, "Python" in one.why) for one in record.left_out] == [("variables", True)]


async def test_what_was_not_restored_is_named_with_the_reason(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        here.values.set_limits(VariableLimits(variable_bytes=100_000))
        await here.run("big = bytearray(200_000); gen = iter([1]); gen = (n for n in range(9)); small = [1]")
        target = await here.save(code="thorough")
        await here.run("big[0] = 7; next(gen); small.append(2)")
        variables = Parts(variables=True)
        shown = (await here.line.preview(target.id, variables)).variables[0]
        done = (await here.line.restore(target.id, variables)).variables[0]
        for told in (shown, done):
            assert {one.name: (one.action, one.why) for one in told.variables} == {
                "big": ("keep_live", "it is larger than the 0 MB a variable may have"),
                "gen": ("keep_live", "it holds a generator"),
                "small": ("load", None),
            }
            assert told.right == 0
        assert await here.value("small, big[0]") == "[1] 7"


async def test_one_variable_is_left_out_also_when_that_is_undone(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run(
            "class Odd:\n    def __reduce__(self): return int, (text,)\ntext = '1'; odd = Odd(); small = [1]"
        )
        target = await here.save(code="thorough")
        await here.run("odd = 0; small.append(2)")
        parts = Parts(variables=True, leave_variables=("small",))
        shown = (await here.line.preview(target.id, parts)).variables[0]
        assert [one.name for one in shown.variables] == ["odd"]
        done = await here.line.restore(target.id, parts)
        assert await here.value("odd, small") == "1 [1, 2]"
        await here.run("small.append(3)")
        await here.line.undo(done.operation.id)
        assert await here.value("odd, small") == "0 [1, 2, 3]"


async def test_one_variable_comes_back_alone_and_goes_again(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("inner = [1]; outer = [inner]; other = 1")
        target = await here.save(code="thorough")
        await here.run("inner.append(2); other = 2; later = 3")
        parts = Parts(variables=True, path=PATH, only_variables=("outer",))
        shown = (await here.line.preview(target.id, parts)).variables[0]
        assert [(one.name, one.action) for one in shown.variables] == [("outer", "load")]
        done = await here.line.restore(target.id, parts)
        # What shares objects with it is not touched.
        assert await here.value("inner, outer, other, later") == "[1, 2] [[1]] 2 3"
        await here.run("later = 4")
        await here.line.undo(done.operation.id)
        assert await here.value("inner, outer, other, later") == "[1, 2] [[1, 2]] 2 4"


async def test_classes_that_one_variable_does_not_need_stay_as_they_are(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("class A:\n    n = 0\nclass B:\n    n = 0\nrows = [1]; b = [B()]")
        target = await here.save(code="thorough")
        await here.run("A.n = B.n = 5; rows.append(2); b.append(3)")
        alone = Parts(variables=True, path=PATH, only_variables=("rows",))
        done = await here.line.restore(target.id, alone)
        assert await here.value("[rows, A.n, B.n]") == "[[1], 5, 5]"
        await here.run("A.n = 7")
        await here.line.undo(done.operation.id)
        assert await here.value("[rows, A.n, B.n]") == "[[1, 2], 7, 5]"
        # An instance needs its class as it was.
        await here.line.restore(target.id, Parts(variables=True, path=PATH, only_variables=("b",)))
        assert await here.value("[len(b), A.n, B.n]") == "[1, 7, 0]"


async def test_one_that_was_deleted_comes_back_alone(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("a = [1]; b = [2]")
        target = await here.save(code="thorough")
        await here.run("del a, b; c = 3")
        await here.line.restore(target.id, Parts(variables=True, path=PATH, only_variables=("a",)))
        assert await here.value("a, c, 'b' in globals()") == "[1] 3 False"


# ---- what fails


@pytest.mark.parametrize("open_in_tab", [False, True])
async def test_variables_that_fail_leave_notebook_and_files_as_they_were(tmp_path: Path, open_in_tab: bool) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        page = here.open() if open_in_tab else None

        async def fail(*_: object, **__: object) -> None:
            raise Unavailable("value cannot be restored")

        here.values.restore = fail  # type: ignore[method-assign,assignment]  # no variable fails by itself
        with pytest.raises(Unavailable, match="cannot be restored"):
            await here.line.restore(target, EVERYTHING, conversation=(conversation := Conversation()))
        assert await is_broken(here) and not conversation.done
        assert page is None or page.sources == ["a = broken", "b = 2"]
        kinds = [(one.kind, one.status, one.error) for one in await here.line.files.operations(3)]
        assert ("restore", "rolled_back", "value cannot be restored") in kinds
        assert await here.line.interrupted() is None


async def test_a_kernel_that_begins_a_cell_meanwhile_leaves_all_as_it_was(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        line = here.another_line(limits=TimelineLimits(variables_seconds=3))
        restore, running = here.values.restore, []

        async def late(*asked: object, **options: object) -> object:
            running.append(asyncio.create_task(here.run("import time; time.sleep(60)")))
            await here.until_it_runs()
            return await restore(*asked, **options)  # type: ignore[arg-type]  # as it was asked

        here.values.restore = late  # type: ignore[method-assign,assignment]  # just then
        with pytest.raises(Conflict, match="is busy"):
            await asyncio.wait_for(line.restore(target, EVERYTHING), 50)
        await here.notebooks.executor.interrupt(PATH)
        await asyncio.gather(*running, return_exceptions=True)
        assert await is_broken(here) and await line.interrupted() is None
        await line.close()


async def test_variables_are_taken_back_if_the_kernel_was_asked_already(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        restore = here.values.restore

        async def cut_short(*asked: object, **options: object) -> None:
            here.values.restore = restore  # type: ignore[method-assign]  # once
            await restore(*asked, **options)  # type: ignore[arg-type]  # as it was asked
            raise Unavailable("the answer was lost")

        here.values.restore = cut_short  # type: ignore[method-assign,assignment]  # after the kernel did it
        with pytest.raises(Unavailable, match="the answer was lost"):
            await here.line.restore(target, EVERYTHING)
        assert await is_broken(here) and await here.line.interrupted() is None


async def test_a_conversation_that_fails_takes_all_back(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        with pytest.raises(Unsupported, match="no way back"):
            await here.line.restore(target, EVERYTHING, conversation=Conversation(Unsupported("no way back")))
        assert await is_broken(here)


async def test_a_silent_tab_stops_a_restore_before_it_begins(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        here.open()

        async def silent(*_: object) -> None:
            raise TabSilent

        here.tabs.read = silent  # type: ignore[method-assign,assignment]  # a tab with a dialog
        preview = await here.line.preview(target, EVERYTHING)
        assert preview.notebooks[0].why_not is not None and "does not answer" in preview.notebooks[0].why_not
        with pytest.raises(Unavailable, match="does not answer"):
            await here.line.restore(target, EVERYTHING)
        assert here.csv == "gone\n" and await here.value("value") == "[]"
        record = await here.save("while it is silent")
        assert not record.notebooks or record.reason != "while it is silent"


async def test_a_person_who_types_meanwhile_loses_nothing(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        page = here.open()
        target = await here.save()
        await here.edit("one", "1", "broken")
        await here.save("after edit", by="agent")
        typed = iter([True])

        def type_once() -> None:
            if next(typed, False):
                page.type_in(0, "typed at that moment")

        here.tabs.before = type_once
        await here.line.restore(target.id, CELLS)
        assert page.sources == ["typed at that moment", "b = 2"]


async def test_what_was_taken_back_cannot_be_taken_back_again(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await broken(here)
        done = await here.line.restore(target, CELLS)
        await here.line.undo(done.operation.id)
        with pytest.raises(InvalidInput, match="nothing to undo"):
            await here.line.undo(done.operation.id)


async def test_a_notebook_that_is_left_alone_stays(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path, code("one", "a = 1")) as here:
        target = await here.save()
        await here.edit("one", "1", "of another task")
        await here.save("after edit", by="agent")
        await here.line.restore(target.id, EVERYTHING, leave=[PATH])
        assert here.sources == ["a = of another task"]
