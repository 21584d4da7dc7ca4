"""What may be done without asking in one notebook: it ends with the file, and a page changes one at a time."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hdsp_agent.comm.services import Services
from hdsp_agent.config import GlobalSettings
from tests._helpers import timing
from tests.comm.conftest import Connect

pytestmark = pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning")


async def test_what_holds_for_notebooks_that_are_gone_ends_with_a_look_at_their_files(
    services: Services, jp_root_dir: Path, connect: Connect
) -> None:
    files = [(jp_root_dir / name).as_posix() for name in ("here.ipynb", "gone.ipynb", "folder/gone.ipynb")]
    await asyncio.to_thread(Path(files[0]).touch)
    await services.config.update({"notebookApprovals": {**dict.fromkeys([*files, "/elsewhere/a.ipynb"], "everything")}})
    await services.notebooks.approvals.look()
    holds = {files[0]: "everything", "/elsewhere/a.ipynb": "everything"}
    assert services.config.settings.notebook_approvals == holds
    # And a page that connects has it looked at anew.
    await asyncio.to_thread(Path(files[0]).unlink)
    async with connect():
        await timing.until(lambda: _holds(services, {"/elsewhere/a.ipynb": "everything"}))


async def _holds(services: Services, expected: dict[str, str]) -> bool:
    return services.config.settings.notebook_approvals == expected


async def test_a_stale_page_brings_nothing_back(services: Services, jp_root_dir: Path, connect: Connect) -> None:
    a, b = ((jp_root_dir / name).as_posix() for name in ("a.ipynb", "b.ipynb"))

    def now() -> GlobalSettings:
        return services.config.settings

    for file in (a, b):
        await asyncio.to_thread(Path(file).touch)
    await services.config.update({"notebookApprovals": {a: "everything"}})
    async with connect() as page:
        # Deleted elsewhere, which this page has not heard of.
        await services.config.update({"notebookApprovals": {}})
        stale = await page.ask(
            "updateSettings", updatedSettings={"notebookApprovals": {a: "everything", b: "edit"}, "language": "ko"}
        )
        assert not stale["ok"]
        assert now().notebook_approvals == {} and now().language is None
        one = {"path": "b.ipynb", "approvalPreset": "edit"}
        assert (await page.ask("updateSettings", updatedSettings={"language": "ko"}, notebookApproval=one))["ok"]
        assert now().notebook_approvals == {b: "edit"} and now().language == "ko"
        gone = {"path": "gone.ipynb", "approvalPreset": "everything"}
        for path in ("gone.ipynb", "", "../out.ipynb", "a\0.ipynb", "."):
            told = await page.ask("updateSettings", updatedSettings={}, notebookApproval={**gone, "path": path})
            assert not told["ok"], path
        assert (await page.ask("updateSettings", updatedSettings={}, notebookApproval={"path": "a.ipynb"}))["ok"]
        assert now().notebook_approvals == {b: "edit"}
        assert (await page.ask("updateSettings", updatedSettings={}, notebookApproval={"path": "b.ipynb"}))["ok"]
        assert now().notebook_approvals == {}
