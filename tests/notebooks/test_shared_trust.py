"""What people in a room trust is trusted again after a restore, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.checkpoints import AsyncFileCheckpoints
from hdsp_agent.checkpoints.timeline import Parts, Timeline
from hdsp_agent.comm.services import Services
from hdsp_agent.messages import CellId, DeleteCell, NotebookOperation, SetOutputs
from hdsp_agent.notebooks import NotebookAccess

from .._helpers.timing import until
from .test_shared_notebooks import (
    PATH,
    Open,
    collaborates,
    file,
    jp_server_config,
    loads_progressively,
    opened,
    save_delay,
)

__all__ = ["collaborates", "file", "jp_server_config", "loads_progressively", "opened", "save_delay"]

FIRST = CellId("first")
CELLS = Parts(notebooks=True)
HTML = {"output_type": "display_data", "data": {"text/html": "<b>then</b>"}, "metadata": {}}
EVIL = {"output_type": "display_data", "data": {"text/html": "<script>later</script>"}, "metadata": {}}


@pytest.fixture
def line(services: Services, jp_root_dir: Path, tmp_path: Path) -> Timeline:
    files = AsyncFileCheckpoints(jp_root_dir, tmp_path / "checkpoints")
    return Timeline(files, files.folder, notebooks=services.notebooks.notebooks, variables=None, root=jp_root_dir)


def with_html(file: Path) -> None:
    content = json.loads(file.read_text("utf-8"))
    content["cells"][0]["outputs"] = [HTML]
    file.write_text(json.dumps(content), "utf-8")


async def trust(access: NotebookAccess, colleague: Any, value: bool) -> None:
    """As the page says it in the room, when a cell is run there or the person trusts the notebook."""
    colleague.notebook.ycells[0]["metadata"]["trusted"] = value

    async def arrived() -> bool:
        return bool((await access.document(PATH).snapshot()).cell(FIRST).metadata.get("trusted")) == value

    await until(arrived)


def trusted(colleague: Any) -> bool:
    return bool(colleague.cells[0]["metadata"].get("trusted"))


AGENTS: dict[str, list[NotebookOperation]] = {
    "outputs": [SetOutputs(cell_id=FIRST, outputs=[EVIL], execution_count=4)],
    "cell": [DeleteCell(cell_id=FIRST)],
}


@pytest.mark.parametrize("agents", AGENTS.values(), ids=AGENTS)
@pytest.mark.parametrize("was", [True, False], ids=["trusted", "untrusted"])
async def test_outputs_that_come_back_are_trusted_as_they_were(
    services: Services, line: Timeline, file: Path, opened: Open, was: bool, agents: list[NotebookOperation]
) -> None:
    with_html(file)
    access = services.notebooks.notebooks.access
    async with opened() as colleague:
        await colleague.until(lambda: colleague.outputs(0) == [HTML])
        await trust(access, colleague, was)
        target = await line.save("before", notebooks=[PATH])
        await access.document(PATH).apply(agents)
        await line.save("after", notebooks=[PATH], changes_by="agent")
        if not any(isinstance(one, DeleteCell) for one in agents):
            # Somebody runs it, or trusts all: that says nothing of what was there before.
            await colleague.until(lambda: colleague.outputs(0) == [EVIL])
            await trust(access, colleague, True)
        done = await line.restore(target.id, CELLS)
        await colleague.until(lambda: colleague.outputs(0) == [HTML])
        assert trusted(colleague) == was
        assert [cell["id"] for cell in colleague.cells] == ["first", "words", "last"]
        await line.undo(done.operation.id)
        await colleague.until(lambda: len(colleague.cells) == 2 or colleague.outputs(0) == [EVIL])


async def test_a_cell_that_is_trusted_does_not_vouch_for_what_a_page_has_in_its_place(
    services: Services, line: Timeline, file: Path, opened: Open
) -> None:
    with_html(file)
    access = services.notebooks.notebooks.access
    async with opened() as colleague:
        await colleague.until(lambda: colleague.outputs(0) == [HTML])
        target = await line.save("before", notebooks=[PATH])
        await access.document(PATH).apply(AGENTS["outputs"])
        await line.save("after", notebooks=[PATH], changes_by="agent")
        await colleague.until(lambda: colleague.outputs(0) == [EVIL])
        await trust(access, colleague, True)
        cell = colleague.notebook.ycells[0]
        identity: list[str] = []
        colleague.notebook.ycells.observe(lambda event: identity.append("made anew"))
        await line.restore(target.id, CELLS)
        await colleague.until(lambda: colleague.outputs(0) == [HTML])
        # A page only asks for a cell's trust when it makes it.
        assert identity and cell is not None and not trusted(colleague)
