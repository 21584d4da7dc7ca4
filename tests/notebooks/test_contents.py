"""Notebooks through Jupyter's contents managers."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import cast

import nbformat
import pytest
from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.filemanager import AsyncFileContentsManager, FileContentsManager

from hdsp_agent.errors import Conflict, HdspAgentError, InvalidInput, NotAllowed, NotFound, Unavailable, Unsupported
from hdsp_agent.messages import (
    AppendOutput,
    CellId,
    ClearOutputs,
    DeleteCell,
    InsertCell,
    JsonObject,
    NotebookOperation,
    ReplaceSource,
    SetAttachments,
    SetCellMetadata,
    SetOutputs,
)
from hdsp_agent.notebooks import CellConflict, EditSource, source_hash
from hdsp_agent.notebooks._document import Operation
from hdsp_agent.notebooks._saved_form import as_read
from hdsp_agent.notebooks.documents.contents import ContentsNotebooks

from ._helpers.contents_managers import raw_cells, write
from ._helpers.odd_notebooks import ODD_NOTEBOOKS, code, notebook, text_cell

A, B = CellId("cell-0"), CellId("cell-1")
HTML: JsonObject = {"output_type": "display_data", "data": {"text/html": "<b>x</b>"}, "metadata": {}}
NEW_CELL = [InsertCell(cell_id=CellId("more"), cell_type="code", source="something else")]
CHANGE = [ReplaceSource(cell_id=A, source="changed")]


def plain() -> JsonObject:
    return notebook(code(["a = 1"]), text_cell(["# b"]))


# ---- reading and saving


async def test_a_notebook_is_read_changed_and_saved(folder: Path, any_manager: FileContentsManager) -> None:
    write(folder, "a.ipynb", plain())
    document = ContentsNotebooks(any_manager).document("/a.ipynb")
    before = await document.snapshot()
    assert (before.path, before.source, before.dirty) == ("a.ipynb", "disk", False)
    applied = await document.apply([EditSource(A, "1", "2", expect=source_hash("a = 1"))])
    assert applied.saved and applied.changed == (A,)
    assert [cell.source for cell in (await document.snapshot()).cells] == ["a = 2", "# b"]
    model = await ensure_async(any_manager.get("a.ipynb", content=False, require_hash=True))
    assert applied.content_hash == applied.snapshot_revision == model["hash"] == (await document.snapshot()).revision
    nbformat.validate(json.loads((folder / "a.ipynb").read_bytes()))
    assert (await document.apply([])).content_hash == applied.content_hash


async def test_a_file_that_nothing_changes_is_not_written(folder: Path, manager: FileContentsManager) -> None:
    # Written in another style than nbformat's, so that any save would show.
    (folder / "a.ipynb").write_text(json.dumps(plain()))
    applied = await ContentsNotebooks(manager).document("a.ipynb").apply([ReplaceSource(cell_id=A, source="a = 1")])
    assert applied.saved and (folder / "a.ipynb").read_text() == json.dumps(plain())


@pytest.mark.parametrize("name", sorted(ODD_NOTEBOOKS))
async def test_cells_that_no_operation_names_are_in_the_file_as_they_were(
    name: str, folder: Path, manager: FileContentsManager
) -> None:
    odd = ODD_NOTEBOOKS[name]
    write(folder, "a.ipynb", odd)
    document = ContentsNotebooks(manager).document("a.ipynb")
    told = [cell.id for cell in (await document.snapshot()).cells]
    await document.apply([InsertCell(cell_id=CellId("new"), cell_type="code", source="new")])
    after = json.loads((folder / "a.ipynb").read_bytes())
    nbformat.validate(after)
    (folder / "expected.ipynb").write_text(nbformat.writes(nbformat.v4.to_notebook(_with_ids(odd, told))))
    assert raw_cells(folder / "a.ipynb")[1:] == raw_cells(folder / "expected.ipynb")
    assert {key: after[key] for key in after if key != "cells"} == {key: odd[key] for key in odd if key != "cells"}


def _with_ids(odd: JsonObject, ids: list[CellId]) -> JsonObject:
    if cast(int, odd["nbformat_minor"]) < 5:
        return odd
    cells = cast("list[JsonObject]", odd["cells"])
    return {**odd, "cells": [{**cell, "id": each} for cell, each in zip(cells, ids, strict=True)]}


async def test_only_the_form_of_nbformats_writer_comes_over_the_file(
    folder: Path, manager: FileContentsManager
) -> None:
    written = write(folder, "a.ipynb", plain()).decode()
    await ContentsNotebooks(manager).document("a.ipynb").apply([EditSource(A, "1", "2")])
    assert (folder / "a.ipynb").read_text() == written.replace("a = 1", "a = 2")


async def test_a_batch_is_done_whole_or_not_at_all(folder: Path, manager: FileContentsManager) -> None:
    before = write(folder, "a.ipynb", plain())
    document = ContentsNotebooks(manager).document("a.ipynb")
    with pytest.raises(CellConflict) as refusal:
        await document.apply([*CHANGE, ReplaceSource(cell_id=B, source="x", expect=source_hash("old"))])
    assert refusal.value.mismatches[0].source == "# b" and refusal.value.path == "a.ipynb"
    assert (folder / "a.ipynb").read_bytes() == before


async def test_many_at_once_lose_nothing(folder: Path, any_manager: FileContentsManager) -> None:
    write(folder, "a.ipynb", plain())
    notebooks = ContentsNotebooks(any_manager)
    inserts = [InsertCell(cell_id=CellId(f"n{number}"), cell_type="code", source=str(number)) for number in range(12)]
    await asyncio.gather(*(notebooks.document("a.ipynb").apply([insert]) for insert in inserts))
    assert {cell["id"] for cell in raw_cells(folder / "a.ipynb")} == {A, B, *(f"n{number}" for number in range(12))}


# ---- somebody else saves too


class Interfering(AsyncFileContentsManager):
    """Somebody else saves between a read and the save that follows it, the first ``times`` times."""

    times = 1
    saved = 0
    was_read = False

    async def get(
        self,
        path: str,
        content: bool = True,
        type: str | None = None,
        format: str | None = None,
        require_hash: bool = False,
    ) -> dict[str, object]:
        if not content and self.was_read and self.saved < self.times:
            self.saved += 1
            write(Path(self.root_dir), path, notebook(code(["a = 1"]), text_cell([f"theirs {self.saved}"])))
        self.was_read = content
        model: dict[str, object] = await super().get(path, content, type, format, require_hash)
        return model


# It reads as Jupyter's own does.
Interfering.get.__module__ = AsyncFileContentsManager.get.__module__


async def test_what_somebody_else_saved_meanwhile_stays(folder: Path) -> None:
    write(folder, "a.ipynb", plain())
    document = ContentsNotebooks(Interfering(root_dir=str(folder))).document("a.ipynb")
    await document.apply(CHANGE)
    assert [cell["source"] for cell in raw_cells(folder / "a.ipynb")] == [["changed"], ["theirs 1"]]
    write(folder, "b.ipynb", plain())
    busy = Interfering(root_dir=str(folder))
    busy.times = 1000
    with pytest.raises(Conflict, match="again and again"):
        await ContentsNotebooks(busy).document("b.ipynb").apply(CHANGE)
    assert raw_cells(folder / "b.ipynb")[0]["source"] == ["a = 1"]
    stale = Interfering(root_dir=str(folder))
    write(folder, "c.ipynb", plain())
    expecting = ReplaceSource(cell_id=B, source="mine", expect=source_hash("# b"))
    with pytest.raises(CellConflict):
        await ContentsNotebooks(stale).document("c.ipynb").apply([expecting])
    assert raw_cells(folder / "c.ipynb")[1]["source"] == ["theirs 1"]


class Slow(AsyncFileContentsManager):
    """A save that waits in its middle."""

    begun: asyncio.Event

    async def _save_notebook(self, os_path: str, nb: object, capture_validation_error: object = None) -> None:
        self.begun.set()
        await asyncio.sleep(0.2)
        await super()._save_notebook(os_path, nb, capture_validation_error)


async def test_a_save_is_finished_although_its_task_is_cancelled(folder: Path) -> None:
    write(folder, "a.ipynb", plain())
    slow = Slow(root_dir=str(folder))
    slow.begun = asyncio.Event()
    notebooks = ContentsNotebooks(slow)
    task = asyncio.create_task(notebooks.document("a.ipynb").apply(CHANGE))
    await slow.begun.wait()
    task.cancel()
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert raw_cells(folder / "a.ipynb")[0]["source"] == ["changed"]
    assert not (folder / ".~a.ipynb").exists()
    assert (await notebooks.document("a.ipynb").apply(CHANGE)).saved


# ---- trust


async def _trusted(manager: FileContentsManager) -> list[bool]:
    model = await ensure_async(manager.get("a.ipynb"))
    return [cell.metadata.get("trusted", False) for cell in model["content"].cells if cell.cell_type == "code"]


async def _with_trusted_output(folder: Path, manager: FileContentsManager) -> None:
    write(folder, "a.ipynb", notebook(code(["a"], [{**HTML}]), code(["b"], [{**HTML}]), text_cell(["t"])))
    await ensure_async(manager.trust_notebook("a.ipynb"))
    assert await _trusted(manager) == [True, True]


@pytest.mark.parametrize(
    "operation",
    [
        ReplaceSource(cell_id=A, source="other"),
        DeleteCell(cell_id=A),
        ClearOutputs(cell_id=A),
        InsertCell(cell_id=CellId("n"), cell_type="code", source=""),
        SetOutputs(cell_id=A, outputs=[{"output_type": "stream", "name": "stdout", "text": "safe"}]),
        SetCellMetadata(cell_id=A, key="tags", value=["x"]),
    ],
)
async def test_outputs_the_person_trusts_stay_trusted(
    operation: ReplaceSource, folder: Path, any_manager: FileContentsManager
) -> None:
    await _with_trusted_output(folder, any_manager)
    await ContentsNotebooks(any_manager).document("a.ipynb").apply([operation])
    assert all(await _trusted(any_manager))


@pytest.mark.parametrize(
    "operation",
    [
        SetOutputs(cell_id=A, outputs=[{**HTML, "data": {"text/html": "<script>other</script>"}}]),
        AppendOutput(cell_id=A, output=HTML),
        InsertCell(cell_id=CellId("n"), cell_type="code", source="", outputs=[HTML]),
    ],
)
async def test_outputs_the_person_never_saw_are_not_trusted(
    operation: SetOutputs, folder: Path, manager: FileContentsManager
) -> None:
    await _with_trusted_output(folder, manager)
    await ContentsNotebooks(manager).document("a.ipynb").apply([operation])
    assert not any(await _trusted(manager))


async def _seals(notebooks: ContentsNotebooks) -> list[str]:
    cells = (await notebooks.document("a.ipynb").snapshot(outputs="full")).cells
    return [cell.signature for cell in cells if cell.signature is not None]


async def test_sealed_outputs_are_trusted_again(folder: Path, any_manager: FileContentsManager) -> None:
    await _with_trusted_output(folder, any_manager)
    notebooks = ContentsNotebooks(any_manager)
    document = notebooks.document("a.ipynb")
    signatures = await _seals(notebooks)
    await document.apply([AppendOutput(cell_id=A, output=HTML), ReplaceSource(cell_id=B, source="other")])
    assert not any(await _trusted(any_manager)) and not await _seals(notebooks)
    back: list[Operation] = [SetOutputs(cell_id=A, outputs=[HTML]), ReplaceSource(cell_id=B, source="b"), *NEW_CELL]
    await document.apply(back, signatures=signatures)
    assert all(await _trusted(any_manager)) and await _seals(notebooks) == signatures


@pytest.mark.parametrize(
    "operations",
    [
        [SetOutputs(cell_id=A, outputs=[{**HTML, "data": {"text/html": "<script>other</script>"}}])],
        [SetOutputs(cell_id=A, outputs=[HTML]), ReplaceSource(cell_id=A, source="other")],
        [SetOutputs(cell_id=A, outputs=[HTML]), InsertCell(cell_id=CellId("n"), cell_type="code", source="", outputs=[HTML])],
        [SetOutputs(cell_id=A, outputs=[HTML]), AppendOutput(cell_id=B, output=HTML)],
    ],
)  # fmt: skip
async def test_a_seal_is_for_one_source_and_its_outputs(
    operations: list[NotebookOperation], folder: Path, manager: FileContentsManager
) -> None:
    await _with_trusted_output(folder, manager)
    notebooks = ContentsNotebooks(manager)
    signatures = await _seals(notebooks)
    await notebooks.document("a.ipynb").apply([*operations, *NEW_CELL], signatures=signatures)
    assert not any(await _trusted(manager))


async def test_outputs_that_are_not_trusted_get_no_seal(folder: Path, any_manager: FileContentsManager) -> None:
    write(folder, "a.ipynb", notebook(code(["a"], [{**HTML}], metadata={"trusted": True})))
    assert not await _seals(ContentsNotebooks(any_manager))


async def test_the_seal_of_somebody_else_says_nothing(folder: Path, manager: FileContentsManager) -> None:
    await _with_trusted_output(folder, manager)
    signatures = await _seals(ContentsNotebooks(manager))
    assert len(signatures) == 2
    manager.notary.secret = b"another person's"
    await ContentsNotebooks(manager).document("a.ipynb").apply(NEW_CELL, signatures=signatures)
    assert not any(await _trusted(manager))


@pytest.mark.parametrize("name", sorted(ODD_NOTEBOOKS))
async def test_seals_hold_after_a_save(name: str, folder: Path, manager: FileContentsManager) -> None:
    write(folder, "a.ipynb", ODD_NOTEBOOKS[name])
    manager.notary.sign(as_read(ODD_NOTEBOOKS[name]))
    notebooks = ContentsNotebooks(manager)
    before = await _seals(notebooks)
    await notebooks.document("a.ipynb").apply(NEW_CELL)
    assert await _seals(notebooks) == before
    with_outputs = [cell for cell in (await notebooks.document("a.ipynb").snapshot()).cells if cell.has_outputs]
    assert len(before) == len(with_outputs)


async def test_outputs_of_no_type_are_read_and_not_trusted(folder: Path, any_manager: FileContentsManager) -> None:
    write(folder, "a.ipynb", notebook(code(["b"], [{"text": "of no type"}])))
    assert not await _seals(ContentsNotebooks(any_manager))


async def test_attachments_are_told_and_kept(folder: Path, any_manager: FileContentsManager) -> None:
    picture: JsonObject = {"a.svg": {"image/svg+xml": "<svg>\n</svg>"}}
    write(folder, "a.ipynb", plain())
    document = ContentsNotebooks(any_manager).document("a.ipynb")
    insert = InsertCell(cell_id=CellId("n"), cell_type="markdown", source="", attachments=picture)
    await document.apply([insert, SetAttachments(cell_id=B, attachments=picture)])
    cells = (await document.snapshot(outputs="full")).cells
    assert [cell.attachments for cell in cells] == [picture, {}, picture]
    assert not (await document.snapshot()).cells[0].attachments
    nbformat.validate(json.loads((folder / "a.ipynb").read_bytes()))


async def test_a_file_cannot_say_of_itself_that_it_is_trusted(folder: Path, any_manager: FileContentsManager) -> None:
    write(folder, "a.ipynb", notebook(code(["a"], [{**HTML}], metadata={"trusted": True}), code(["b"])))
    await ContentsNotebooks(any_manager).document("a.ipynb").apply([ReplaceSource(cell_id=B, source="x")])
    assert not any(await _trusted(any_manager))


# ---- what cannot be read or saved


def _format_3() -> JsonObject:
    cell: JsonObject = {"cell_type": "code", "input": ["1"], "language": "python", "metadata": {}, "outputs": []}
    return {
        "metadata": {"name": ""},
        "nbformat": 3,
        "nbformat_minor": 0,
        "worksheets": [{"cells": [cell], "metadata": {}}],
    }


@pytest.mark.in_short(3)
@pytest.mark.parametrize(
    ("content", "error", "said"),
    [
        (json.dumps(_format_3()), Unsupported, "format 3"),
        ('{"nbformat": 5, "nbformat_minor": 0, "cells": [], "metadata": {}}', Unsupported, "format 5"),
        ("", InvalidInput, "JSON is not valid"),
        ('{"cells": [', InvalidInput, "JSON is not valid"),
        ("[" * 100_000, InvalidInput, "JSON is not valid"),
        ("﻿" + json.dumps(plain()), InvalidInput, "JSON is not valid"),
        ("[1, 2]", InvalidInput, "not a notebook"),
        ('{"some": "json"}', InvalidInput, "not a notebook"),
        ('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}', InvalidInput, "cells are missing"),
        ('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "source": 1}]}', InvalidInput, "damaged"),
        ('{"nbformat": 4, "nbformat_minor": 5, "metadata": [], "cells": []}', InvalidInput, "metadata"),
    ],
)  # fmt: skip
async def test_what_is_no_notebook_of_this_format_is_refused_and_left_alone(
    content: str, error: type[HdspAgentError], said: str, folder: Path, manager: FileContentsManager
) -> None:
    (folder / "a.ipynb").write_text(content, encoding="utf-8")
    document = ContentsNotebooks(manager).document("a.ipynb")
    for attempt in (document.snapshot, lambda: document.apply(CHANGE)):
        with pytest.raises(error, match=said):
            await attempt()
    assert (folder / "a.ipynb").read_text(encoding="utf-8") == content
    assert os.listdir(folder) == ["a.ipynb"]


async def test_bytes_that_are_no_text_are_refused_and_left_alone(folder: Path, manager: FileContentsManager) -> None:
    (folder / "a.ipynb").write_bytes(b"\xff\xfe{}")
    with pytest.raises(InvalidInput):
        await ContentsNotebooks(manager).document("a.ipynb").apply(CHANGE)
    assert (folder / "a.ipynb").read_bytes() == b"\xff\xfe{}"


async def test_a_file_that_is_not_there_is_never_made(folder: Path, manager: FileContentsManager) -> None:
    document = ContentsNotebooks(manager).document("gone.ipynb")
    for attempt in (document.snapshot, lambda: document.apply([])):
        with pytest.raises(NotFound, match=r"no notebook gone\.ipynb"):
            await attempt()
    (folder / "folder.ipynb").mkdir()
    with pytest.raises(InvalidInput):
        await ContentsNotebooks(manager).document("folder.ipynb").snapshot()
    with pytest.raises(NotFound):
        await ContentsNotebooks(manager).document("../outside.ipynb").snapshot()
    assert os.listdir(folder) == ["folder.ipynb"]


class Vanishing(AsyncFileContentsManager):
    """The file is deleted after it was read."""

    async def get(
        self,
        path: str,
        content: bool = True,
        type: str | None = None,
        format: str | None = None,
        require_hash: bool = False,
    ) -> dict[str, object]:
        if not content:
            (Path(self.root_dir) / path).unlink(missing_ok=True)
        model: dict[str, object] = await super().get(path, content, type, format, require_hash)
        return model


Vanishing.get.__module__ = AsyncFileContentsManager.get.__module__


async def test_a_file_that_vanishes_meanwhile_does_not_come_back(folder: Path) -> None:
    write(folder, "a.ipynb", plain())
    with pytest.raises(NotFound):
        await ContentsNotebooks(Vanishing(root_dir=str(folder))).document("a.ipynb").apply(CHANGE)
    assert os.listdir(folder) == []


async def test_a_huge_file_is_refused_by_its_size(folder: Path, manager: FileContentsManager) -> None:
    before = write(folder, "a.ipynb", plain())
    with pytest.raises(Unsupported, match="of up to 100"):
        await ContentsNotebooks(manager, most_bytes=100).document("a.ipynb").apply(CHANGE)
    assert (folder / "a.ipynb").read_bytes() == before


async def test_a_read_only_file_is_refused_and_left_alone(
    folder: Path, any_manager: FileContentsManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = write(folder, "a.ipynb", plain())
    # Whoever runs the tests may be root, for whom nothing is read-only.
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and allowed(path, mode))
    with pytest.raises(NotAllowed, match="read-only"):
        await ContentsNotebooks(any_manager).document("a.ipynb").apply(CHANGE)
    assert (folder / "a.ipynb").read_bytes() == before and os.listdir(folder) == ["a.ipynb"]


async def test_a_change_that_would_make_it_invalid_is_not_saved(folder: Path, manager: FileContentsManager) -> None:
    before = write(folder, "a.ipynb", plain())
    document = ContentsNotebooks(manager).document("a.ipynb")
    for bad in (
        SetOutputs(cell_id=A, outputs=[{"output_type": "stream"}]),
        SetCellMetadata(cell_id=A, key="collapsed", value="perhaps"),
    ):
        with pytest.raises(InvalidInput, match="would no longer be a valid notebook"):
            await document.apply([bad])
        assert (folder / "a.ipynb").read_bytes() == before


async def test_a_notebook_that_was_never_quite_valid_can_still_be_changed(
    folder: Path, manager: FileContentsManager
) -> None:
    write(folder, "a.ipynb", notebook(code(["a"]), text_cell(["b"], not_in_the_format=1), code(["c"], metadata={})))
    await ContentsNotebooks(manager).document("a.ipynb").apply(CHANGE)
    assert raw_cells(folder / "a.ipynb")[1]["not_in_the_format"] == 1


async def test_what_a_careless_program_left_out_is_put_in(folder: Path, manager: FileContentsManager) -> None:
    bare: JsonObject = {"cell_type": "code", "id": "a", "source": "x"}
    text: JsonObject = {"cell_type": "markdown", "id": "b"}
    write(folder, "a.ipynb", {"cells": [bare, text], "nbformat": 4, "nbformat_minor": 5})
    await ContentsNotebooks(manager).document("a.ipynb").apply([ReplaceSource(cell_id=CellId("b"), source="y")])
    after = json.loads((folder / "a.ipynb").read_bytes())
    nbformat.validate(after)
    assert [cell["source"] for cell in after["cells"]] == [["x"], ["y"]] and after["metadata"] == {}


async def test_outputs_that_nothing_can_write_leave_the_file_as_it_was(
    folder: Path, any_manager: FileContentsManager
) -> None:
    before = write(folder, "a.ipynb", notebook(code(["a"]), code(["b"], [{"text": "of no type"}])))
    document = ContentsNotebooks(any_manager).document("a.ipynb")
    with pytest.raises(InvalidInput, match="not as the notebook format demands"):
        await document.apply(CHANGE)
    assert (folder / "a.ipynb").read_bytes() == before
    assert (await document.apply([ClearOutputs(cell_id=B)])).saved


class Failing(AsyncFileContentsManager):
    """A disk that takes a part of a notebook and then no more."""

    async def _save_notebook(self, os_path: str, nb: object, capture_validation_error: object = None) -> None:
        with self.atomic_writing(os_path, encoding="utf-8") as file:
            file.write('{"cells": [')
            file.flush()
            raise OSError(28, "No space left on device")


@pytest.mark.parametrize("atomic", [True, False])
async def test_a_save_that_fails_half_way_leaves_the_file_as_it_was(atomic: bool, folder: Path) -> None:
    before = write(folder, "a.ipynb", plain())
    failing = Failing(root_dir=str(folder), use_atomic_writing=atomic)
    with pytest.raises(Unavailable, match="could not be saved"):
        await ContentsNotebooks(failing).document("a.ipynb").apply(CHANGE)
    assert (folder / "a.ipynb").read_bytes() == before


async def test_text_that_no_file_can_hold_leaves_the_file_as_it_was(folder: Path, manager: FileContentsManager) -> None:
    text = json.dumps(notebook(code(["a"]), text_cell(["half a pair: \ud800"])))
    (folder / "a.ipynb").write_text(text)
    document = ContentsNotebooks(manager).document("a.ipynb")
    with pytest.raises(InvalidInput, match="half of a surrogate pair"):
        await document.apply(CHANGE)
    assert (folder / "a.ipynb").read_text() == text
    assert (await document.apply([DeleteCell(cell_id=B)])).saved


# ---- managers that are not Jupyter's own


class Database:
    """Keeps notebooks in memory, answers without files or hashes, and knows no ``require_hash``."""

    def __init__(self) -> None:
        self.kept: dict[str, JsonObject] = {}

    def get(self, path: str, content: bool = True, type: str | None = None, format: str | None = None) -> object:
        if path not in self.kept:
            raise _HttpError(404)
        assert type == "notebook"
        model: dict[str, object] = {"type": "notebook", "writable": True, "size": None}
        return {**model, "content": json.loads(json.dumps(self.kept[path]))} if content else model

    async def save(self, model: dict[str, object], path: str) -> object:
        self.kept[path] = json.loads(json.dumps(model["content"]))
        return {}

    def file_exists(self, path: str) -> object:
        return path in self.kept

    def dir_exists(self, path: str) -> object:
        return path == ""


class _HttpError(Exception):
    def __init__(self, status_code: int) -> None:
        super().__init__(str(status_code))
        self.status_code = status_code


async def test_a_manager_without_files_or_hashes_serves_too() -> None:
    database = Database()
    notebooks = ContentsNotebooks(database)  # type: ignore[arg-type]  # it knows no hashes
    assert notebooks.root() is None
    await notebooks.create("a.ipynb")
    document = notebooks.document("a.ipynb")
    first = await document.apply([InsertCell(cell_id=A, cell_type="code", source="a")])
    assert first.content_hash and (await document.snapshot()).cells[0].source == "a"
    assert (await document.apply([EditSource(A, "a", "b")])).content_hash != first.content_hash
    with pytest.raises(NotFound):
        await notebooks.document("other.ipynb").snapshot()


# ---- new notebooks


async def test_a_new_notebook_is_valid_and_names_its_kernel(folder: Path, any_manager: FileContentsManager) -> None:
    notebooks = ContentsNotebooks(any_manager)
    assert notebooks.root() == folder
    (folder / "sub").mkdir()
    spec: JsonObject = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    await notebooks.create("sub/새 노트북.ipynb", kernelspec=spec)
    made = json.loads((folder / "sub" / "새 노트북.ipynb").read_bytes())
    nbformat.validate(made)
    assert (made["nbformat"], made["nbformat_minor"], made["cells"]) == (4, 5, [])
    assert made["metadata"]["kernelspec"] == spec
    snapshot = await notebooks.document("sub/새 노트북.ipynb").snapshot()
    assert (snapshot.kernel_name, snapshot.language) == ("python3", "python")


async def test_a_new_notebook_never_takes_the_place_of_something(
    folder: Path, any_manager: FileContentsManager
) -> None:
    notebooks = ContentsNotebooks(any_manager)
    before = write(folder, "a.ipynb", plain())
    (folder / "b.ipynb").mkdir()
    for taken in ("a.ipynb", "b.ipynb"):
        with pytest.raises(Conflict, match="already"):
            await notebooks.create(taken)
    assert (folder / "a.ipynb").read_bytes() == before
    with pytest.raises(NotFound, match="no folder"):
        await notebooks.create("nowhere/a.ipynb")
    with pytest.raises(InvalidInput):
        await notebooks.create("a.txt")
    with pytest.raises(InvalidInput):
        await notebooks.create("c.ipynb", kernelspec={"name": "without a display name"})
    results = await asyncio.gather(*(notebooks.create("d.ipynb") for _ in range(5)), return_exceptions=True)
    assert sum(isinstance(each, Conflict) for each in results) == 4
    assert sorted(name for name in os.listdir(folder) if not name.startswith(".")) == ["a.ipynb", "b.ipynb", "d.ipynb"]
