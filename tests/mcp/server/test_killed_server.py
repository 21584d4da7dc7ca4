"""A real Jupyter Server that is killed while another agent's cell runs, and the one that comes after it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import httpx2
import psutil
import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult
from pydantic import JsonValue

from hdsp_agent.ipc import IpcClient
from hdsp_agent.messages import CellExecuted, ClineMessage, ResumeTaskCommand, TaskId
from hdsp_agent.persistence import Place

from ..._helpers.stored_tasks import make_store, stored_ids
from ..._helpers.timing import until
from ...agent.external._helpers.program import notebook_file
from ...ipc._helpers.jupyter_process import Jupyter, jupyter_server
from .._helpers.http_programs import MODERN, Programs

PLACES: Final[tuple[Place, ...]] = ("running", "completed")
SETTINGS: Final[Mapping[str, JsonValue]] = {
    "mcpServerEnabled": True,
    "clientApprovals": {"Claude Code": "everything"},
}
SLOW: Final = (
    "import os, pathlib, time\n"
    "pathlib.Path('made.txt').write_text('by the cell')\n"
    "pathlib.Path('begun').write_text(str(os.getpid()))\n"
    "time.sleep(3600)"
)


def programs_of(server: Jupyter) -> Programs:
    url, token = server.address
    return Programs(f"{url}hdsp-agent/mcp", {"Authorization": f"Bearer {token}"})


@asynccontextmanager
async def killed_in_a_run(folder: Path, mode: str) -> AsyncIterator[int]:
    """A program had a cell run, waited for it, and was there when the server was killed. The kernel's process."""
    async with jupyter_server(folder, [], SETTINGS) as server:
        begun = server.workspace / "begun"
        notebook_file(server.workspace / "a.ipynb", SLOW)
        running: asyncio.Future[CallToolResult] | None = None
        # A client that loses its server may be ended by that itself.
        with suppress(MCPError, httpx2.HTTPError, ExceptionGroup):
            async with programs_of(server).connected(mode) as client:
                running = asyncio.ensure_future(client.call_tool("run_cells", {"path": "a.ipynb", "cells": ["c1"]}))
                await until(lambda: begun.exists() and begun.read_text() != "")
                # What is shown of the cell is written down a moment after it began.
                await until(lambda: _has_cell(folder))
                await server.kill()
                await asyncio.wait({running})
        await server.process.wait()
        assert running is not None and isinstance(running.exception(), (MCPError, httpx2.HTTPError))
        yield int(begun.read_text())


def conversations(folder: Path) -> list[TaskId]:
    """All that are kept."""
    home = folder / "home"
    return [TaskId(name) for place in PLACES for name in stored_ids(home, place)]


async def rows_of(folder: Path, task_id: TaskId) -> list[ClineMessage]:
    """What a person sees of it."""
    reader = await make_store(folder / "home").view(task_id)
    return [message async for message in reader.ui.iterate()]


async def _has_cell(folder: Path) -> bool:
    """Whether the row of the cell that runs is kept."""
    [task_id] = conversations(folder)
    return any(row.say == "cell_executed" for row in await rows_of(folder, task_id))


async def structured(client: Client, name: str, **arguments: JsonValue) -> Mapping[str, JsonValue]:
    result = await client.call_tool(name, arguments)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


@pytest.mark.in_short(1)
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_the_next_server_says_what_happened_and_leaves_nothing_running(tmp_path: Path, mode: str) -> None:
    async with killed_in_a_run(tmp_path, mode) as kernel:
        [task_id] = conversations(tmp_path)
        # A kernel does not outlive the server that it belongs to.
        await until(lambda: _has_ended(kernel))
    async with jupyter_server(tmp_path, [], SETTINGS) as server:
        async with programs_of(server).connected(mode) as client:
            first = await structured(client, "list_kernels")
            assert first["running"] == []
            # Who goes on with a conversation is told that a call of its own was cut off.
            assert ("run_cells" in str(first.get("from_person"))) is (mode == MODERN)
            gone = await structured(client, "wait_run", run="run-1")
            assert gone["error"]["code"] == "run_unknown"  # type: ignore[index,call-overload]
            listed = json.dumps(await structured(client, "checkpoint_list"))
            assert "run_cells" in listed
        if mode == "legacy":
            # A session of that version begins anew, and so does its conversation. A person opens the one before.
            assert len(conversations(tmp_path)) == 2
            async with IpcClient.connect(server.endpoint.address) as person:
                await person.send(ResumeTaskCommand(data=task_id))
        else:
            assert conversations(tmp_path) == [task_id]
        await until(lambda: _is_settled(tmp_path, task_id))
        rows = await rows_of(tmp_path, task_id)
        [cell] = [CellExecuted.model_validate_json(row.text or "") for row in rows if row.say == "cell_executed"]
        assert cell.state == "interrupted" and "server stopped" in (cell.reason or "")


def _has_ended(process: int) -> bool:
    try:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def _is_settled(folder: Path, task_id: TaskId) -> bool:
    return not any(row.partial for row in await rows_of(folder, task_id))
