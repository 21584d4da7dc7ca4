"""What a checkpoint keeps of notebooks and kernels, what it leaves out, and what becomes of it."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import threading
import weakref
from pathlib import Path

import pytest

from hdsp_agent.checkpoints import FileLimits
from hdsp_agent.checkpoints.timeline import Parts, TimelineLimits
from hdsp_agent.checkpoints.timeline._notebook_states import KeptCell, NotebookState, NotebookStates
from hdsp_agent.checkpoints.variables import VariableLimits
from hdsp_agent.errors import NotFound, StorageUnavailable
from hdsp_agent.messages import CellId, InsertCell, JsonObject, SetCellMetadata, SetNotebookMetadata, SetOutputs
from tests._helpers.parsed_json import parsed

from ...notebooks._helpers.pages import code
from ._helpers.timeline_fixtures import CELLS, PATH, TASK, TimelineSetup, timeline_setup

SMALL: JsonObject = {"output_type": "stream", "name": "stdout", "text": "small"}


def states_in(here: TimelineSetup) -> set[str]:
    return set(os.listdir(here.files.folder / "notebooks"))


# ---- what is kept


async def test_cells_and_variables_are_kept_with_the_files(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("value = 1")
        record = await here.save(code="thorough")
        assert [one.path for one in record.notebooks] == [PATH] == [one.path for one in record.variables]
        assert not record.left_out and states_in(here) == {record.notebooks[0].state}
        again = await here.save(code="after")
        assert again.id == record.id, "nothing changed, and there is a checkpoint of it"
        await here.run("value = 2")
        assert (await here.save(code="after")).id != record.id


async def test_without_a_kernel_none_is_started(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        record = await here.save(code="thorough", notebooks=(PATH, "nowhere.ipynb"))
        assert not record.variables and not record.left_out and len(record.notebooks) == 1
        assert not await here.notebooks.executor.kernels()


async def test_a_tab_that_is_silent_holds_no_moment_up(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        here.open()

        async def never(*_: object) -> None:
            await asyncio.Event().wait()

        here.tabs.read = never  # type: ignore[method-assign,assignment]  # a tab that does not answer
        line = here.another_line(limits=TimelineLimits(notebook_seconds=0.1))
        record = await line.save("before edit", notebooks=[PATH])
        assert not record.notebooks
        assert [(one.path, one.part, "0.1 seconds" in one.why) for one in record.left_out] == [
            (PATH, "notebooks", True)
        ]
        await line.close()


async def test_a_kernel_that_runs_a_cell_holds_no_moment_up(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("value = 1")
        running = asyncio.create_task(here.run("import time; time.sleep(50)"))
        await here.until_it_runs()
        line = here.another_line(limits=TimelineLimits(busy_seconds=0.2, variables_seconds=0.2))
        record = await line.save("before edit", notebooks=[PATH], code="thorough")
        assert record.notebooks and not record.variables and record.left_out[0].part == "variables"
        assert not running.done()
        await here.notebooks.executor.interrupt(PATH)
        with pytest.raises(AssertionError):
            await running
        await line.close()


async def test_large_outputs_are_left_out_and_nothing_else(tmp_path: Path) -> None:
    big: JsonObject = {"output_type": "stream", "name": "stdout", "text": "x" * 5000}
    async with timeline_setup(tmp_path, {**code("one", "a = 1"), "outputs": [big], "execution_count": 1}) as here:
        line = here.another_line(limits=TimelineLimits(cell_output_bytes=1000))
        record = await line.save("before edit", notebooks=[PATH])
        state = NotebookStates(here.files.folder / "notebooks").load(record.notebooks[0].state)
        assert state.cells[0].left_out and not state.cells[0].outputs and state.cells[0].source == "a = 1"
        await here.edit("one", "1", "broken")
        await line.save("after edit", notebooks=[PATH], changes_by="agent")
        await line.restore(record.id, CELLS)
        assert here.sources == ["a = 1"] and here.outputs[0], "they are the same outputs still"
        await here.edit("one", "1", "broken")
        await here.notebooks.access.document(PATH).apply([SetOutputs(cell_id=CellId("one"), outputs=[SMALL])])
        await line.save("after edit", notebooks=[PATH], changes_by="agent")
        await line.restore(record.id, CELLS)
        assert here.sources == ["a = 1"] and not here.outputs[0], "they are of something else"
        await line.close()


async def test_large_outputs_that_a_restore_takes_away_come_back_with_its_undo(tmp_path: Path) -> None:
    big: JsonObject = {"output_type": "stream", "name": "stdout", "text": "x" * 5000}
    async with timeline_setup(tmp_path) as here:
        line = here.another_line(limits=TimelineLimits(cell_output_bytes=1000))
        record = await line.save("before run", notebooks=[PATH])
        await here.notebooks.access.document(PATH).apply(
            [
                SetOutputs(cell_id=CellId("one"), outputs=[big], execution_count=1),
                InsertCell(cell_id=CellId("three"), after=CellId("two"), cell_type="code", source="c", outputs=[big]),
            ]
        )
        made = here.outputs
        await line.save("after run", notebooks=[PATH], changes_by="agent")
        done = await line.restore(record.id, CELLS)
        assert here.outputs == [[], []]
        done = await line.undo(done.operation.id)
        assert here.outputs == made and here.sources == ["a = 1", "b = 2", "c"]
        done = await line.undo(done.operation.id)
        assert here.outputs == [[], []]
        await line.undo(done.operation.id)
        assert here.outputs == made
        await line.close()


async def test_large_outputs_of_a_cell_that_only_says_something_else_are_not_kept_twice(tmp_path: Path) -> None:
    big: JsonObject = {"output_type": "stream", "name": "stdout", "text": "x" * 5000}
    async with timeline_setup(tmp_path, {**code("one", "a = 1"), "outputs": [big], "execution_count": 1}) as here:
        line = here.another_line(limits=TimelineLimits(cell_output_bytes=1000))
        record = await line.save("before edit", notebooks=[PATH])
        await here.edit("one", "1", "broken")
        await line.save("after edit", notebooks=[PATH], changes_by="agent")
        await line.restore(record.id, CELLS)
        states = NotebookStates(here.files.folder / "notebooks")
        assert not any(states.load(name).cells[0].outputs for name in states_in(here))
        await line.close()


async def test_half_a_surrogate_pair_is_kept_as_it_is(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        content = json.loads(here.file.read_text("utf-8"))
        content["cells"][0]["source"] = "x = '\ud800'"
        here.file.write_text(json.dumps(content), "utf-8")
        record = await here.save()
        state = NotebookStates(here.files.folder / "notebooks").load(record.notebooks[0].state)
        assert state.cells[0].source == "x = '\ud800'"


# ---- the states


def test_the_oldest_states_go_first(tmp_path: Path) -> None:
    states = NotebookStates(tmp_path / "notebooks")
    names = [states.keep(NotebookState((KeptCell("a", "code", f"{number}"),))) for number in range(5)]
    size = states.size() // 5
    states.collect({names[4]}, names[:3], most_bytes=2 * size + 5, spared_seconds=3600)
    assert set(os.listdir(tmp_path / "notebooks")) == set(names), "what was just made is dropped"
    states.collect({names[4]}, names[:3], most_bytes=2 * size + 5, spared_seconds=-1)
    assert set(os.listdir(tmp_path / "notebooks")) == {names[0], names[1], names[4]}


async def test_looking_leaves_nothing_behind(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        target = await here.save()
        await here.edit("one", "1", "2")
        await here.line.preview(target.id, CELLS)
        await here.line.cell_versions(PATH, "one")
        assert states_in(here) == {target.notebooks[0].state}


def test_a_state_is_private_and_whole_or_told_to_be_damaged(tmp_path: Path) -> None:
    states = NotebookStates(tmp_path / "store" / "notebooks")
    state = NotebookState((KeptCell("a", "code", "x" * 10_000),))
    name = states.keep(state)
    assert states.keep(state) == name and states.load(name) == state
    file = tmp_path / "store" / "notebooks" / name
    assert states.size() == file.stat().st_size < 1000
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(StorageUnavailable, match="damaged"):
        states.load(name)
    with pytest.raises(NotFound):
        states.load("0" * 64)
    with pytest.raises(NotFound):
        states.load("../../etc/passwd")
    assert states.find("0" * 64) is None


def test_a_full_disk_keeps_no_part_of_a_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    states = NotebookStates(tmp_path / "notebooks")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StorageUnavailable, match="No space"):
        states.keep(NotebookState((KeptCell("a", "code", "x"),)))
    assert not os.listdir(tmp_path / "notebooks")


# ---- what goes


async def test_what_no_moment_names_any_more_is_dropped(tmp_path: Path) -> None:
    few = FileLimits(checkpoints=3, kept_checkpoints=2)
    async with timeline_setup(tmp_path, limits=few) as here:
        line = here.line = here.line_on(here.files, TimelineLimits(spared_seconds=-1))
        await here.run("value = 0")
        records = []
        for number in range(6):
            await here.edit("one", f"a = {number + 1}", f"a = {number + 2}")
            await here.run(f"value = {number}")
            records.append(await here.save(by="agent", code="after"))
        before = await line.store()
        assert before.checkpoints == 6 and len(states_in(here)) == 6
        after = await line.gc()
        kept = await line.files.list()
        assert len(kept) == after.checkpoints == 3
        assert {one.notebooks[0].state for one in kept} == states_in(here)
        manifests = set(here.values.store.manifests())
        assert {one.variables[0].manifest for one in kept} <= manifests
        assert after.bytes < before.bytes
        await line.restore(kept[-1].id, Parts(notebooks=True, variables=True))
        assert here.sources[0] == "a = 5" and await here.value("value") == "3"


async def test_variables_beyond_the_quota_go_first_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_PINNED", "_MOST_PARENTS"):
        monkeypatch.setattr(f"hdsp_agent.checkpoints.timeline._garbage_collection.{name}", 0)
    async with timeline_setup(tmp_path) as here:
        line = here.line = here.line_on(here.files, TimelineLimits(variables_bytes=1_500_000, spared_seconds=-1))
        records = []
        for number in range(3):
            await here.run(f"value = bytes([{number}]) * 1_000_000")
            records.append(await here.save(code="after"))
        await line.gc()
        assert (await line.preview(records[0].id, Parts(variables=True))).variables[0].why_not is not None
        preview = await line.preview(records[2].id, Parts(variables=True))
        assert preview.nothing and not preview.variables
        assert len(await line.files.list()) == 3, "the checkpoints themselves stay"


async def test_the_quota_holds_while_somebody_works(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        line = here.line = here.line_on(here.files, TimelineLimits(variables_bytes=1_500_000))
        records = []
        for number in range(6):
            await here.run(f"value = bytes([{number}]) * 1_000_000")
            records.append(await here.save(code="after"))
        await line.gc()
        assert here.values.store.size() < 2_500_000
        for record, has_them in zip(records, (False, False, False, False, True, True), strict=True):
            preview = await line.preview(record.id, Parts(variables=True))
            assert any(one.why_not for one in preview.variables) is not has_them
        runs = [run.source for name in here.values.store.manifests() for run in here.values.store.load(name).runs]
        assert len([source for source in runs if source and source.startswith("value = ")]) == 6


async def test_variables_are_left_out_where_the_disk_is_nearly_full(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("value = 1")
        here.values.set_limits(VariableLimits(free_bytes=1 << 60))
        record = await here.save(code="thorough")
        assert not record.variables and record.notebooks
        assert [(one.part, "MB left" in one.why) for one in record.left_out] == [("variables", True)]


async def test_what_an_undo_needs_stays(tmp_path: Path) -> None:
    few = FileLimits(checkpoints=2, kept_checkpoints=1)
    async with timeline_setup(tmp_path, limits=few) as here:
        line = here.line = here.line_on(
            here.files, TimelineLimits(spared_seconds=-1, variables_bytes=1, notebooks_bytes=1)
        )
        await here.run("value = ['then']")
        target = await here.save(code="after")
        await here.edit("one", "1", "2")
        await here.run("value = ['now']")
        await here.save("after edit", by="agent", code="after")
        done = await line.restore(target.id, Parts(files=True, notebooks=True, variables=True))
        assert await here.value("value") == "['then']"
        for number in range(25):
            (here.root / "data.csv").write_text(f"{number}", "utf-8")
            await here.save(notebooks=())
        await line.gc()
        assert len(await line.files.list()) < 10
        await line.undo(done.operation.id)
        assert here.sources[0] == "a = 2" and await here.value("value") == "['now']" and here.csv == "24"


# ---- what is told


async def test_versions_of_a_cell_are_told_newest_first(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        first = await here.save()
        await here.edit("two", "2", "3")
        await here.save("after edit", by="agent")
        await here.edit("one", "1", "of the agent")
        agents = await here.save("after edit", by="agent")
        await here.edit("two", "3", "4")
        newest = await here.save()
        found = await here.line.cell_versions(PATH, "one")
        assert [(one.source, one.checkpoint, one.author, one.now) for one in found.versions] == [
            ("a = of the agent", newest.id, "agent", True),
            ("a = 1", (await here.line.files.list())[2].id, "person", False),
        ]
        assert [one.ts for one in found.versions] == [agents.ts, first.ts]
        await here.line.restore(found.versions[1].checkpoint, Parts(notebooks=True, path=PATH, cell_id="one"))
        assert here.sources == ["a = 1", "b = 4"]
        for _ in range(2):
            await here.line.undo((await here.line.files.operations(1))[0].id)
        again = (await here.line.cell_versions(PATH, "one")).versions
        assert [(one.source, one.now) for one in again] == [("a = 1", True), ("a = of the agent", False)]
        assert [one.ts for one in again] == [first.ts, agents.ts]
        await here.notebooks.access.document(PATH).apply([SetOutputs(cell_id=CellId("one"), outputs=[SMALL])])
        await here.save("after run", by="agent")
        again = (await here.line.cell_versions(PATH, "one")).versions
        assert [(one.outputs, one.now) for one in again] == [(1, True), (0, False), (0, False)]
        assert not (await here.line.cell_versions(PATH, "nowhere")).versions


async def test_however_many_moments_there_are_few_states_are_held_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[weakref.ref[NotebookState]] = []
    most = 0
    load = NotebookStates.load

    def watched(self: NotebookStates, name: str) -> NotebookState:
        nonlocal most
        state = load(self, name)
        loaded.append(weakref.ref(state))
        most = max(most, sum(one() is not None for one in loaded))
        return state

    monkeypatch.setattr(NotebookStates, "load", watched)
    async with timeline_setup(tmp_path) as here:
        first = await here.save()
        for number in range(8):
            await here.edit("one", " =", "a =")
            await here.save("after edit", by="agent")
            (here.root / "data.csv").write_text(f"{number}\n", "utf-8")
            await here.save("after writing", by="agent")
        assert len((await here.line.cell_versions(PATH, "one")).versions) == 9
        assert len(loaded) == 9 and most == 2
        loaded.clear()
        most = 0
        preview = await here.line.preview(first.id, CELLS)
        assert [cell.action for cell in preview.notebooks[0].cells] == ["change"]
        assert len(loaded) == 9 and most <= 3


async def test_unsaved_cells_are_compared_as_they_were(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        page = here.open()
        first = await here.save()
        page.type_in(0, "not on the disk")
        second = await here.save()
        assert second.id != first.id
        diff = await here.line.diff(first.id, second.id)
        assert [(file.path, file.change) for file in diff.files] == [(PATH, "modified")]
        cells = diff.files[0].notebook
        assert cells is not None and [(cell.cell_id, cell.change) for cell in cells.cells] == [("one", "modified")]
        page.type_in(0, "a = 1")
        assert not (await here.line.diff(first.id, "now")).files


async def test_comparing_large_notebooks_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[threading.Thread] = set()
    to_bytes = NotebookState.to_bytes

    def noted(state: NotebookState) -> bytes:
        threads.add(threading.current_thread())
        return to_bytes(state)

    async with timeline_setup(tmp_path) as here:
        page = here.open()
        first = await here.save()
        page.type_in(0, "not on the disk")
        second = await here.save()
        monkeypatch.setattr(NotebookState, "to_bytes", noted)
        assert (await here.line.diff(first.id, second.id)).files
    assert threads and threading.current_thread() not in threads


async def test_the_time_line_goes_page_by_page_and_by_conversation(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        for number in range(5):
            (here.root / "data.csv").write_text(f"{number}\n", "utf-8")
            await here.save(message_ts=1000 + number if number % 2 else None)
        view = await here.line.view(limit=2)
        assert len(view.operations) == 2 and view.more
        rest = await here.line.view(before=view.operations[-1].id)
        assert len(rest.operations) == 3 and not rest.more
        told = await here.line.view(task_id=TASK)
        assert [one.checkpoint.message_ts for one in told.operations if one.checkpoint] == [1003, 1001]
        assert view.here is not None and view.here.id == view.operations[0].id and view.here.notebooks == (PATH,)
        assert view.store.checkpoints == 5 and view.store.quota_checkpoints == 200
        with pytest.raises(NotFound):
            await here.line.view(before="0" * 16)


async def test_pointers_say_where_without_saying_what(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        await here.run("secret = 'do not tell'; table = [1]")
        record = await here.save(code="after", message_ts=1000)
        document = here.notebooks.access.document(PATH)
        operations = (await here.line.pointers(record, cells=[(PATH, "one")]))[PATH]
        assert [type(one) for one in operations] == [SetCellMetadata, SetNotebookMetadata]
        await document.apply(operations)
        snapshot = await document.snapshot()
        pointer = snapshot.cells[0].metadata["hdsp_checkpoint"]
        assert isinstance(pointer, dict) and set(pointer) == {"ts", "state_hash", "variables"}
        assert pointer["variables"] == ["secret", "table"]
        assert snapshot.metadata["hdsp_agent"] == {"version": 1, "head": record.id, "task_id": TASK}
        assert "do not tell" not in here.file.read_text("utf-8")
        assert not await here.line.pointers(record, cells=[(PATH, "one")]), "they are there already"
        changed = await here.save("after", by="agent")
        assert changed.notebooks[0].state == record.notebooks[0].state, "our pointers count as somebody's work"


async def test_writing_pointers_is_no_row_and_nobodys_change(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        first = await here.save(message_ts=1000)
        await here.edit("one", "a = 1", "a = 2")
        await here.run("table = [1]")
        record = await here.save("after run_cell", by="agent", code="after")
        operations = (await here.line.pointers(record, cells=[(PATH, "one")]))[PATH]
        await here.notebooks.access.document(PATH).apply(operations)
        await here.line.pointed(record, [str(here.file)])
        newest = (await here.line.files.list())[0]
        assert newest.commit != record.commit and newest.notebooks == record.notebooks
        view = await here.line.view()
        assert [row.checkpoint.id for row in view.operations if row.checkpoint] == [record.id, first.id]
        assert view.here is not None and (view.here.id, view.here.here) == (record.id, True)
        assert (await here.line.told(newest)).id == record.id
        assert (await here.save(code="after")).id == newest.id, "nothing has changed since"

        preview = await here.line.preview(first.id, Parts(files=True, notebooks=True))
        assert preview.files is None or not preview.files.kept
        done = (await here.line.restore(first.id, Parts(files=True, notebooks=True))).operation
        assert here.sources[0] == "a = 1"
        await here.line.undo(done.id)
        assert here.sources[0] == "a = 2"
        view = await here.line.view()
        shown = {row.checkpoint.id for row in view.operations if row.checkpoint}
        assert {row.target for row in view.operations if row.target} <= shown


async def test_pointers_that_wait_for_a_save_are_told_again_until_they_are_there(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        page = here.open()
        await here.run("table = [1]")
        first = await here.save(code="after", message_ts=1000)
        waiting = await here.line.pointers(first, cells=[(PATH, "one")])
        assert not await here.notebooks.access.point(PATH, waiting[PATH])
        await here.run("more = 1")
        second = await here.save(code="after", message_ts=2000)
        told = await here.line.pointers(second, cells=[(PATH, "two")], waiting=waiting)
        await here.notebooks.access.point(PATH, told[PATH])
        page.save()
        assert [set(cell["metadata"]["hdsp_checkpoint"]["variables"]) for cell in page.cells] == [
            {"table"},
            {"table", "more"},
        ]
        assert parsed(page.content)["metadata"]["hdsp_agent"]["head"] == second.id
        assert not await here.line.pointers(second, cells=[(PATH, "two")], waiting=told)


async def test_a_person_may_call_a_moment_pointers(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path) as here:
        record = await here.save("pointers")
        assert [row.id for row in (await here.line.view()).operations] == [record.id]


async def test_pointers_stay_small_in_any_notebook(tmp_path: Path) -> None:
    async with timeline_setup(tmp_path, *(code(f"c{number}", "x") for number in range(80))) as here:
        await here.run("\n".join(f"a_name_that_is_rather_long_{number} = 1" for number in range(60)))
        document = here.notebooks.access.document(PATH)
        await here.edit("c79", "x", "y")
        empty = here.file.stat().st_size
        for number in range(20):
            await here.run(f"x = {number}")
            record = await here.save(code="after")
            for operations in (await here.line.pointers(record, cells=[(PATH, f"c{number}")])).values():
                await document.apply(operations)
            assert here.file.stat().st_size - empty <= 10_000
        cells = (await document.snapshot()).cells
        assert "hdsp_checkpoint" in cells[19].metadata and "hdsp_checkpoint" not in cells[0].metadata
