"""Outputs are trusted after a restore exactly if they were when the checkpoint was made."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from jupyter_server.services.contents.filemanager import FileContentsManager
from nbformat.sign import NotebookNotary

from hdsp_agent.checkpoints.timeline import Parts
from hdsp_agent.checkpoints.timeline._notebook_states import NotebookStates
from hdsp_agent.errors import HdspAgentError
from hdsp_agent.messages import CellId, DeleteCell, InsertCell, JsonObject, NotebookOperation, ReplaceSource, SetOutputs

from ...notebooks._helpers.headless import headless_notebooks
from ...notebooks._helpers.pages import Page, code, text
from ._helpers.timeline_fixtures import CELLS, PATH, TimelineSetup, timeline_setup

ONE, TWO = CellId("one"), CellId("two")
PERSONS = InsertCell(cell_id=CellId("mine"), after=TWO, cell_type="code", source="mine")


@pytest.fixture(autouse=True)
def notary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NotebookNotary]:
    """The person's, which Jupyter finds where its data are."""
    (tmp_path / "jupyter").mkdir()
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    notary = NotebookNotary(data_dir=str(tmp_path / "jupyter"))
    with notary:
        yield notary


def html(content: str) -> JsonObject:
    return {"output_type": "display_data", "data": {"text/html": content}, "metadata": {}}


def shown(cell_id: str, source: str, content: str) -> JsonObject:
    return {**code(cell_id, source), "outputs": [html(content)], "execution_count": 1}


CELLS_THERE = (shown("one", "a = 1", "<b>one</b>"), shown("two", "b = 2", "<script>two</script>"))


def trust(here: TimelineSetup, notary: NotebookNotary) -> None:
    """As the person's click does it."""
    FileContentsManager(root_dir=str(here.root), notary=notary).trust_notebook(PATH)


def trusted(here: TimelineSetup, notary: NotebookNotary) -> bool:
    model = FileContentsManager(root_dir=str(here.root), notary=notary).get(PATH)
    told = {cell.metadata["trusted"] for cell in model["content"].cells if cell.cell_type == "code"}
    assert len(told) == 1
    return bool(told.pop())


async def apply(here: TimelineSetup, *operations: NotebookOperation) -> None:
    await here.notebooks.access.document(PATH).apply(operations)


async def agents(here: TimelineSetup, *operations: NotebookOperation) -> None:
    """The agent's change, and then a cell of the person: the file is never again what was signed before."""
    await apply(here, *operations)
    await here.save("after edit", by="agent")
    await apply(here, PERSONS)


BREAKING: list[Sequence[NotebookOperation]] = [
    [DeleteCell(cell_id=ONE)],
    [SetOutputs(cell_id=ONE, outputs=[html("<script>the agent's</script>")])],
    [ReplaceSource(cell_id=ONE, source="broken"), SetOutputs(cell_id=ONE, outputs=[])],
]


@pytest.mark.parametrize("breaking", BREAKING)
async def test_what_was_trusted_is_trusted_again(
    tmp_path: Path, notary: NotebookNotary, breaking: Sequence[NotebookOperation]
) -> None:
    async with timeline_setup(tmp_path, *CELLS_THERE) as here:
        trust(here, notary)
        target = await here.save()
        await agents(here, *breaking)
        before = trusted(here, notary)
        done = await here.line.restore(target.id, CELLS)
        assert here.sources == ["a = 1", "b = 2", "mine"] and trusted(here, notary)
        await here.line.undo(done.operation.id)
        assert trusted(here, notary) == before


@pytest.mark.parametrize("breaking", BREAKING)
async def test_what_was_not_trusted_does_not_become_so(
    tmp_path: Path, notary: NotebookNotary, breaking: Sequence[NotebookOperation]
) -> None:
    async with timeline_setup(tmp_path, *CELLS_THERE) as here:
        target = await here.save()
        await agents(here, *breaking)
        await here.line.restore(target.id, CELLS)
        assert here.sources == ["a = 1", "b = 2", "mine"] and not trusted(here, notary)


async def test_what_was_not_trusted_then_is_not_although_the_rest_is_now(
    tmp_path: Path, notary: NotebookNotary
) -> None:
    async with timeline_setup(tmp_path, *CELLS_THERE) as here:
        target = await here.save()
        await agents(here, DeleteCell(cell_id=ONE))
        trust(here, notary)
        await here.line.restore(target.id, CELLS)
        assert here.sources[0] == "a = 1" and not trusted(here, notary)


async def test_one_trusted_cell_makes_no_other_trusted(tmp_path: Path, notary: NotebookNotary) -> None:
    async with timeline_setup(tmp_path, *CELLS_THERE) as here:
        trust(here, notary)
        target = await here.save()
        theirs = SetOutputs(cell_id=TWO, outputs=[html("<script>the agent's</script>")])
        await agents(here, DeleteCell(cell_id=ONE), theirs)
        await here.line.restore(target.id, Parts(notebooks=True, path=PATH, cell_id="one"))
        assert here.sources == ["a = 1", "b = 2", "mine"] and not trusted(here, notary)


def in_tab(here: TimelineSetup, *, trusted: bool) -> Page:
    """The notebook in a tab, whose cells say how it shows them."""
    page = here.open()
    for cell in page.cells:
        cell["metadata"]["trusted"] = trusted
    page.saves = True
    return page


def close(here: TimelineSetup, page: Page) -> None:
    here.tabs.pages.remove(page)
    content = json.loads(here.file.read_text("utf-8"))
    for cell in content["cells"]:
        # As the file never says it.
        cell["metadata"].pop("trusted", None)
    here.file.write_text(json.dumps(content), "utf-8")


@pytest.mark.parametrize("was", [True, False])
@pytest.mark.parametrize("breaking", BREAKING)
async def test_what_a_tab_showed_is_trusted_in_the_closed_notebook_as_it_was_there(
    tmp_path: Path, notary: NotebookNotary, was: bool, breaking: Sequence[NotebookOperation]
) -> None:
    async with timeline_setup(tmp_path, *CELLS_THERE) as here:
        if was:
            trust(here, notary)
        page = in_tab(here, trusted=was)
        target = await here.save()
        close(here, page)
        await agents(here, *breaking)
        if not was:
            trust(here, notary)
        await here.line.restore(target.id, CELLS)
        assert here.sources == ["a = 1", "b = 2", "mine"] and trusted(here, notary) == was


@pytest.mark.parametrize("was", [True, False])
@pytest.mark.parametrize("breaking", BREAKING)
async def test_what_a_file_held_is_trusted_in_a_tab_as_it_was_there(
    tmp_path: Path, notary: NotebookNotary, was: bool, breaking: Sequence[NotebookOperation]
) -> None:
    async with timeline_setup(tmp_path, *CELLS_THERE) as here:
        if was:
            trust(here, notary)
        target = await here.save()
        await agents(here, *breaking)
        page = in_tab(here, trusted=not was)
        await here.line.restore(target.id, CELLS)
        assert page.sources == ["a = 1", "b = 2", "mine"]
        back = page.cells[0]
        assert back["outputs"] and bool(back["metadata"].get("trusted")) == was


async def test_a_moment_of_another_person_is_not_trusted(tmp_path: Path, notary: NotebookNotary) -> None:
    async with timeline_setup(tmp_path, *CELLS_THERE) as here:
        trust(here, notary)
        target = await here.save()
        states = NotebookStates(here.files.folder / "notebooks")
        assert all(cell.seal for cell in states.load(target.notebooks[0].state).cells)
        await agents(here, DeleteCell(cell_id=ONE))
    # As when the folder with the checkpoints came from another computer.
    Path(notary.secret_file).write_bytes(b"another secret")
    notary.secret = b"another secret"
    async with headless_notebooks(here.root) as notebooks:
        there = TimelineSetup(here.root, here.store_dir, notebooks, here.tabs, None)
        await there.line.restore(target.id, CELLS)
        assert here.sources == ["a = 1", "b = 2", "mine"] and not trusted(here, notary)
        await there.line.close()


async def test_a_state_edited_by_hand_is_refused(tmp_path: Path, notary: NotebookNotary) -> None:
    async with timeline_setup(tmp_path, *CELLS_THERE) as here:
        trust(here, notary)
        target = await here.save()
        await agents(here, DeleteCell(cell_id=ONE))
        before = here.file.read_bytes()
        file = here.files.folder / "notebooks" / target.notebooks[0].state
        data = zlib.decompress(file.read_bytes())
        assert b"<b>one</b>" in data
        file.write_bytes(zlib.compress(data.replace(b"<b>one</b>", b"<i>two</i>")))
        with pytest.raises(HdspAgentError, match="damaged"):
            await here.line.restore(target.id, CELLS)
        assert here.file.read_bytes() == before


# ---- in a tab


async def test_in_a_tab_each_output_comes_back_trusted_as_it_was(tmp_path: Path, notary: NotebookNotary) -> None:
    async with timeline_setup(tmp_path, *CELLS_THERE) as here:
        page = here.open()
        page.cells[0]["metadata"]["trusted"] = True
        target = await here.save()
        theirs = [
            SetOutputs(cell_id=cell, outputs=[html("<i>the agent's</i>")], execution_count=2) for cell in (ONE, TWO)
        ]
        await apply(here, *theirs)
        for cell in page.cells:
            # As after a run, which the person's own kernel did.
            cell["metadata"]["trusted"] = True
        await here.save("after run_cells", by="agent")
        done = await here.line.restore(target.id, CELLS)
        assert [cell["outputs"] for cell in page.cells] == [cell["outputs"] for cell in CELLS_THERE]
        assert [cell["metadata"]["trusted"] for cell in page.cells] == [True, False]
        await here.line.undo(done.operation.id)
        assert [cell["metadata"]["trusted"] for cell in page.cells] == [True, True]


@pytest.mark.parametrize("was_trusted", [True, False])
async def test_in_a_tab_a_deleted_cell_comes_back_trusted_as_it_was(
    tmp_path: Path, notary: NotebookNotary, was_trusted: bool
) -> None:
    async with timeline_setup(tmp_path, *CELLS_THERE) as here:
        page = here.open()
        page.cells[0]["metadata"]["trusted"] = was_trusted
        target = await here.save()
        await apply(here, DeleteCell(cell_id=ONE))
        await here.save("after edit", by="agent")
        await here.line.restore(target.id, CELLS)
        assert here.sources == ["a = 1", "b = 2"]
        assert page.cells[0]["metadata"]["trusted"] == was_trusted


async def test_what_was_trusted_in_a_tab_is_so_in_the_file_of_a_closed_notebook(
    tmp_path: Path, notary: NotebookNotary
) -> None:
    async with timeline_setup(tmp_path, *CELLS_THERE) as here:
        trust(here, notary)
        page = here.open()
        for cell in page.cells:
            cell["metadata"]["trusted"] = True
        target = await here.save()
        here.tabs.pages.clear()
        await agents(here, DeleteCell(cell_id=ONE))
        await here.line.restore(target.id, CELLS)
        assert here.sources == ["a = 1", "b = 2", "mine"] and trusted(here, notary)


# ---- attachments


PICTURE: JsonObject = {"a.png": {"image/png": "aGk="}}


@pytest.mark.parametrize("open_in_tab", [False, True])
async def test_attachments_come_back_with_their_cells(tmp_path: Path, open_in_tab: bool) -> None:
    pictures = [{**text(name, f"![](attachment:a.png) {name}"), "attachments": PICTURE} for name in ("one", "two")]
    async with timeline_setup(tmp_path, *pictures, text("three", "none")) as here:
        if open_in_tab:
            here.open()
        target = await here.save()
        other: JsonObject = {"b.png": {"image/png": "aG8="}}
        content = json.loads(here.file.read_text("utf-8"))
        del content["cells"][0]
        content["cells"][0]["attachments"] = other
        content["cells"][1]["attachments"] = other
        here.file.write_text(json.dumps(content), "utf-8")
        for page in here.tabs.pages:
            page.reload()
        await here.save("after edit", by="agent")
        done = await here.line.restore(target.id, CELLS)
        assert _attachments(here) == [PICTURE, PICTURE, {}]
        await here.line.undo(done.operation.id)
        assert _attachments(here) == [other, other]


def _attachments(here: TimelineSetup) -> list[JsonObject]:
    return [cell.get("attachments", {}) for cell in json.loads(here.file.read_text("utf-8"))["cells"]]
