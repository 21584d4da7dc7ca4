"""A notebook open in a tab: how soon an edit is there, and its outline, through the real channel.

The tab is a WebSocket client that does in memory what a page does; what a browser needs to draw is measured elsewhere.
The edits are asked for within the server, loaded as an extension, as a tool of the agent does it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from hdsp_agent.messages import (
    ApplyNotebookOperationsMessage,
    CellId,
    JsonObject,
    ReadNotebookMessage,
)
from hdsp_agent.notebooks import EditSource, NotebookAccess, apply_operations, outline_of, resolve_edits

from .readers import open_tab
from .results import Result, percentile, result
from .server import TOKEN, Server, jupyter_server

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp
    from tornado.websocket import WebSocketClientConnection

PATH: Final = "open.ipynb"
RUNS: Final = 60
WARM: Final = 5
EDIT_GOAL_MS: Final = 100.0
OUTLINE_GOAL_MS: Final = 50.0


def measure(notebook: JsonObject) -> list[Result]:
    """Edits and outlines of this notebook, whose second cell is code."""
    with jupyter_server(lab=False, extensions=("hdsp_agent", "benchmarks.notebook_tab")) as server:
        return asyncio.run(_measure(server, notebook))


async def _measure(server: Server, notebook: JsonObject) -> list[Result]:
    connection = await open_tab(server.url, TOKEN, "bench")
    tab = Tab(connection, notebook)
    await tab.tell()
    worker = asyncio.create_task(tab.work())
    edits: list[float] = []
    outlines: list[float] = []
    try:
        for number in range(RUNS + WARM):
            told = json.loads(await asyncio.to_thread(server.post, "/bench/notebooks/edit", {"number": number}))
            outline = json.loads(await asyncio.to_thread(server.post, "/bench/notebooks/outline", {}))
            if number >= WARM:
                edits.append((tab.applied_at - float(told["started"])) * 1000)
                outlines.append(float(outline["milliseconds"]))
    finally:
        worker.cancel()
        await asyncio.wait([worker])
        connection.close()
    edit, slow, read = percentile(edits, 0.5), percentile(edits, 0.95), percentile(outlines, 0.5)
    count = len(tab.cells)
    return [
        result(
            "notebook.edit.tab",
            f"from the call of the tool to the changed cell in the tab, a notebook of {count:,} cells, p50",
            edit,
            "ms",
            goal=f"<= {EDIT_GOAL_MS:g} ms",
            met=edit <= EDIT_GOAL_MS,
            runs=RUNS,
        ),
        result("notebook.edit.tab.p95", "the same, p95", slow, "ms", goal="for comparison", met=True, runs=RUNS),
        result(
            f"notebook.outline.tab@{count}",
            f"outline of a notebook of {count:,} cells that a tab has open, p50",
            read,
            "ms",
            goal=f"<= {OUTLINE_GOAL_MS:g} ms",
            met=read <= OUTLINE_GOAL_MS,
            runs=RUNS,
        ),
    ]


class Tab:
    """A page that has the notebook open."""

    def __init__(
        self,
        connection: WebSocketClientConnection,
        notebook: JsonObject,
        save: Callable[[JsonObject], Awaitable[None]] | None = None,
    ) -> None:
        self.applied_at = 0.0
        self._save = save
        self._connection = connection
        self._notebook = notebook
        self._requests = 0
        self._revision = 0

    @property
    def cells(self) -> list[JsonObject]:
        """Its cells."""
        cells = self._notebook["cells"]
        assert isinstance(cells, list)
        return [cell for cell in cells if isinstance(cell, dict)]

    async def tell(self) -> None:
        """Say that it is open."""
        await self.request("openNotebooks", notebooks=[{"path": PATH, "revision": 0, "dirty": False, "visible": True}])

    async def work(self) -> None:
        """Do what is asked."""
        while (message := await self._connection.read_message()) is not None:
            frames = json.loads(message)
            for frame in frames if isinstance(frames, list) else [frames]:
                if frame["op"] == "msg":
                    await self._do(frame["data"])

    async def _do(self, data: JsonObject) -> None:
        if data["type"] == "readNotebook":
            await self._read(ReadNotebookMessage.model_validate(data))
        elif data["type"] == "applyNotebookOperations":
            asked = ApplyNotebookOperationsMessage.model_validate(data)
            self._notebook = apply_operations(self._notebook, asked.operations).notebook
            self._revision += 1
            self.applied_at = time.time()
            if asked.save and self._save is not None:
                await self._save(self._notebook)
            await self.request(
                "notebookOperationsResult",
                opId=asked.op_id,
                status="applied",
                revision=self._revision,
                saved=asked.save,
            )

    async def _read(self, asked: ReadNotebookMessage) -> None:
        # As many as fit, as a page does it.
        told: list[JsonObject] = []
        size = 0
        for cell in self.cells[asked.first :]:
            told.append({key: value for key, value in cell.items() if key != "outputs" or asked.outputs == "full"})
            size += len(str(cell["source"])) + 100
            if size > asked.budget:
                break
        await self.request(
            "notebookPage",
            opId=asked.op_id,
            status="read",
            revision=self._revision,
            first=asked.first,
            total=len(self.cells),
            cells=told,
            metadata={},
            nbformat=4,
            nbformatMinor=5,
        )

    async def request(self, type_: str, **fields: object) -> None:
        """Ask something of the server; its answer is not waited for."""
        self._requests += 1
        data = {"type": type_, "requestId": f"bench-{self._requests}", **fields}
        await self._connection.write_message(json.dumps({"op": "msg", "commId": "bench", "data": data}))


# ---- inside the server


async def _edit(access: NotebookAccess, number: int) -> JsonObject:
    started = time.time()
    document = access.document(PATH)
    snapshot = await document.snapshot()
    cell = snapshot.cells[1]
    edit = EditSource(CellId(cell.id), cell.source, f"edited_{number} = {number}")
    await document.apply(resolve_edits(snapshot, [edit]))
    return {"started": started}


async def _outline(access: NotebookAccess) -> JsonObject:
    started = time.perf_counter()
    outline_of(await access.document(PATH).snapshot())
    return {"milliseconds": (time.perf_counter() - started) * 1000}


def _load_jupyter_server_extension(app: ServerApp) -> None:
    """Answer to ``POST /bench/notebooks/…`` as a tool would do it."""
    from jupyter_server.base.handlers import APIHandler
    from tornado.web import authenticated

    class NotebookHandler(APIHandler):
        @authenticated
        async def post(self, how: str) -> None:
            access: NotebookAccess = self.settings["hdsp_agent_services"].notebooks.notebooks.access
            asked = self.get_json_body() or {}
            done = await (_edit(access, int(asked["number"])) if how == "edit" else _outline(access))
            await self.finish(json.dumps(done))

    handlers = [(app.base_url + r"bench/notebooks/(\w+)", NotebookHandler)]
    app.web_app.add_handlers(".*$", handlers)  # type: ignore[no-untyped-call]  # Tornado leaves it untyped
