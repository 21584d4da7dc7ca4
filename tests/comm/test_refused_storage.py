"""Storage that refuses while the server runs: people are told what to do, nothing recorded is lost, and work goes on afterwards."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hdsp_agent.comm.services import Services
from hdsp_agent.persistence.sqlite._sqlite_store import SqliteStore
from tests.checkpoints._helpers.volumes import small_volume
from tests.checkpoints.files.test_full_disk import fill
from tests.comm._helpers.scripted_pages import Turn, question, said, speak
from tests.comm._helpers.stored_tasks import eventually
from tests.comm.channel._helpers.channel_panel import Panel
from tests.comm.conftest import Connect

ROOT = Path(__file__).parents[2]
COMMAND = "touch began; until [ -e go ]; do sleep 0.05; done; echo over"
RUN: Turn = ({"text": "I run it."}, {"tool": "execute_command", "arguments": {"command": COMMAND}, "id": "c"})
DONE: Turn = ({"tool": "attempt_completion", "arguments": {"result": "It is done."}, "id": "d"},)


@asynccontextmanager
async def locked_by_another_program(home: Path) -> AsyncIterator[None]:
    """The database of tasks is locked meanwhile."""
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.persistence._helpers.table_processes", "hold", str(home),
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"held\n"
    try:
        yield
    finally:
        await holder.communicate(b"")


def told(services: Services) -> list[object]:
    """The reasons people are told for which conversations cannot be kept."""
    return [one.params.get("reason") for one in services.notices.standing if one.code == "storage_unavailable"]


async def work_stops_and_goes_on(
    services: Services, panel: Panel, root: Path, refused: Callable[[], AbstractAsyncContextManager[None]], reason: str
) -> None:
    """One conversation works and another asks while the database refuses; nothing that was recorded is lost."""

    async def say_yes(kind: str) -> dict[str, Any]:
        return await panel.ask("askResponse", messageTs=await question(panel, kind), askResponse="yesButtonClicked")

    services.storage._look_seconds = 0.05
    working = (await panel.ask("newTask", text="Work"))["result"]
    assert (await say_yes("command"))["ok"]
    await eventually((root / "began").exists)
    assert (await panel.ask("newTask", text="Ask"))["ok"]
    await question(panel, "command")
    async with refused():
        for ack in (await say_yes("command"), await panel.ask("newTask", text="More")):
            error = ack["error"]
            assert (error["code"], error["params"]["reason"]) == ("storage_unavailable", reason)
        (root / "go").touch()
        await eventually(lambda: told(services))
        await eventually(lambda: working not in services.agent._manager.tasks.open)
    await eventually(lambda: not told(services))
    assert (await say_yes("command"))["ok"]
    await question(panel, "completion_result")
    assert said(panel, "text") == ["Ask", "I run it."]
    assert (await panel.ask("showTaskWithId", taskId=working))["ok"]
    assert (await say_yes("resume_task"))["ok"]
    await question(panel, "completion_result")
    assert said(panel, "text") == ["Work", "I run it."]


class TestADatabase:
    @pytest.fixture
    def storage_dir(self, tmp_path: Path) -> Iterator[Path]:
        with small_volume(tmp_path / "disk", 24) as disk:
            yield disk

    @pytest.mark.parametrize("storage_backend", ["sqlite"], indirect=True)
    async def test_on_a_full_disk_goes_on_when_there_is_space_again(
        self, services: Services, connect: Connect, storage_dir: Path, tmp_path: Path, jp_root_dir: Path
    ) -> None:
        @asynccontextmanager
        async def full() -> AsyncIterator[None]:
            filler = fill(storage_dir)
            yield
            filler.unlink()

        await speak(services, tmp_path, RUN, RUN, DONE, DONE)
        async with connect() as panel:
            await work_stops_and_goes_on(services, panel, jp_root_dir, full, "database or disk is full")


@pytest.mark.parametrize("storage_backend", ["sqlite"], indirect=True)
async def test_a_database_that_another_program_locks_goes_on_when_it_is_done(
    services: Services, connect: Connect, storage_dir: Path, tmp_path: Path, jp_root_dir: Path
) -> None:
    store = await services.storage.store()
    assert isinstance(store, SqliteStore)
    await store.writer.run(lambda connection: connection.execute("PRAGMA busy_timeout = 50"))
    await speak(services, tmp_path, RUN, RUN, DONE, DONE)
    async with connect() as panel:
        await work_stops_and_goes_on(
            services, panel, jp_root_dir, lambda: locked_by_another_program(storage_dir), "locked"
        )
