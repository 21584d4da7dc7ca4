"""Notebooks in rooms of jupyter-collaboration: a real server, and a colleague who has the notebook open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import nbformat
import pytest

from hdsp_agent.comm.services import Services
from hdsp_agent.errors import NotAllowed, NotFound
from hdsp_agent.messages import (
    AppendOutput,
    CellId,
    ChangeCellType,
    ChangeOutputsMessage,
    ClearOutputs,
    DeleteCell,
    ExtendStream,
    InsertCell,
    MoveCell,
    PutOutput,
    ReplaceSource,
    SetCellMetadata,
    SetNotebookMetadata,
    SetOutputs,
    TruncateOutputs,
)
from hdsp_agent.notebooks import CellConflict, EditSource, NotebookAccess, source_hash
from tests._helpers.collaboration import Colleague, collaboration_config, in_room, require_collaboration
from tests._helpers.jupyter_fetch import Fetch

from .._helpers.timing import until

PATH = "shared.ipynb"
Open = Callable[..., AbstractAsyncContextManager[Colleague]]


@pytest.fixture
def collaborates(request: pytest.FixtureRequest) -> bool:
    """Whether the operator has switched it on."""
    return bool(getattr(request, "param", True))


@pytest.fixture
def loads_progressively(request: pytest.FixtureRequest) -> bool:
    """Whether notebooks are given away before all of their file is in them."""
    return bool(getattr(request, "param", False))


@pytest.fixture
def save_delay(request: pytest.FixtureRequest) -> float:
    """How many seconds after a change a room saves."""
    return float(getattr(request, "param", 0.2))


@pytest.fixture
def jp_server_config(
    jp_server_config: dict[str, Any],
    tmp_path: Path,
    collaborates: bool,
    loads_progressively: bool,
    save_delay: float,
    monkeypatch: pytest.MonkeyPatch,
) -> dict[str, Any]:
    require_collaboration(monkeypatch)
    extensions = {"jupyter_server_ydoc": collaborates, "jupyter_server_fileid": True}
    jp_server_config["ServerApp"]["jpserver_extensions"].update(extensions)
    config = collaboration_config(tmp_path, save_delay=save_delay)
    config["YDocExtension"]["document_load_progressively"] = loads_progressively
    return {**jp_server_config, **config}


@pytest.fixture
def access(services: Services) -> NotebookAccess:
    return services.notebooks.notebooks.access


@pytest.fixture
def file(jp_root_dir: Path) -> Path:
    """A notebook of two code cells and a text."""
    place = jp_root_dir / PATH
    place.write_text(json.dumps(_notebook()), "utf-8")
    return place


@pytest.fixture
def opened(
    services: Services, jp_fetch: Fetch, jp_http_port: int, jp_base_url: str, jp_auth_header: dict[str, str]
) -> Open:
    """Has a colleague open a notebook."""
    server = f"ws://127.0.0.1:{jp_http_port}{jp_base_url}"

    @asynccontextmanager
    async def colleague(path: str = PATH) -> AsyncIterator[Colleague]:
        body = json.dumps({"format": "json", "type": "notebook"})
        answer = await jp_fetch("api", "collaboration", "session", path, method="PUT", body=body)
        async with in_room(json.loads(answer.body), server, jp_auth_header) as one:
            yield one

    return colleague


def _notebook() -> dict[str, Any]:
    printed = {"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]}
    return {
        "cells": [
            _code("first", "a = 1\nb = 2\nprint(a + b)", [printed], 3),
            {"cell_type": "markdown", "id": "words", "metadata": {}, "source": "# 제목 😀 here"},
            _code("last", "print('last')", [], None),
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _code(cell_id: str, source: str, outputs: list[Any], count: int | None) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": cell_id,
        "metadata": {},
        "source": source,
        "outputs": outputs,
        "execution_count": count,
    }


FIRST, WORDS, LAST = CellId("first"), CellId("words"), CellId("last")


async def test_what_people_type_in_the_room_is_what_the_agent_reads(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    async with opened() as colleague:
        colleague.type_at_end(2, "  # typed")

        async def arrived() -> bool:
            return (await access.document(PATH).snapshot()).cells[2].source.endswith("# typed")

        await until(arrived)
        snapshot = await access.document(PATH).snapshot(outputs="full")
        assert snapshot.source == "room"
        assert snapshot.cells[2].source == "print('last')  # typed"
        assert [cell.source for cell in snapshot.cells] == [colleague.source(place) for place in range(3)]
        first = snapshot.cell(FIRST)
        assert first.execution_count == 3 and isinstance(first.execution_count, int)
        assert first.outputs == ({"output_type": "stream", "name": "stdout", "text": "one\ntwo\n"},)
        assert snapshot.kernel_name == "python3"
        assert (await access.document(PATH).snapshot()).revision == snapshot.revision


@pytest.mark.parametrize("save_delay", [600], indirect=True)
async def test_a_notebook_is_verified_as_the_room_has_it_before_that_is_saved(
    services: Services, access: NotebookAccess, file: Path, opened: Open
) -> None:
    async with opened() as colleague:
        colleague.notebook.ycells[0]["source"].insert(0, "print('typed')\n")
        colleague.type_at_end(2, "  # typed")
        printed = {"output_type": "stream", "name": "stdout", "text": "last\n"}
        await access.document(PATH).apply([SetOutputs(cell_id=LAST, outputs=[printed], execution_count=4)], save=False)

        async def arrived() -> bool:
            return (await access.document(PATH).snapshot()).cells[2].source.endswith("# typed")

        await until(arrived)
        begun = await services.verifications.start(services.history.person, PATH)
        assert begun.work is not None
        await begun.work
        assert begun.report is not None, begun.error
        states = {cell.id: (cell.state, cell.detail) for cell in begun.report.cells}
        assert states == {FIRST: ("differs", states[FIRST][1]), LAST: ("same", "")}
        assert "typed" in states[FIRST][1]
        # Its file still has no output of the last cell.
        assert json.loads(file.read_text("utf-8"))["cells"][2]["outputs"] == []


async def test_an_edit_reaches_the_others_once_and_is_saved_by_the_room(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    async with opened() as colleague:
        colleague.changes.clear()
        applied = await access.document(PATH).apply([EditSource(FIRST, "b = 2", "b = 20")])
        await colleague.until(lambda: "b = 20" in colleague.source(0))
        await asyncio.sleep(0.3)
        assert colleague.changes.count("cells") == 1
        assert applied.saved and applied.changed == (FIRST,)
        saved = nbformat.read(file, as_version=4)
        assert saved.cells[0].source == "a = 1\nb = 20\nprint(a + b)"
        assert applied.content_hash == await _hash(file)


async def test_all_changes_of_a_batch_arrive_together(access: NotebookAccess, file: Path, opened: Open) -> None:
    async with opened() as colleague:
        seen: list[int] = []
        colleague.notebook.ycells.observe_deep(lambda events: seen.append(len(colleague.notebook.ycells)))
        await access.document(PATH).apply(
            [
                InsertCell(cell_id=CellId("new1"), after=FIRST, cell_type="code", source="x", execution_count=7),
                InsertCell(cell_id=CellId("new2"), cell_type="markdown", source="top"),
                ReplaceSource(cell_id=LAST, expect=source_hash("print('last')"), source="print('end')"),
                DeleteCell(cell_id=WORDS),
            ]
        )
        await colleague.until(lambda: colleague.source(3) == "print('end')")
        assert [cell["id"] for cell in colleague.cells] == ["new2", "first", "new1", "last"]
        assert seen == [4]
        assert colleague.cells[2]["execution_count"] == 7


async def test_cells_move_change_type_and_keep_their_ids(access: NotebookAccess, file: Path, opened: Open) -> None:
    async with opened() as colleague:
        await access.document(PATH).apply(
            [
                MoveCell(cell_id=FIRST, after=LAST),
                ChangeCellType(cell_id=WORDS, cell_type="code"),
                SetCellMetadata(cell_id=LAST, key="tags", value=["a"]),
                SetNotebookMetadata(key="mine", value={"deep": 1}),
            ]
        )
        await colleague.until(lambda: colleague.notebook.source["metadata"].get("mine"))
        assert [cell["id"] for cell in colleague.cells] == ["words", "last", "first"]
        assert colleague.cells[0]["cell_type"] == "code" and colleague.outputs(0) == []
        assert colleague.cells[1]["metadata"]["tags"] == ["a"]
        assert colleague.outputs(2)[0]["text"] == "one\ntwo\n" and colleague.cells[2]["execution_count"] == 3
        nbformat.validate(nbformat.read(await _saved(file, "mine"), as_version=4))
        await access.document(PATH).apply([SetCellMetadata(cell_id=LAST, key="tags"), SetNotebookMetadata(key="mine")])
        await colleague.until(lambda: "mine" not in colleague.notebook.source["metadata"])
        assert "tags" not in colleague.cells[1]["metadata"]


async def test_only_the_differing_middle_of_a_text_changes(access: NotebookAccess, file: Path, opened: Open) -> None:
    async with opened() as colleague:
        deltas: list[Any] = []
        text = colleague.notebook.ycells[1]["source"]
        text.observe(lambda event: deltas.append(event.delta))
        await access.document(PATH).apply([ReplaceSource(cell_id=WORDS, source="# 제목 😁 here")])
        await colleague.until(lambda: "😁" in colleague.source(1))
        assert colleague.source(1) == "# 제목 😁 here"
        assert len(deltas) == 1
        inserted = [part["insert"] for part in deltas[0] if "insert" in part]
        assert inserted == ["😁"] and sum(part.get("delete", 0) for part in deltas[0]) in (1, 2, 4)


async def test_somebody_who_types_in_the_same_cell_loses_nothing(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    async with opened() as colleague:
        for number in range(20):
            colleague.notebook.ycells[0]["source"].insert(0, f"# {number}\n")
            await access.document(PATH).apply([EditSource(LAST, "print(", "print(0, ")], save=False)
            await asyncio.sleep(0)

        async def agreed() -> bool:
            return (await access.document(PATH).snapshot()).cell(FIRST).source == colleague.source(0)

        await until(agreed)
        await colleague.until(lambda: colleague.source(2).count("0, ") == 20)
        assert colleague.source(0).count("#") == 20
        assert colleague.source(2) == "print(" + "0, " * 20 + "'last')"


async def test_a_stale_edit_changes_nothing_and_tells_what_is_there(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    async with opened() as colleague:
        before = colleague.cells
        with pytest.raises(CellConflict) as caught:
            await access.document(PATH).apply(
                [
                    DeleteCell(cell_id=WORDS),
                    ReplaceSource(cell_id=LAST, expect=source_hash("something else"), source="new"),
                ]
            )
        assert [miss.source for miss in caught.value.mismatches] == ["print('last')"]
        await asyncio.sleep(0.2)
        assert colleague.cells == before


async def test_outputs_of_a_run_go_on_in_place_and_are_not_doubled_when_kept(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    def change(base: int, version: int, *changes: Any, state: Any = "running", count: int | None = None) -> Any:
        return ChangeOutputsMessage(
            path=PATH,
            cell_id=FIRST,
            run_id="r",
            base=base,
            version=version,
            changes=list(changes),
            state=state,
            execution_count=count,
        )

    stream = {"output_type": "stream", "name": "stdout", "text": "0 é😀"}
    picture = {"output_type": "display_data", "data": {"text/plain": "pic"}, "metadata": {}}
    async with opened() as colleague:
        assert await access.show(change(0, 1))
        await colleague.until(lambda: colleague.outputs(0) == [] and colleague.state(0) == "running")
        assert colleague.cells[0]["execution_count"] is None
        assert await access.show(change(1, 2, PutOutput(index=0, output=stream)))
        await colleague.until(lambda: colleague.outputs(0))
        text = colleague.notebook.ycells[0]["outputs"][0]["text"]
        deltas: list[Any] = []
        text.observe(lambda event: deltas.append(event.delta))
        assert await access.show(
            change(2, 3, ExtendStream(index=0, keep=4, text="more"), PutOutput(index=1, output=picture))
        )
        await colleague.until(lambda: len(colleague.outputs(0)) == 2)
        assert [part for part in deltas[0] if "insert" in part] == [{"insert": "more"}]
        # Who has missed something is told the whole.
        assert not await access.show(change(9, 10))
        assert not await access.show(change(0, 1).model_copy(update={"cell_id": "gone"}))
        assert await access.show(change(3, 4, TruncateOutputs(count=1), state="ok", count=5))
        await colleague.until(lambda: colleague.cells[0]["execution_count"] == 5)
        assert colleague.state(0) == "idle"
        colleague.changes.clear()
        whole = {**stream, "text": "0 é😀more"}
        applied = await access.document(PATH).apply([SetOutputs(cell_id=FIRST, outputs=[whole], execution_count=5)])
        assert applied.saved
        await asyncio.sleep(0.2)
        assert colleague.outputs(0) == [whole] and "cells" not in colleague.changes


async def test_outputs_are_set_appended_and_cleared(access: NotebookAccess, file: Path, opened: Open) -> None:
    one = {"output_type": "stream", "name": "stdout", "text": "one\nthree\n"}
    error = {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t"]}
    async with opened() as colleague:
        document = access.document(PATH)
        await document.apply([SetOutputs(cell_id=FIRST, outputs=[one, error], execution_count=8)])
        await document.apply([AppendOutput(cell_id=FIRST, output=one)])
        await colleague.until(lambda: len(colleague.outputs(0)) == 3)
        assert colleague.outputs(0) == [one, error, one]
        await document.apply([ClearOutputs(cell_id=FIRST)])
        await colleague.until(lambda: colleague.outputs(0) == [])
        assert colleague.cells[0]["execution_count"] is None


async def test_a_renamed_notebook_is_found_again(
    access: NotebookAccess, file: Path, opened: Open, jp_fetch: Fetch, jp_root_dir: Path
) -> None:
    async with opened() as colleague:
        document = access.document(PATH)
        await document.apply([EditSource(LAST, "last", "second")])
        await jp_fetch("api", "contents", PATH, method="PATCH", body=json.dumps({"path": "renamed.ipynb"}))
        await asyncio.sleep(0.05)
        applied = await document.apply([EditSource(LAST, "second", "third")])
        await colleague.until(lambda: "third" in colleague.source(2))
        assert applied.saved and document.path == "renamed.ipynb" and not file.exists()
        assert "third" in (jp_root_dir / "renamed.ipynb").read_text()


async def test_a_deleted_notebook_is_not_written_again(
    access: NotebookAccess, file: Path, opened: Open, jp_fetch: Fetch
) -> None:
    async with opened():
        document = access.document(PATH)
        await document.snapshot()
        await jp_fetch("api", "contents", PATH, method="DELETE")
        await asyncio.sleep(0.05)
        with pytest.raises(NotFound, match="deleted"):
            await document.apply([EditSource(LAST, "last", "second")])
        assert not file.exists()


async def test_a_file_that_vanished_is_not_written_again(access: NotebookAccess, file: Path, opened: Open) -> None:
    async with opened():
        file.unlink()
        with pytest.raises(NotFound):
            await access.document(PATH).apply([EditSource(LAST, "last", "second")])
        assert not file.exists()


async def test_a_read_only_notebook_stays_as_it_is(
    access: NotebookAccess,
    file: Path,
    opened: Open,
    monkeypatch: pytest.MonkeyPatch,
    services: Services,
    jp_serverapp: Any,
) -> None:
    async with opened() as colleague:
        get = jp_serverapp.contents_manager.get

        async def read_only(*arguments: Any, **options: Any) -> Any:
            return {**await get(*arguments, **options), "writable": False}

        monkeypatch.setattr(jp_serverapp.contents_manager, "get", read_only)
        with pytest.raises(NotAllowed):
            await access.document(PATH).apply([EditSource(LAST, "last", "second")])
        assert "second" not in colleague.source(2)


async def test_an_edit_that_the_file_wins_over_is_made_again(access: NotebookAccess, file: Path, opened: Open) -> None:
    async with opened() as colleague:
        content = _notebook()
        content["cells"][1]["source"] = "# from outside"
        file.write_text(json.dumps(content), "utf-8")
        applied = await access.document(PATH).apply([EditSource(LAST, "last", "second")])
        await colleague.until(lambda: "outside" in colleague.source(1) and "second" in colleague.source(2))
        assert applied.saved
        assert "outside" in file.read_text(encoding="utf-8") and "second" in file.read_text(encoding="utf-8")


async def test_a_save_that_failed_is_not_called_saved(
    access: NotebookAccess, file: Path, opened: Open, monkeypatch: pytest.MonkeyPatch, jp_serverapp: Any
) -> None:
    monkeypatch.setattr("hdsp_agent.notebooks.documents.ydoc._SAVE_SECONDS", 0.5)
    async with opened() as colleague:

        async def full(*arguments: Any, **options: Any) -> Any:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(jp_serverapp.contents_manager, "save", full)
        applied = await access.document(PATH).apply([EditSource(LAST, "last", "second")])
        assert not applied.saved and applied.content_hash is None
        await colleague.until(lambda: "second" in colleague.source(2))
        assert "second" not in file.read_text(encoding="utf-8")


async def test_a_notebook_nobody_has_open_gets_no_room(access: NotebookAccess, file: Path, jp_serverapp: Any) -> None:
    applied = await access.document(PATH).apply([EditSource(LAST, "last", "second")])
    assert applied.saved and (await access.document(PATH).snapshot()).source == "disk"
    rooms = next(iter(jp_serverapp.extension_manager.extension_apps["jupyter_server_ydoc"])).ywebsocket_server.rooms
    assert not rooms


async def test_who_opens_a_notebook_the_agent_changed_sees_it_once(
    access: NotebookAccess, file: Path, opened: Open
) -> None:
    await access.document(PATH).apply([InsertCell(cell_id=CellId("new"), after=LAST, cell_type="code", source="1")])
    async with opened() as colleague:
        assert [cell["id"] for cell in colleague.cells] == ["first", "words", "last", "new"]
        await access.document(PATH).apply([EditSource(CellId("new"), "1", "2")])
        await colleague.until(lambda: colleague.source(3) == "2")
    async with opened() as colleague:
        assert [cell["id"] for cell in colleague.cells] == ["first", "words", "last", "new"]


@pytest.mark.parametrize("loads_progressively", [True], indirect=True)
async def test_a_notebook_that_loads_bit_by_bit_is_read_when_all_of_it_is_there(
    access: NotebookAccess, jp_root_dir: Path, opened: Open
) -> None:
    content = _notebook()
    content["cells"] += [_code(f"c{number}", f"print({number})", [], None) for number in range(300)]
    (jp_root_dir / PATH).write_text(json.dumps(content), "utf-8")
    async with opened():
        assert len((await access.document(PATH).snapshot()).cells) == 303
        applied = await access.document(PATH).apply([EditSource(CellId("c299"), "299", "300")])
        assert applied.saved


async def test_a_room_that_is_just_being_opened_is_waited_for(
    access: NotebookAccess, file: Path, opened: Open, jp_serverapp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    get = jp_serverapp.contents_manager.get
    begun = asyncio.Event()

    async def slow(*arguments: Any, **options: Any) -> Any:
        if options.get("format") == "json" and options.get("content"):
            begun.set()
            await asyncio.sleep(0.3)
        return await get(*arguments, **options)

    monkeypatch.setattr(jp_serverapp.contents_manager, "get", slow)

    async def read() -> int:
        await begun.wait()
        return len((await access.document(PATH).snapshot()).cells)

    reading = asyncio.create_task(read())
    async with opened():
        assert await reading == 3


@pytest.mark.parametrize("collaborates", [False], indirect=True)
async def test_switched_off_there_are_no_rooms(access: NotebookAccess, file: Path) -> None:
    applied = await access.document(PATH).apply([EditSource(LAST, "last", "second")])
    assert applied.saved and (await access.document(PATH).snapshot()).source == "disk"


async def _hash(file: Path) -> str:
    import hashlib

    return hashlib.sha256(file.read_bytes()).hexdigest()


async def _saved(file: Path, word: str) -> Path:
    await until(lambda: word in file.read_text(encoding="utf-8"))
    return file
