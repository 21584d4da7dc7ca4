"""What programs outside read by an address: by the same tools, and asked about in the same way."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from hdsp_agent.agent.external.resources import notebook_uri
from hdsp_agent.config import GlobalSettings
from hdsp_agent.errors import NotAllowed, NotFound

from ._helpers.program import CLAUDE, program

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")

FREE = GlobalSettings(client_approvals={"Claude Code": "everything"})
PICTURE = (
    "import base64\nfrom IPython.display import Image, display\n"
    "print('a picture')\n"
    "display(Image(base64.b64decode("
    "'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==')))"
)


async def test_a_notebook_and_the_outputs_of_a_cell_are_read_by_address(tmp_path: Path) -> None:
    async with program(tmp_path, PICTURE, settings=FREE) as claude:
        await claude.structured("run_cells", path="a.ipynb", cells=["c1"])
        [notebook] = await claude.sessions.read_resource(CLAUDE, notebook_uri("a.ipynb"))
        assert notebook.text is not None and "display(Image" in notebook.text
        outputs = await claude.sessions.read_resource(CLAUDE, "hdsp-agent://outputs/a.ipynb?cell=c1")
        assert outputs[0].text is not None and "a picture" in outputs[0].text
        assert outputs[1].media_type == "image/png"
        assert base64.b64decode(outputs[1].data or "").startswith(b"\x89PNG")
        assert len(await claude.agent.asks(claude.task_id, "tool")) == 3


async def test_reading_is_asked_about_and_may_be_denied(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1") as claude:
        import asyncio

        reading = asyncio.create_task(claude.sessions.read_resource(CLAUDE, notebook_uri("a.ipynb")))
        await claude.answer(await claude.asked(), "noButtonClicked")
        with pytest.raises(NotAllowed):
            await reading


@pytest.mark.parametrize(
    "uri", ["hdsp-agent://notebook/", "file:///etc/passwd", "hdsp-agent://outputs/a.ipynb", "", "x"]
)
async def test_nothing_stands_at_other_addresses(tmp_path: Path, uri: str) -> None:
    async with program(tmp_path, settings=FREE, notebooks=False) as claude:
        with pytest.raises(NotFound):
            await claude.sessions.read_resource(CLAUDE, uri)


async def test_what_is_not_there_or_hidden_is_not_found(tmp_path: Path) -> None:
    async with program(tmp_path, "x = 1", settings=FREE) as claude:
        (claude.agent.workspace / ".hdspignore").write_text("a.ipynb\n")
        for path in ("a.ipynb", "b.ipynb"):
            with pytest.raises(NotFound):
                await claude.sessions.read_resource(CLAUDE, notebook_uri(path))


async def test_resources_name_templates_and_memory_where_it_is_on(tmp_path: Path) -> None:
    async with program(tmp_path) as claude:
        uris = [resource.uri for resource in await claude.sessions.resources(CLAUDE)]
        assert uris == [
            "hdsp-agent://memory/summary",
            "hdsp-agent://notebook/{+path}",
            "hdsp-agent://outputs/{+path}{?cell}",
        ]
    async with program(tmp_path, settings=GlobalSettings(memory_enabled=False)) as claude:
        assert "hdsp-agent://memory/summary" not in [one.uri for one in await claude.sessions.resources(CLAUDE)]
